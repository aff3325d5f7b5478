// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Makes brokers nodes of a cluster: {@code cluster.enabled}. */
public final class ClusterProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public ClusterProvider() {}

    @Override
    public String name() {
        return "smqtt-cluster";
    }

    @Override
    public Stage stage() {
        return Stage.CLUSTER;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return config.cluster().enabled();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        ClusterModule cluster = ClusterModule.of(config.cluster());
        return builder -> builder.module(cluster);
    }
}
