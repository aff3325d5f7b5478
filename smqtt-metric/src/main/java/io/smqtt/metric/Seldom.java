// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Counts what anybody can make happen as often as he likes, and lets it be told once a minute. Any thread. */
final class Seldom {

    private static final long SILENCE_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LongSupplier nanoTime;

    // under the lock of this
    private boolean told;
    private long toldNanos;
    private long untold;

    /**
     * Creates one.
     *
     * @param nanoTime the time in nanoseconds
     */
    Seldom(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** {@return how often it has happened since it was told of last; 0 if it is too early to tell again} */
    synchronized long happened() {
        long now = nanoTime.getAsLong();
        untold++;
        if (told && now - toldNanos < SILENCE_NANOS) {
            return 0;
        }
        told = true;
        toldNanos = now;
        long count = untold;
        untold = 0;
        return count;
    }
}
