// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ParkConfig;
import io.smqtt.config.StorageConfig;
import java.time.Duration;

/**
 * Limits of what is kept for unreachable nodes.
 *
 * @param forgetAfter time after which an unreachable node is forgotten, with its routes and messages
 * @param maxBytes maximum bytes of messages for one node
 * @param refuses whether a message past the limit is refused; if not, the oldest messages of the node are dropped
 */
record ParkLimits(Duration forgetAfter, long maxBytes, boolean refuses) {

    /** The maximum without a store. */
    private static final long MEMORY_BYTES = 16L << 20;

    /** Longer than any process runs, and short enough for arithmetic with nanoseconds. */
    private static final Duration NEVER = Duration.ofDays(36_500);

    /**
     * The configured limits.
     *
     * @param config the cluster's part of the configuration
     * @param storage the storage's part
     * @param stored whether messages are kept in a store
     */
    static ParkLimits of(ClusterConfig config, StorageConfig storage, boolean stored) {
        ParkConfig park = config.park();
        long most = storage.maxBytes() > 0 ? storage.maxBytes() / 4 : Long.MAX_VALUE;
        return new ParkLimits(
                config.forgetAfter().isZero() ? NEVER : config.forgetAfter(),
                Math.min(park.maxBytes(), stored ? most : MEMORY_BYTES),
                park.overflow() == ParkConfig.Overflow.REFUSE);
    }
}
