// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * The time between two attempts: random, from the shortest one to three times the one before, at most the longest one. So many actions that fail
 * together do not try again together.
 */
final class Backoff {

    private static final int FACTOR = 3;

    private final long shortest;
    private final long longest;
    private final RandomGenerator random;
    private long last;

    /**
     * Creates the times of one series of attempts.
     *
     * @param shortest the shortest time, at least a millisecond
     * @param longest the longest time
     * @param random source of numbers
     */
    Backoff(Duration shortest, Duration longest, RandomGenerator random) {
        this.shortest = shortest.toMillis();
        this.longest = longest.toMillis();
        this.random = random;
        this.last = this.shortest;
    }

    /** The time until the next attempt. */
    Duration next() {
        long upTo = Math.max(shortest, Math.min(longest, last * FACTOR));
        last = Math.min(longest, random.nextLong(shortest, upTo + 1));
        return Duration.ofMillis(last);
    }

    /** Begins a new series. */
    void reset() {
        last = shortest;
    }
}
