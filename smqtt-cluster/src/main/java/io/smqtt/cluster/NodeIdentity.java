// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.random.RandomGenerator;

/**
 * One run of one node.
 *
 * @param nodeId the name, kept over restarts
 * @param epoch increases with each run; frames of an earlier run are void
 */
record NodeIdentity(String nodeId, long epoch) {

    private static final int CHANCE_BITS = 16;

    /**
     * Creates an epoch: the wall clock, so that it increases, and random bits, so that two runs never have the same one even if the clock
     * went back. If other nodes know a later epoch of a node, they notify it, and it increases its own.
     */
    static long epoch(long wallClockMillis, RandomGenerator random) {
        return wallClockMillis << CHANCE_BITS | random.nextInt(1 << CHANCE_BITS);
    }

    @Override
    public String toString() {
        return nodeId + '@' + epoch;
    }
}
