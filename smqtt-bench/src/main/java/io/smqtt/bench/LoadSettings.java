// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;

/**
 * What the messages of a run are like and how they are paced.
 *
 * @param qos 0, 1 or 2, of publishers
 * @param payloadBytes the size of a payload
 * @param retain whether messages are retained
 * @param perSecond messages per second of all publishers together; 0 for a closed loop
 * @param window closed loop: messages of one publisher not yet received by their subscribers; 0 for no such window
 * @param inFlight messages of one publisher not yet acknowledged, QoS 1 and 2; at least 1
 * @param limit messages of all publishers together at most; 0 for no limit
 * @param warmUp before the measurement
 * @param duration of the measurement
 * @param drain how long to wait for the last deliveries at most
 */
record LoadSettings(
        int qos,
        int payloadBytes,
        boolean retain,
        double perSecond,
        int window,
        int inFlight,
        long limit,
        Duration warmUp,
        Duration duration,
        Duration drain) {

    private static final long STALL_NANOS = 2_000_000_000L;

    /** A window that did not move for so long is given up; what is missing then counts as lost in the end. */
    long stallNanos() {
        return STALL_NANOS;
    }

    /** How many of the first {@link #limit()} messages are of this publisher, who take turns. */
    long limitOf(int publisher, int publishers) {
        return limit == 0 ? Integer.MAX_VALUE : Math.max(0, (limit - publisher + publishers - 1) / publishers);
    }
}
