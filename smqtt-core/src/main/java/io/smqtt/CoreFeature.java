// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A part of the core that the configuration asks for. It starts after all modules, before any client can connect, and stops before them. */
interface CoreFeature {

    /**
     * Starts. Does not block.
     *
     * @param parts the broker
     * @param cluster the state of the cluster; null without one
     */
    @AnyThread
    void start(BrokerParts parts, @Nullable Supplier<ClusterStatus> cluster);

    /** Stops. Does not block; without effect if it was not started. */
    @AnyThread
    void stop();
}
