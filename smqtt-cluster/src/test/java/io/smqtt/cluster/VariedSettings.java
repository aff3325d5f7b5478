// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;

/** The default settings of a node with other intervals or limits. */
final class VariedSettings {

    private VariedSettings() {}

    /** Digests, and the work between them, at another interval: once a minute for days of simulated time. */
    static ClusterSettings digestsEach(Duration interval) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(interval, usual.windowMessages(), usual.queueMessages(), usual.clearedTopics(), usual.clearedBytes());
    }

    /** Other limits for removed retained messages. */
    static ClusterSettings remembering(int clearedTopics, long clearedBytes) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(usual.digestInterval(), usual.windowMessages(), usual.queueMessages(), clearedTopics, clearedBytes);
    }

    /** So many messages in flight to another node. */
    static ClusterSettings withWindow(int messages) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(usual.digestInterval(), messages, usual.queueMessages(), usual.clearedTopics(), usual.clearedBytes());
    }

    /** Room for so many messages that wait for another node. */
    static ClusterSettings withQueue(int messages) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(
                usual.digestInterval(), usual.windowMessages(), messages, usual.clearedTopics(), usual.clearedBytes());
    }

    private static ClusterSettings of(
            Duration digestInterval, int windowMessages, int queueMessages, int clearedTopics, long clearedBytes) {
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
                queueMessages,
                usual.queueBytes(),
                clearedTopics,
                clearedBytes);
    }
}
