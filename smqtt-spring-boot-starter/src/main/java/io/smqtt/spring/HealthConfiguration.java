// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The health contributor {@code smqtt} of Spring Boot 4. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
@ConditionalOnProperty(prefix = "management.health.smqtt", name = "enabled", matchIfMissing = true)
final class HealthConfiguration {

    @Bean
    HealthIndicator smqttHealthIndicator(BrokerLifecycle lifecycle) {
        BrokerHealth health = new BrokerHealth(lifecycle);
        return () -> {
            BrokerHealth.Report report = health.report();
            Health.Builder builder =
                    report.up() ? Health.up() : report.outOfService() ? Health.outOfService() : Health.down();
            return builder.withDetails(report.details()).build();
        };
    }
}
