// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerComposition;
import io.smqtt.ReloadResult;
import io.smqtt.admin.AdminModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.metric.TraceModule;
import io.smqtt.migrate.legacy.LegacyConfig;
import io.smqtt.migrate.legacy.LegacyPaths;
import java.net.InetSocketAddress;
import java.time.Duration;
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
        return start(config, legacy, beforehand, builder -> {});
    };

    /**
     * Starts the broker of the core with what a caller adds.
     *
     * @param config what to run with
     * @param legacy what programs written for the former smqtt expect
     * @param beforehand called when the store is open, before any file of the configuration is read
     * @param more adds to the broker, when the store is open
     * @return the running broker
     */
    static CoreBroker start(
            BrokerConfig config, LegacyConfig legacy, Runnable beforehand, Consumer<BrokerBuilder> more) {
        OpenedConnections opened = new OpenedConnections();
        BrokerComposition parts =
                composition(config).prepare(beforehand).add(more).add(builder -> builder.observer(opened));
        if (legacy.eventTopics()) {
            parts.eventTopics();
        }
        parts.finish(builder -> {
            AdminModule admin = parts.module(AdminModule.class);
            if (admin != null && legacy.managementPaths()) {
                admin.endpoint(LegacyPaths.PREFIX, new LegacyPaths(admin.view()));
            }
        });
        Broker broker = parts.start();
        return new CoreBroker(broker, parts.module(AdminModule.class), opened);
    }

    /** {@return what a broker of this process is put together from} */
    static BrokerComposition composition(BrokerConfig config) {
        return BrokerComposition.ofProgram(config, Extensions.loader());
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

        /**
         * Shows the configuration at the management port.
         *
         * @param config what the broker runs with
         */
        default void show(EffectiveConfig config) {}

        /** {@return transport connections that were accepted since the start} */
        long connectionsOpened();

        /** {@return what was read again because of a signal, and what failed and stays as it was} */
        ReloadResult reload();

        /**
         * Stops gracefully and waits for the end.
         *
         * @param deadline how long that may take before connections are cut
         */
        void close(Duration deadline);
    }

    /** The broker of the core, seen from a thread that may wait. */
    record CoreBroker(Broker broker, @Nullable AdminModule admin, OpenedConnections opened) implements Running {

        @Override
        public long connectionsOpened() {
            return opened.count();
        }

        @Override
        public Map<String, InetSocketAddress> listeners() {
            Map<String, InetSocketAddress> bound = new LinkedHashMap<>(broker.listeners());
            InetSocketAddress management = admin == null ? null : admin.address();
            if (management != null) {
                bound.putIfAbsent("management", management);
            }
            return bound;
        }

        @Override
        public void show(EffectiveConfig config) {
            if (admin != null) {
                admin.configuration(config.values(), config::origin);
            }
        }

        @Override
        public ReloadResult reload() {
            try {
                ReloadResult result = broker.reload();
                audit(result.failed());
                return result;
            } catch (RuntimeException e) {
                audit(List.of("nothing was reloaded: " + e.getMessage()));
                throw e;
            }
        }

        private void audit(List<String> failed) {
            if (admin != null) {
                admin.reloadedBySignal(failed);
            }
        }

        @Override
        public void close(Duration deadline) {
            broker.close(deadline).block();
        }
    }
}
