// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.time.Duration;

/** Settings for days of simulated time: digests, and what is done between them, once a minute instead of once a second. */
final class RareDigests {

    private RareDigests() {}

    static ClusterSettings settings() {
        ClusterSettings usual = ClusterSettings.defaults();
        return new ClusterSettings(
                usual.flushInterval(),
                Duration.ofMinutes(1),
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
                usual.clearedTopics(),
                usual.clearedBytes());
    }
}
