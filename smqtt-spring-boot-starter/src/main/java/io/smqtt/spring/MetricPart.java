// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.BrokerBuilder;
import io.smqtt.config.BrokerConfig;
import io.smqtt.metric.ApplicationMeters;
import io.smqtt.metric.MessageTracing;
import org.springframework.beans.factory.BeanFactory;

/** The part of the auto-configuration that needs smqtt-metric. */
final class MetricPart {

    private MetricPart() {}

    /** The meters go to the application's registry; without one there are the status topics alone. */
    static void addTo(BrokerBuilder builder, BrokerConfig config, BeanFactory beans) {
        MeterRegistry registry = beans.getBeanProvider(MeterRegistry.class).getIfAvailable(SimpleMeterRegistry::new);
        ApplicationMeters meters = ApplicationMeters.of(config, registry);
        builder.observer(meters.observer()).module(meters);
    }

    /** Beans that make the broker a part of the application's traces are interceptors; they need to know what becomes of messages. */
    static void endTraces(BrokerBuilder builder, BeanFactory beans) {
        beans.getBeanProvider(MessageTracing.class)
                .orderedStream()
                .forEach(tracing -> builder.observer(tracing.observer()));
    }
}
