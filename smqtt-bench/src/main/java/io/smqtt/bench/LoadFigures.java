// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import org.HdrHistogram.Histogram;

/** The counts of one event loop. Owned by that loop; other threads get copies. Times are nanoseconds. */
final class LoadFigures {

    private static final long LOWEST_NANOS = 1_000;
    private static final long HIGHEST_NANOS = 60_000_000_000L;

    long connected;
    long connectionsLost;
    long published;
    long acknowledged;
    long delivered;

    /** Received by clients that are measured, packets that are not complete yet included. */
    long receivedBytes;

    long foreign;
    long badAcknowledgements;
    long refusedAcknowledgements;
    long windowStalls;

    /** Published and delivered since the measurement began. */
    long measuredPublished;

    long measuredDelivered;

    /** The time of the last received message, by {@link System#nanoTime()}. */
    long lastDeliveredNanos = Long.MIN_VALUE;

    final Histogram latency = histogram();
    final Histogram interval = histogram();
    final Histogram connect = histogram();

    /** The send delay of this tool itself. */
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

    /** Adds the counts of another loop; called on that loop. {@code resetInterval} starts a new interval there. */
    void add(LoadFigures other, boolean resetInterval) {
        connected += other.connected;
        connectionsLost += other.connectionsLost;
        published += other.published;
        acknowledged += other.acknowledged;
        delivered += other.delivered;
        receivedBytes += other.receivedBytes;
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
