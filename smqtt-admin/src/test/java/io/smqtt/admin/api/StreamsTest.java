// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Role;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class StreamsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Streams streams = new Streams(Duration.ofMillis(1));

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
}
