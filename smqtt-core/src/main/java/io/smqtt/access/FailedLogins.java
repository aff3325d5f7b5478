// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.time.Duration;

/**
 * Back-off for client networks that send wrong passwords: how long their refusals are held back. Nobody is locked out, so
 * that clients behind one address do not suffer from each other: an accepted login is never delayed, and does not end the
 * delay of others. A network without a wrong password for a minute is forgotten.
 *
 * <p>At most 100,000 networks are remembered.
 */
@AnyThread
final class FailedLogins {

    private static final int MAXIMUM_NETWORKS = 100_000;
    private static final Duration MEMORY = Duration.ofMinutes(1);
    private static final long FIRST_DELAY_MILLIS = 100;
    private static final int MAXIMUM_DOUBLINGS = 20;

    private final int free;
    private final long maximumMillis;
    private final Cache<Object, Integer> failures;

    /** With {@code free} of 0 nothing is ever delayed. */
    FailedLogins(int free, Duration maximum, Ticker ticker) {
        this.free = free;
        this.maximumMillis = maximum.toMillis();
        this.failures = Caffeine.newBuilder()
                .maximumSize(MAXIMUM_NETWORKS)
                .expireAfterWrite(MEMORY)
                .ticker(ticker::nanoTime)
                .executor(Runnable::run)
                .build();
    }

    /** Counts a wrong password. Returns the milliseconds by which its refusal is delayed. */
    long failed(Object network) {
        return free == 0 ? 0 : delayAfter(failures.asMap().merge(network, 1, Integer::sum));
    }

    /** The milliseconds by which a refusal for a full queue is delayed: always a few, lest it be tried again at once. */
    long busyMillis(Object network) {
        if (free == 0) {
            return 0;
        }
        Integer count = failures.getIfPresent(network);
        return count == null ? FIRST_DELAY_MILLIS : Math.max(FIRST_DELAY_MILLIS, delayAfter(count));
    }

    private long delayAfter(int count) {
        return count <= free
                ? 0
                : Math.min(maximumMillis, FIRST_DELAY_MILLIS << Math.min(count - free - 1, MAXIMUM_DOUBLINGS));
    }
}
