// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Opens the connections to other brokers: {@code bridges}. */
public final class BridgeProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public BridgeProvider() {}

    @Override
    public String name() {
        return "smqtt-bridge";
    }

    @Override
    public Stage stage() {
        return Stage.HOST;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return !config.bridges().isEmpty();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        return builder -> builder.module(BridgeModule.of(config));
    }

    @Override
    public void check(BrokerConfig config) {
        BridgeModule.of(config);
    }
}
