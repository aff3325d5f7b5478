// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerBuilder;
import io.smqtt.ModuleProvider;
import io.smqtt.config.BrokerConfig;
import java.util.function.Consumer;

/** Adds traces to brokers that are a program: the block {@code management.tracing}. */
public final class TraceProvider implements ModuleProvider {

    /** Creates the provider, for {@link java.util.ServiceLoader}. */
    public TraceProvider() {}

    @Override
    public String name() {
        return "smqtt-metric";
    }

    @Override
    public Stage stage() {
        return Stage.TRACES;
    }

    /** An application has a tracer of its own, see {@link MessageTracing}. */
    @Override
    public boolean isForProgramsOnly() {
        return true;
    }

    @Override
    public boolean isWanted(BrokerConfig config) {
        return config.management().tracing() != null;
    }

    @Override
    public Consumer<BrokerBuilder> create(BrokerConfig config) {
        TraceModule traces = TraceModule.create(config);
        return builder -> builder.interceptor(traces.interceptor())
                .observer(traces.observer())
                .module(traces);
    }

    @Override
    public void check(BrokerConfig config) {
        TraceModule.create(config).stop().block();
    }
}
