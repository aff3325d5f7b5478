// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.ToDoubleFunction;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** Counts what the listener methods do in the registry of the application, tagged with bean and method. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "io.micrometer.core.instrument.MeterRegistry")
final class ListenerMeters {

    /** Registers the meters at each start. */
    record Registration(ObjectProvider<MeterRegistry> registries, ListenerMethods listeners) {

        @EventListener
        void register(BrokerStartedEvent event) {
            registries.ifAvailable(registry -> listeners.all().forEach(method -> {
                counter(registry, method, "handled", ListenerMethod::handledCount);
                counter(registry, method, "failed", ListenerMethod::failedCount);
            }));
        }

        private static void counter(
                MeterRegistry registry, ListenerMethod method, String outcome, ToDoubleFunction<ListenerMethod> count) {
            FunctionCounter.builder("smqtt.spring.listener.messages", method, count)
                    .description("messages that a listener method was called with")
                    .tag("method", method.name())
                    .tag("outcome", outcome)
                    .register(registry);
        }
    }

    @Bean
    Registration smqttListenerMeters(ObjectProvider<MeterRegistry> registries, ListenerMethods listeners) {
        return new Registration(registries, listeners);
    }
}
