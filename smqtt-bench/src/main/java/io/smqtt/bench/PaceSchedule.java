// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/**
 * The due time of each message in an open loop: evenly spaced over all publishers, round robin, fixed before the run. A late message keeps
 * its due time as its time stamp, so that a stall of the broker or of this tool counts for every message that it delays.
 *
 * @param startNanos when the first message is due, on the clock of {@link System#nanoTime()}
 * @param perSecond messages per second of all publishers together; positive
 * @param publishers number of publishers
 */
record PaceSchedule(long startNanos, double perSecond, int publishers) {

    /** The due time of the n-th message (from 0) of a publisher. */
    long dueNanos(int publisher, long sequence) {
        return startNanos + (long) ((sequence * publishers + publisher) * (1e9 / perSecond));
    }
}
