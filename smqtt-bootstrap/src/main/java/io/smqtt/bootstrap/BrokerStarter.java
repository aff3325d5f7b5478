// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.ReloadResult;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.spi.BrokerStore;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;

/** Starts what the program runs. */
@FunctionalInterface
interface BrokerStarter {

    /** Starts the broker of the core. */
    BrokerStarter CORE = config -> {
        BrokerStore store = DataDirectory.of(config.storage()).openIfConfigured();
        Broker broker;
        try {
            BrokerBuilder builder = Broker.builder().config(config).store(store);
            if (config.cluster().enabled()) {
                builder.module(ClusterModule.of(config.cluster()));
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
        return new CoreBroker(broker);
    };

    /**
     * Starts a broker and waits until its listeners are bound.
     *
     * @param config what to run with
     * @return the running broker
     */
    Running start(BrokerConfig config);

    /** A broker that runs. */
    interface Running {

        /** {@return the bound address of each listener, in the order of the configuration} */
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
    record CoreBroker(Broker broker) implements Running {

        @Override
        public Map<String, InetSocketAddress> listeners() {
            return broker.listeners();
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
