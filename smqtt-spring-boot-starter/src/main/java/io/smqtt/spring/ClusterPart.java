// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.BrokerModule;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.spi.ClusterStatus;
import java.util.function.Supplier;

/**
 * The part of the auto-configuration that needs smqtt-cluster.
 *
 * @param module for one run of the broker
 * @param status how the cluster looks; any thread
 */
record ClusterPart(BrokerModule module, Supplier<ClusterStatus> status) {

    static ClusterPart of(ClusterConfig config) {
        ClusterModule module = ClusterModule.of(config);
        return new ClusterPart(module, module::status);
    }
}
