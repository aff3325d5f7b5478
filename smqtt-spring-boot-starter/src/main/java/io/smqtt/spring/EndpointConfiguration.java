// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The endpoint of the actuator, where that is there and shows it. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(
        name = "org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint")
final class EndpointConfiguration {

    @Bean
    @ConditionalOnAvailableEndpoint(endpoint = SmqttEndpoint.class)
    SmqttEndpoint smqttEndpoint(BrokerLifecycle lifecycle, ListenerMethods listeners) {
        return new SmqttEndpoint(lifecycle, listeners);
    }
}
