// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.guard;

import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * The time that one client has for one request, so that some is left for what follows. A request that is not made early enough was not refused by the
 * backend: too many others wait. One that is made has the rest of the time, and never more: the steps behind it have theirs.
 *
 * @param timers runs the timers, and is the clock
 * @param madeByNanos until when the request must be made, by that clock; before the end, so that some time is left for the answer
 * @param untilNanos the end of the time, by that clock
 */
@AnyThread
public record TimeLimit(Scheduler timers, long madeByNanos, long untilNanos) {

    /**
     * Limits a request of a client. The time ends so that each step behind has a part of what is left, and the request must be made such a part
     * before, or in the first half of its time if that has less than two parts.
     *
     * @param timers runs the timers, and is the clock
     * @param endNanos the end of the time for all steps, by that clock
     * @param partNanos the part of each step behind, in nanoseconds; less if the time does not suffice for so much
     * @param following the number of steps behind
     * @return the limit, from now on
     */
    public static TimeLimit of(Scheduler timers, long endNanos, long partNanos, long following) {
        long now = timers.now(TimeUnit.NANOSECONDS);
        long left = Math.max(0, endNanos - now);
        long part = Math.min(partNanos, left / (following + 1));
        long mine = left - part * following;
        return new TimeLimit(timers, now + mine - Math.min(part, mine / 2), now + mine);
    }

    private Duration until(long nanos) {
        return Duration.ofNanos(Math.max(0, nanos - timers.now(TimeUnit.NANOSECONDS)));
    }

    /**
     * Limits an answer for which nothing waits in a line.
     *
     * @param answer the answer
     * @param <T> its type
     * @return the answer; {@link TimeoutException} if it is late
     */
    public <T> Mono<T> of(Mono<T> answer) {
        return answer.timeout(until(untilNanos), timers);
    }

    /** Limits an answer to a request that is perhaps not made yet: {@link BackendBusyException} if it is not made in time. */
    <T> Mono<T> of(Mono<T> answer, Mono<Void> made, String name) {
        Mono<T> late = made.thenReturn(true)
                .timeout(until(madeByNanos), Mono.just(false), timers)
                .flatMap(isMade -> isMade
                        ? Mono.delay(until(untilNanos), timers).then(Mono.error(TimeoutException::new))
                        : Mono.error(
                                new BackendBusyException(name + ": too many requests wait before this one", false)));
        return Mono.firstWithSignal(answer, late);
    }
}
