// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source;

import io.smqtt.ApplicationParts;
import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import io.smqtt.rules.sink.SourceFactory;
import java.util.function.Consumer;

/** Adds sources to a broker: those of {@code sources}, and with a management port those that operators make. */
public final class SourcesProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public SourcesProvider() {}

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
        return !config.sources().isEmpty() || config.management().enabled();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        return create(config, ApplicationParts.NONE);
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config, ApplicationParts parts) {
        return new Addition(SourcesModule.of(config, parts.of(SourceFactory.class)));
    }

    @Override
    public void check(BrokerConfig config) {
        check(config, ApplicationParts.NONE);
    }

    @Override
    public void check(BrokerConfig config, ApplicationParts parts) {
        SourcesModule.of(config, parts.of(SourceFactory.class)).close();
    }

    /** Adds the module, or closes its sources. */
    private record Addition(SourcesModule module) implements Consumer<BrokerBuilder>, AutoCloseable {

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
