// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.random.RandomGenerator;

/**
 * One run of one node.
 *
 * @param nodeId the name, kept over restarts
 * @param epoch grows with each run; what an older run said is void
 */
record NodeIdentity(String nodeId, long epoch) {

    private static final int CHANCE_BITS = 16;

    /**
     * Makes an epoch: the wall clock, so that it grows, and some chance, so that two runs never have the same one even if
     * the clock has gone back. Nodes that a later run is known of are told so and raise theirs.
     */
    static long epoch(long wallClockMillis, RandomGenerator random) {
        return wallClockMillis << CHANCE_BITS | random.nextInt(1 << CHANCE_BITS);
    }

    @Override
    public String toString() {
        return nodeId + '@' + epoch;
    }
}
