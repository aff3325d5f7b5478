// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;

/** The default settings of a node with other intervals or limits. */
final class VariedSettings {

    private VariedSettings() {}

    /** Digests, and the work between them, at another interval: once a minute for days of simulated time. */
    static ClusterSettings digestsEach(Duration interval) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(interval, usual.windowMessages(), usual.clearedTopics(), usual.clearedBytes());
    }

    /** Other limits for removed retained messages. */
    static ClusterSettings remembering(int clearedTopics, long clearedBytes) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(usual.digestInterval(), usual.windowMessages(), clearedTopics, clearedBytes);
    }

    /** So many messages in flight to another node. */
    static ClusterSettings withWindow(int messages) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(usual.digestInterval(), messages, usual.clearedTopics(), usual.clearedBytes());
    }

    private static ClusterSettings of(
            Duration digestInterval, int windowMessages, int clearedTopics, long clearedBytes) {
        ClusterSettings usual = ClusterSettings.defaults();
        return new ClusterSettings(
                usual.flushInterval(),
                digestInterval,
                usual.pullPatience(),
                usual.routeTtl(),
                usual.retransmit(),
                usual.frameBytes(),
                usual.rowsPerFrame(),
                usual.snapshotFrames(),
                usual.keptChanges(),
                windowMessages,
                usual.windowBytes(),
                usual.queueMessages(),
                usual.queueBytes(),
                clearedTopics,
                clearedBytes);
    }
}
