// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * The version of a retained message in a cluster, by a hybrid clock that follows the wall clock and always increases. Of two versions the
 * later one wins, on every node.
 *
 * @param clock milliseconds since 1970 in the upper 48 bits, in the lower 16 a counter and random bits of the run of the node
 * @param nodeId the node on which it was retained: decides between equal clocks
 */
public record RetainedVersion(long clock, String nodeId) implements Comparable<RetainedVersion> {

    private static final int COUNTER_BITS = 16;

    /**
     * The first clock of a millisecond.
     *
     * @param wallClockMillis milliseconds since 1970
     * @return a clock
     */
    public static long clockOf(long wallClockMillis) {
        return wallClockMillis << COUNTER_BITS;
    }

    /**
     * The time of the clock.
     *
     * @return milliseconds since 1970
     */
    public long millis() {
        return millisOf(clock);
    }

    /**
     * The time of a clock.
     *
     * @param clock a clock
     * @return milliseconds since 1970
     */
    public static long millisOf(long clock) {
        return clock >>> COUNTER_BITS;
    }

    /**
     * Whether this version wins.
     *
     * @param other another version
     * @return true if this one is later
     */
    public boolean isAfter(RetainedVersion other) {
        return compareTo(other) > 0;
    }

    @Override
    public int compareTo(RetainedVersion other) {
        int byClock = Long.compare(clock, other.clock);
        return byClock != 0 ? byClock : nodeId.compareTo(other.nodeId);
    }
}
