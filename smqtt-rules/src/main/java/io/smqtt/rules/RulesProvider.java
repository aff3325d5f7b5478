// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.ApplicationParts;
import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import io.smqtt.rules.sink.SinkFactory;
import java.util.function.Consumer;

/** Adds rules to a broker: those of {@code rules}, and with a management port those that operators make. */
public final class RulesProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public RulesProvider() {}

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
        return !config.rules().isEmpty() || config.management().enabled();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        return create(config, ApplicationParts.NONE);
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config, ApplicationParts parts) {
        return new Addition(RulesModule.of(config, parts.of(SinkFactory.class)));
    }

    @Override
    public void check(BrokerConfig config) {
        check(config, ApplicationParts.NONE);
    }

    @Override
    public void check(BrokerConfig config, ApplicationParts parts) {
        RulesModule.of(config, parts.of(SinkFactory.class)).close();
    }

    /** Adds the module, or closes its sinks. */
    private record Addition(RulesModule module) implements Consumer<BrokerBuilder>, AutoCloseable {

        @Override
        public void accept(BrokerBuilder builder) {
            builder.module(module);
        }

        @Override
        public void close() {
            module.close();
        }
    }
}
