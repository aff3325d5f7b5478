// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.api;

import io.smqtt.admin.account.Caller;
import io.smqtt.admin.account.Callers;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The streams that callers hold. A stream ends within {@link #CHECK} of the end of the login, key or role of its caller; one caller has a few
 * at a time. Those of users of the application end after {@link #LONGEST_OF_APPLICATION}, because not every login there tells its end: the next one is authenticated anew.
 */
@AnyThread
final class Streams {

    /** Maximum number of streams of one caller. */
    static final int MAX_OF_CALLER = 4;

    /** Maximum number of streams with the management token, which several people may share. */
    static final int MAX_OF_TOKEN = 16;

    /** Maximum duration of a stream of a user of the application. */
    static final Duration LONGEST_OF_APPLICATION = Duration.ofMinutes(10);

    /** The time between two authentications of a caller. One with each part would cost more than an event of figures itself. */
    static final Duration CHECK = Duration.ofSeconds(5);

    private final Duration longestOfApplication;
    private final Duration check;
    private final Map<Owner, Integer> open = new HashMap<>(); // guarded by this

    /**
     * Creates it without streams.
     *
     * @param longestOfApplication maximum duration of a stream of a user of the application
     * @param check the time between two authentications of a caller
     */
    Streams(Duration longestOfApplication, Duration check) {
        this.longestOfApplication = longestOfApplication;
        this.check = check;
    }

    /** The holder of streams, in any role. */
    private record Owner(Caller.Kind kind, String name) {

        int most() {
            return kind == Caller.Kind.TOKEN ? MAX_OF_TOKEN : MAX_OF_CALLER;
        }
    }

    /**
     * Guards a stream.
     *
     * @param stream the answer
     * @param caller the caller
     * @param again authenticates the caller again
     * @return the stream with an end, or a problem if the caller has too many
     */
    ApiAnswer guarded(ApiAnswer.Stream stream, Caller caller, Supplier<Mono<Callers.Identification>> again) {
        Owner owner = new Owner(caller.kind(), caller.name());
        if (count(owner) >= owner.most()) {
            return tooMany(owner.most());
        }
        Mono<Long> limit = caller.kind() == Caller.Kind.APPLICATION ? Mono.delay(longestOfApplication) : Mono.never();
        return stream.of(Flux.defer(() -> enter(owner)
                ? whileKnown(stream.parts(), caller, again)
                        .takeUntilOther(limit)
                        .doFinally(end -> leave(owner))
                : Flux.empty()));
    }

    private Flux<byte[]> whileKnown(Flux<byte[]> parts, Caller caller, Supplier<Mono<Callers.Identification>> again) {
        Flux<Boolean> ended = Flux.interval(check)
                .onBackpressureDrop()
                .concatMap(tick -> again.get())
                .map(found ->
                        !(found instanceof Callers.Known known && known.caller().equals(caller)))
                .filter(Boolean::booleanValue);
        return parts.takeUntilOther(ended);
    }

    private static ApiAnswer tooMany(int most) {
        return new Problem(429, "TOO_MANY_STREAMS", "a caller has at most " + most + " streams at a time")
                .answer()
                .with("Retry-After", "5");
    }

    private synchronized int count(Owner owner) {
        return open.getOrDefault(owner, 0);
    }

    private synchronized boolean enter(Owner owner) {
        int have = count(owner);
        if (have < owner.most()) {
            open.put(owner, have + 1);
        }
        return have < owner.most();
    }

    private synchronized void leave(Owner owner) {
        open.computeIfPresent(owner, (same, have) -> have == 1 ? null : have - 1);
    }
}
