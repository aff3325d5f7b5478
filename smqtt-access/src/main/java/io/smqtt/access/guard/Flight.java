// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import io.smqtt.thread.AnyThread;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One request and all who wait for its answer. */
@AnyThread
final class Flight {

    private final ByteBuffer key;
    private final Supplier<Mono<Object>> question;
    private final long createdNanos;
    private final Sinks.One<Object> sink = Sinks.one();
    private final Sinks.Empty<Void> made = Sinks.empty();
    private final AtomicInteger interested = new AtomicInteger();

    /**
     * Creates a request that is not made yet.
     *
     * @param key the key of equal requests
     * @param question makes the request
     * @param createdNanos the time, of the broker's clock
     */
    Flight(ByteBuffer key, Supplier<Mono<Object>> question, long createdNanos) {
        this.key = key;
        this.question = question;
        this.createdNanos = createdNanos;
    }

    ByteBuffer key() {
        return key;
    }

    Supplier<Mono<Object>> question() {
        return question;
    }

    long createdNanos() {
        return createdNanos;
    }

    /** For one who waits. */
    Mono<?> answer() {
        interested.incrementAndGet();
        return sink.asMono().doOnCancel(interested::decrementAndGet);
    }

    /** Whether all who waited have gone. */
    boolean isAbandoned() {
        return interested.get() <= 0;
    }

    /** The request is made now. */
    void make() {
        made.tryEmitEmpty();
    }

    /** Completes when the request is made. */
    Mono<Void> made() {
        return made.asMono();
    }

    void succeed(Object answer) {
        sink.tryEmitValue(answer);
    }

    void fail(Throwable error) {
        sink.tryEmitError(error);
    }
}
