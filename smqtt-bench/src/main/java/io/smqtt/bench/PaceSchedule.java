// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/**
 * When each message is due in an open loop: evenly spaced over all publishers, round robin, fixed before the run. A
 * message that goes out late keeps its due time as its time stamp, so that a stall of the broker or of this tool counts
 * against every message it delayed.
 *
 * @param startNanos when the first message is due, on the clock of {@link System#nanoTime()}
 * @param perSecond messages per second of all publishers together; positive
 * @param publishers how many take turns
 */
record PaceSchedule(long startNanos, double perSecond, int publishers) {

    /** When the n-th message (from 0) of a publisher is due. */
    long dueNanos(int publisher, long sequence) {
        return startNanos + (long) ((sequence * publishers + publisher) * (1e9 / perSecond));
    }
}
