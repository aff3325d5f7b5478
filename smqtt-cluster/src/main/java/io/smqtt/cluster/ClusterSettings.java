// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;

/**
 * Intervals and limits of a node. Not configurable so far, except in tests.
 *
 * @param flushInterval how long changes of routes are collected before they are sent
 * @param digestInterval how often peers are told what the own routes come to
 * @param pullPatience how long an answer is waited for before missing routes are asked for again
 * @param routeTtl how long the routes of a node that cannot be reached are kept
 * @param retransmit how long a forwarded message waits for any progress before it is sent again
 * @param frameBytes about how long a frame may become, except for a single message that is longer
 * @param rowsPerFrame routes in one frame
 * @param snapshotFrames frames of a snapshot that are sent before their receiver asks for more
 * @param keptChanges changes of routes that are kept for peers that have missed some
 * @param windowMessages messages that a peer may have on its way without having taken them over
 * @param windowBytes bytes that these may have, except for a single message that has more
 * @param queueMessages messages that may wait for a peer, those on their way included
 * @param queueBytes bytes that these may hold
 * @param clearedTopics topics whose retained message is gone that are remembered, so that it does not come back
 * @param clearedBytes about the bytes that these may take
 */
record ClusterSettings(
        Duration flushInterval,
        Duration digestInterval,
        Duration pullPatience,
        Duration routeTtl,
        Duration retransmit,
        int frameBytes,
        int rowsPerFrame,
        int snapshotFrames,
        int keptChanges,
        int windowMessages,
        long windowBytes,
        int queueMessages,
        long queueBytes,
        int clearedTopics,
        long clearedBytes) {

    private static final int CLEARED_TOPICS = 100_000;
    private static final long CLEARED_BYTES = 32L * 1024 * 1024;

    static ClusterSettings defaults() {
        return new ClusterSettings(
                Duration.ofMillis(5),
                Duration.ofSeconds(1),
                Duration.ofSeconds(2),
                Duration.ofMinutes(15),
                Duration.ofSeconds(1),
                48 * 1024,
                1_000,
                32,
                OwnRoutes.KEPT_CHANGES,
                16_384,
                4L * 1024 * 1024,
                65_536,
                32L * 1024 * 1024,
                CLEARED_TOPICS,
                CLEARED_BYTES);
    }
}
