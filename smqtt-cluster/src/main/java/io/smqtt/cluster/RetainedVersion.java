// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * The version of a retained message, by a hybrid clock that follows the wall clock and always increases. Of two versions the later one
 * wins, on every node.
 *
 * @param clock milliseconds since 1970 in the upper 48 bits, a counter in the lower 16
 * @param nodeId the node on which it was retained: decides between equal clocks
 */
record RetainedVersion(long clock, String nodeId) implements Comparable<RetainedVersion> {

    private static final int COUNTER_BITS = 16;

    static long clockOf(long wallClockMillis) {
        return wallClockMillis << COUNTER_BITS;
    }

    long millis() {
        return clock >>> COUNTER_BITS;
    }

    boolean isAfter(RetainedVersion other) {
        return compareTo(other) > 0;
    }

    @Override
    public int compareTo(RetainedVersion other) {
        int byClock = Long.compare(clock, other.clock);
        return byClock != 0 ? byClock : nodeId.compareTo(other.nodeId);
    }
}
