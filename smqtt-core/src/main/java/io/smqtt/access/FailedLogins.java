// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.time.Duration;

/**
 * Back-off for client networks that send wrong passwords: computes the delay of their refusals. Accepted logins are never delayed, so that
 * clients behind one address do not lock each other out; they do not end the delay of others either. A network is forgotten after a
 * minute without a wrong password.
 *
 * <p>At most 100,000 networks are tracked.
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

    /** Creates a back-off that allows {@code free} wrong passwords; with 0 nothing is ever delayed. */
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

    /** Counts a wrong password. Returns the delay of its refusal in milliseconds. */
    long failed(Object network) {
        return free == 0 ? 0 : delayAfter(failures.asMap().merge(network, 1, Integer::sum));
    }

    /** The delay of a refusal for a full queue in milliseconds: always above 0, so that it is not retried at once. */
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
