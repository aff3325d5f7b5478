// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Role;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class StreamsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Callers.Refusal UNKNOWN = new Callers.Refusal(401, "BAD_TOKEN", "unknown", null);

    private final Streams streams = new Streams(Duration.ofMillis(1), Duration.ofMillis(1));

    /** A stream without an end of its own. */
    private Flux<byte[]> endless(Caller.Kind kind) {
        Caller caller = new Caller("anna", Role.VIEWER, kind);
        ApiAnswer answer = streams.guarded(
                ApiAnswer.stream("text/plain", Flux.never()), caller, () -> Mono.just(new Callers.Known(caller)));
        return ((ApiAnswer.Stream) answer).parts();
    }

    @Test
    void onlyStreamsOfUsersOfTheApplicationHaveALongestDuration() {
        Disposable own = endless(Caller.Kind.USER).subscribe();

        endless(Caller.Kind.APPLICATION).then().block(PATIENCE);

        assertThat(own.isDisposed()).isFalse();
        own.dispose();
    }

    @Test
    void aStreamEndsWithTheRoleThatItBeganWith() {
        Caller caller = new Caller("anna", Role.VIEWER, Caller.Kind.USER);
        AtomicReference<Callers.Identification> found = new AtomicReference<>(new Callers.Known(caller));
        Sinks.Many<byte[]> parts = Sinks.many().unicast().onBackpressureBuffer();
        AtomicInteger checks = new AtomicInteger();
        ApiAnswer answer = streams.guarded(
                ApiAnswer.stream("text/plain", parts.asFlux()),
                caller,
                () -> Mono.fromCallable(() -> {
                    checks.incrementAndGet();
                    return found.get();
                }));
        List<Integer> sent = new CopyOnWriteArrayList<>();
        Disposable reader =
                ((ApiAnswer.Stream) answer).parts().map(part -> part.length).subscribe(sent::add);

        parts.tryEmitNext(new byte[1]);
        Awaitility.await().until(() -> checks.get() > 1);
        parts.tryEmitNext(new byte[2]);
        found.set(new Callers.Known(new Caller("anna", Role.OPERATOR, Caller.Kind.USER)));
        Awaitility.await().until(reader::isDisposed);
        parts.tryEmitNext(new byte[3]);

        assertThat(sent).containsExactly(1, 2);
    }

    @Test
    void aSilentStreamEndsWithTheLogin() {
        Caller caller = new Caller("anna", Role.VIEWER, Caller.Kind.USER);
        ApiAnswer answer = streams.guarded(ApiAnswer.stream("text/plain", Flux.never()), caller, Mono::empty);
        ApiAnswer ended =
                streams.guarded(ApiAnswer.stream("text/plain", Flux.never()), caller, () -> Mono.just(UNKNOWN));
        Disposable unanswered = ((ApiAnswer.Stream) answer).parts().subscribe();

        ((ApiAnswer.Stream) ended).parts().then().block(PATIENCE);

        assertThat(unanswered.isDisposed()).isFalse();
        unanswered.dispose();
    }
}
