// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import org.HdrHistogram.Histogram;

/** What one event loop counted. Owned by that loop; others get copies. Times are nanoseconds. */
final class LoadFigures {

    private static final long LOWEST_NANOS = 1_000;
    private static final long HIGHEST_NANOS = 60_000_000_000L;

    long connected;
    long connectionsLost;
    long published;
    long acknowledged;
    long delivered;
    long deliveredBytes;
    long foreign;
    long badAcknowledgements;
    long refusedAcknowledgements;
    long windowStalls;

    /** Published and delivered since the measurement began. */
    long measuredPublished;

    long measuredDelivered;

    /** When the last message came in, by {@link System#nanoTime()}. */
    long lastDeliveredNanos = Long.MIN_VALUE;

    final Histogram latency = histogram();
    final Histogram interval = histogram();
    final Histogram connect = histogram();

    /** How late this tool itself was to send. */
    final Histogram lag = histogram();

    static Histogram histogram() {
        Histogram histogram = new Histogram(LOWEST_NANOS, HIGHEST_NANOS, 3);
        histogram.setAutoResize(true);
        return histogram;
    }

    void recordLatency(long nanos, boolean measured) {
        long value = Math.max(nanos, 0);
        interval.recordValue(value);
        if (measured) {
            latency.recordValue(value);
        }
    }

    /** Adds what another loop counted; called on that loop, which {@code resetInterval} makes begin a new interval. */
    void add(LoadFigures other, boolean resetInterval) {
        connected += other.connected;
        connectionsLost += other.connectionsLost;
        published += other.published;
        acknowledged += other.acknowledged;
        delivered += other.delivered;
        deliveredBytes += other.deliveredBytes;
        foreign += other.foreign;
        badAcknowledgements += other.badAcknowledgements;
        refusedAcknowledgements += other.refusedAcknowledgements;
        windowStalls += other.windowStalls;
        measuredPublished += other.measuredPublished;
        measuredDelivered += other.measuredDelivered;
        lastDeliveredNanos = Math.max(lastDeliveredNanos, other.lastDeliveredNanos);
        interval.add(other.interval);
        if (resetInterval) {
            other.interval.reset();
        } else {
            latency.add(other.latency);
            connect.add(other.connect);
            lag.add(other.lag);
        }
    }
}
