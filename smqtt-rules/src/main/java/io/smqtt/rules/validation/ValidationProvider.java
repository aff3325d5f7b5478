// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.validation;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Adds the checks of payloads to a broker: {@code validations}, and those of operators. */
public final class ValidationProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public ValidationProvider() {}

    @Override
    public String name() {
        return "smqtt-rules";
    }

    @Override
    public Stage stage() {
        return Stage.HOST;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return !config.validations().isEmpty() || config.management().enabled();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        ValidationModule module = ValidationModule.of(config);
        return builder -> builder.module(module).interceptor(module);
    }

    @Override
    public void check(BrokerConfig config) {
        ValidationModule.of(config);
    }
}
