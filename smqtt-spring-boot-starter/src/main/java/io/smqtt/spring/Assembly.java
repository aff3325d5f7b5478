// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.Broker;
import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerComposition;
import io.smqtt.admin.BrokerView;
import io.smqtt.admin.EmbeddedManagement;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.StorageConfig;
import io.smqtt.spi.BrokerStore;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Starts runs of the broker: the modules that the configuration asks for, and the beans of the application. */
final class Assembly {

    private static final boolean METRIC =
            ClassUtils.isPresent("io.smqtt.metric.ApplicationMeters", Assembly.class.getClassLoader());

    private final BrokerConfig config;
    private final boolean eventTopics;
    private final EmbeddedManagement.@Nullable Settings settings;
    private final BrokerBeans beans;

    /**
     * Creates an assembly.
     *
     * @param eventTopics whether the topics of the former smqtt are written
     * @param settings what the API within the application is made with; null for none
     */
    Assembly(
            BrokerConfig config,
            boolean eventTopics,
            EmbeddedManagement.@Nullable Settings settings,
            BrokerBeans beans) {
        this.settings = settings;
        this.config = config;
        this.eventTopics = eventTopics;
        this.beans = beans;
    }

    /**
     * A broker that runs, and what is to be asked of it beside it.
     *
     * @param management the API within the application; null for none
     * @param stored whether it has a store
     */
    record Run(
            Broker broker,
            BrokerView view,
            @Nullable EmbeddedManagement management,
            StoreWatch store,
            boolean stored) {}

    /**
     * Starts a broker and waits until its listeners are bound.
     *
     * @param gate asked first of each client
     */
    Run start(Gate gate) {
        BrokerStore own = beans.store();
        StoreWatch watch = new StoreWatch();
        BrokerView view = new BrokerView();
        EmbeddedManagement management = settings == null ? null : EmbeddedManagement.create(config, view, settings);
        BrokerComposition parts = BrokerComposition.ofApplication(config, beans.classLoader())
                .store(own)
                .parts(beans::all)
                .add(builder -> builder.observer(watch).module(view).authenticator(gate))
                .add(builder -> addTo(builder, gate))
                .add(builder -> {
                    if (management != null) {
                        builder.module(management);
                        management.observers().forEach(builder::observer);
                    }
                })
                .finish(beans::customize);
        if (eventTopics) {
            parts.eventTopics();
        }
        try {
            boolean stored = own != null || config.storage().kind() == StorageConfig.Kind.ROCKSDB;
            return new Run(parts.start(), view, management, watch, stored);
        } catch (UncheckedIOException e) {
            throw new ConfigurationException("storage.dir: " + e.getMessage(), e);
        }
    }

    private void addTo(BrokerBuilder builder, Gate gate) {
        if (METRIC && config.management().enabled()) { // first, so that it reports on the others while they start
            MetricPart.addTo(builder, config, beans.factory());
        }
        beans.addTo(builder, gate);
        if (METRIC) {
            MetricPart.endTraces(builder, beans.factory());
        }
    }
}
