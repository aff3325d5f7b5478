// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The time that one client has for one request, so that some is left for what follows. A request that is not made in that time was not refused by the
 * backend: too many others wait. One that is made has what is left of the time, at least the minimum.
 *
 * @param timers runs the timers, and is the clock
 * @param untilNanos the end of the time, by that clock
 * @param least the minimum, however much of the time is over: before the request, and again once it is made
 */
@AnyThread
public record TimeLimit(Scheduler timers, long untilNanos, Duration least) {

    private Duration rest() {
        long rest = untilNanos - timers.now(TimeUnit.NANOSECONDS);
        return rest < least.toNanos() ? least : Duration.ofNanos(rest);
    }

    /**
     * Limits an answer for which nothing waits in a line.
     *
     * @param answer the answer
     * @param <T> its type
     * @return the answer; {@link TimeoutException} if it is late
     */
    public <T> Mono<T> of(Mono<T> answer) {
        return answer.timeout(rest(), timers);
    }

    /** Limits an answer to a request that is perhaps not made yet: {@link BackendBusyException} if it is not made in time. */
    <T> Mono<T> of(Mono<T> answer, Mono<Void> made, String name) {
        Mono<T> late = made.thenReturn(true)
                .timeout(rest(), Mono.just(false), timers)
                .flatMap(isMade -> isMade
                        ? Mono.delay(rest(), timers).then(Mono.error(TimeoutException::new))
                        : Mono.error(
                                new BackendBusyException(name + ": too many requests wait before this one", false)));
        return Mono.firstWithSignal(answer, late);
    }
}
