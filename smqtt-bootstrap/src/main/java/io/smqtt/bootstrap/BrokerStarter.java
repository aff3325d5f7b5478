// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.EventTopics;
import io.smqtt.ReloadResult;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.metric.MetricModule;
import io.smqtt.metric.TraceModule;
import io.smqtt.spi.BrokerStore;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Starts what the program runs. */
@FunctionalInterface
interface BrokerStarter {

    /** Starts the broker of the core, in a process of its own. */
    BrokerStarter CORE = (config, legacy, beforehand) -> {
        if (config.management().tracing() != null) {
            TraceModule.takeOverLog();
        }
        return start(config, legacy, builder -> beforehand.run());
    };

    /**
     * Starts the broker of the core with what a caller adds.
     *
     * @param config what to run with
     * @param legacy what programs written for the former smqtt expect
     * @param more adds to the broker; called when the store is open, before any file of the configuration is read
     * @return the running broker
     */
    static CoreBroker start(BrokerConfig config, LegacyConfig legacy, Consumer<BrokerBuilder> more) {
        MetricModule metrics = config.management().enabled() ? MetricModule.create(config) : null;
        TraceModule traces = config.management().tracing() != null ? TraceModule.create(config) : null;
        BrokerStore store = DataDirectory.of(config.storage()).openIfConfigured();
        ControlPaths control = new ControlPaths();
        LegacyPaths paths = null;
        Broker broker;
        try {
            BrokerBuilder builder = Broker.builder().config(config).store(store);
            if (metrics != null) { // first, so that it tells of the others while they start
                builder.observer(metrics.observer()).module(metrics.endpoint(ControlPaths.PREFIX, control));
            }
            more.accept(builder);
            ClusterModule cluster = null;
            if (config.cluster().enabled()) {
                cluster = ClusterModule.of(config.cluster());
                builder.module(cluster);
                if (metrics != null) {
                    metrics.cluster(cluster::status);
                }
            }
            if (metrics != null && legacy.managementPaths()) {
                paths = new LegacyPaths(config.limits(), metrics::scrape, cluster == null ? null : cluster::status);
                metrics.endpoint(LegacyPaths.PREFIX, paths);
            }
            if (legacy.eventTopics()) {
                EventTopics events = new EventTopics();
                builder.observer(events).module(events);
            }
            if (traces != null) { // last, as its interceptor has to be
                builder.interceptor(traces.interceptor())
                        .observer(traces.observer())
                        .module(traces);
            }
            broker = builder.start().block();
        } catch (RuntimeException e) {
            if (store != null) {
                store.close();
            }
            throw e;
        }
        if (broker == null) {
            throw new IllegalStateException("the broker did not start");
        }
        control.serve(broker);
        if (paths != null) {
            paths.serve(broker);
        }
        return new CoreBroker(broker, metrics);
    }

    /**
     * Looks into all files that a start would read, and for what it would refuse; nothing is bound. Blocks.
     *
     * @param config what to run with
     * @throws ConfigurationException with all problems that were found
     */
    static void check(BrokerConfig config) {
        List<String> problems = new ArrayList<>();
        collect(problems, () -> Broker.builder().config(config).check());
        if (config.management().enabled()) {
            collect(problems, () -> MetricModule.create(config));
        }
        if (config.management().tracing() != null) {
            collect(problems, () -> TraceModule.create(config).stop().block());
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems.stream().distinct().toList());
        }
    }

    private static void collect(List<String> problems, Runnable step) {
        try {
            step.run();
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
        }
    }

    /**
     * Starts a broker and waits until its listeners are bound.
     *
     * @param config what to run with
     * @param legacy what programs written for the former smqtt expect
     * @param beforehand called when the data directory is this broker's own, before any file of the configuration is read
     * @return the running broker
     */
    Running start(BrokerConfig config, LegacyConfig legacy, Runnable beforehand);

    /** A broker that runs. */
    interface Running {

        /** {@return the bound address of each listener, in the order of the configuration, and of the management port} */
        Map<String, InetSocketAddress> listeners();

        /** {@return what was read again, and what failed and stays as it was} */
        ReloadResult reload();

        /**
         * Stops gracefully and waits for the end.
         *
         * @param deadline how long that may take before connections are cut
         */
        void close(Duration deadline);
    }

    /** The broker of the core, seen from a thread that may wait. */
    record CoreBroker(Broker broker, @Nullable MetricModule metrics) implements Running {

        @Override
        public Map<String, InetSocketAddress> listeners() {
            Map<String, InetSocketAddress> bound = new LinkedHashMap<>(broker.listeners());
            InetSocketAddress management = metrics == null ? null : metrics.address();
            if (management != null) {
                bound.putIfAbsent("management", management);
            }
            return bound;
        }

        @Override
        public ReloadResult reload() {
            return broker.reload();
        }

        @Override
        public void close(Duration deadline) {
            broker.close(deadline).block();
        }
    }
}
