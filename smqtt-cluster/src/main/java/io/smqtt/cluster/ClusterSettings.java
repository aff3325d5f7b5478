// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;

/**
 * Intervals and limits of a node. Not configurable so far, except in tests.
 *
 * @param flushInterval time for which route changes are collected before they are sent
 * @param digestInterval interval of the digests of the own routes
 * @param pullPatience timeout before missing routes are requested again
 * @param routeTtl time for which the routes of an unreachable node are kept
 * @param retransmit time without progress before forwarded messages are sent again
 * @param frameBytes approximate maximum size of a frame, except for a single larger message
 * @param rowsPerFrame routes in one frame
 * @param snapshotFrames frames of a snapshot that are sent without a further request
 * @param keptChanges route changes that are kept for peers that have missed some
 * @param windowMessages maximum number of unacknowledged messages to a peer
 * @param windowBytes maximum bytes of these, except for a single larger message
 * @param queueMessages maximum number of messages queued for a peer, those in flight included
 * @param queueBytes maximum bytes of these
 * @param clearedTopics maximum number of removed retained messages that are remembered, so that they do not reappear
 * @param clearedBytes approximate maximum bytes of these
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
