// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Adds meters, health checks and status topics to brokers that are a program: {@code management.enabled}. */
public final class MetricProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public MetricProvider() {}

    @Override
    public String name() {
        return "smqtt-metric";
    }

    @Override
    public Stage stage() {
        return Stage.METRICS;
    }

    /** An application has an actuator and a registry of its own, see {@link ApplicationMeters}. */
    @Override
    public boolean isForProgramsOnly() {
        return true;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return config.management().enabled();
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        MetricModule metrics = MetricModule.create(config);
        return builder -> builder.observer(metrics.observer()).module(metrics);
    }

    @Override
    public void check(BrokerConfig config) {
        MetricModule.create(config);
    }
}
