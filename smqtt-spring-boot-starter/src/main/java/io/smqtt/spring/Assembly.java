// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.EventTopics;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import io.smqtt.spi.BrokerStore;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Puts together what one run of the broker is made of. Modules that the class path does not have are done without. */
final class Assembly {

    private static final boolean PERSISTENCE = isPresent("io.smqtt.persistence.RocksBrokerStore");
    private static final boolean CLUSTER = isPresent("io.smqtt.cluster.ClusterModule");

    private static final boolean METRIC = isPresent("io.smqtt.metric.ApplicationMeters");

    private final BrokerConfig config;
    private final boolean eventTopics;
    private final BrokerBeans beans;

    /**
     * Creates an assembly.
     *
     * @param eventTopics whether the topics of the former smqtt are written
     */
    Assembly(BrokerConfig config, boolean eventTopics, BrokerBeans beans) {
        this.config = config;
        this.eventTopics = eventTopics;
        this.beans = beans;
    }

    private static boolean isPresent(String className) {
        return ClassUtils.isPresent(className, Assembly.class.getClassLoader());
    }

    /** A broker that runs, and what is to be asked of it beside it. */
    record Run(
            Broker broker,
            Inspector inspector,
            StoreWatch store,
            boolean stored,
            @Nullable ClusterPart cluster) {}

    /**
     * Starts a broker and waits until its listeners are bound.
     *
     * @param gate asked first of each client
     */
    Run start(Gate gate) {
        BrokerStore own = beans.store();
        requireModules(own != null);
        BrokerStore store = own != null || config.storage().kind() != StorageConfig.Kind.ROCKSDB
                ? own
                : StorePart.open(config.storage());
        try {
            StoreWatch watch = new StoreWatch();
            ClusterPart cluster = config.cluster().enabled() && CLUSTER ? ClusterPart.of(config.cluster()) : null;
            Inspector inspector = new Inspector();
            BrokerBuilder builder = Broker.builder()
                    .config(config)
                    .store(store)
                    .observer(watch)
                    .module(inspector)
                    .authenticator(gate);
            if (config.management().enabled() && METRIC) { // first, so that it tells of the others while they start
                MetricPart.addTo(builder, config, beans.factory(), cluster);
            }
            beans.addTo(builder, gate);
            if (METRIC) {
                MetricPart.endTraces(builder, beans.factory());
            }
            if (cluster != null) {
                builder.module(cluster.module());
            }
            if (eventTopics) {
                EventTopics events = new EventTopics();
                builder.observer(events).module(events);
            }
            beans.customize(builder);
            Broker broker = builder.start().block();
            if (broker == null) {
                throw new IllegalStateException("the broker did not start");
            }
            return new Run(broker, inspector, watch, store != null, cluster);
        } catch (RuntimeException e) {
            if (store != null) {
                store.close();
            }
            throw e;
        }
    }

    /** What asks for a module must not run without it. */
    private void requireModules(boolean ownStore) {
        Map<String, String> missing = new TreeMap<>(config.requiredModules());
        if (ownStore || PERSISTENCE) {
            missing.remove("storage.kind");
        }
        if (CLUSTER) {
            missing.remove("cluster.enabled");
        }
        if (!missing.isEmpty()) {
            throw new ConfigurationException(missing.entrySet().stream()
                    .map(entry -> entry.getKey() + " needs the module " + entry.getValue())
                    .toList());
        }
    }
}
