// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;

/** The default settings of a node with other intervals or limits. */
final class VariedSettings {

    private VariedSettings() {}

    /** Digests, and the work between them, at another interval: once a minute for days of simulated time. */
    static ClusterSettings digestsEach(Duration interval) {
        ClusterSettings usual = ClusterSettings.defaults();
        return of(interval, usual.clearedTopics(), usual.clearedBytes());
    }

    /** Other limits for removed retained messages. */
    static ClusterSettings remembering(int clearedTopics, long clearedBytes) {
        return of(ClusterSettings.defaults().digestInterval(), clearedTopics, clearedBytes);
    }

    private static ClusterSettings of(Duration digestInterval, int clearedTopics, long clearedBytes) {
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
                usual.windowMessages(),
                usual.windowBytes(),
                usual.queueMessages(),
                usual.queueBytes(),
                clearedTopics,
                clearedBytes);
    }
}
