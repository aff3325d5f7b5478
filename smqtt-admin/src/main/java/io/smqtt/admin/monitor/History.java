// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;

/**
 * The history of all {@link Series}: samples of 10 s for one hour, of one minute for one day, of ten minutes for seven days. It takes
 * 180 KB, whatever the broker does, and is lost with the process.
 */
@AnyThread
final class History {

    /** The interval of the finest samples. */
    static final int SAMPLE_SECONDS = 10;

    private static final int HOUR = 3_600;
    private static final int DAY = 24 * HOUR;

    /** From the finest to the coarsest one. */
    private final List<Ring> rings =
            List.of(ring(SAMPLE_SECONDS, HOUR), ring(60, DAY), ring(600, 7 * DAY)); // guarded by this

    private static Ring ring(int seconds, int covered) {
        return new Ring(seconds, seconds / SAMPLE_SECONDS, covered / seconds);
    }

    /**
     * Adds a sample of {@link #SAMPLE_SECONDS}.
     *
     * @param timeMillis its end
     * @param sample the values by series
     */
    synchronized void add(long timeMillis, float[] sample) {
        rings.forEach(ring -> ring.add(timeMillis, sample));
    }

    /**
     * Reads the finest samples that cover a time.
     *
     * @param nowMillis the present
     * @param seconds the time
     * @return the samples, the oldest one first, by their names in JSON
     */
    synchronized List<Map<String, Object>> latest(long nowMillis, long seconds) {
        Ring ring = rings.stream()
                .filter(one -> one.coveredSeconds() >= seconds)
                .findFirst()
                .orElse(rings.get(rings.size() - 1));
        return ring.since(nowMillis - 1_000 * seconds);
    }
}
