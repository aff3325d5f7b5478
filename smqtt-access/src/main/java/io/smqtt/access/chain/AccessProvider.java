// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Adds the backends of {@code access.chain} to a broker. */
public final class AccessProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public AccessProvider() {}

    @Override
    public String name() {
        return "smqtt-access";
    }

    @Override
    public Stage stage() {
        return Stage.HOST;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return !config.access().chain().isEmpty();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        return builder -> AccessModule.open(config).addTo(builder);
    }

    @Override
    public void check(BrokerConfig config) {
        AccessModule.open(config).close();
    }
}
