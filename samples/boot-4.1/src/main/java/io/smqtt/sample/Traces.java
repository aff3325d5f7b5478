// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sample;

import io.micrometer.observation.ObservationRegistry;
import io.smqtt.metric.MessageTracing;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Published messages among the observations of the application: meters, and traces if it has a tracer. */
@Configuration(proxyBeanMethods = false)
class Traces {

    // snippet tracing
    @Bean
    MessageTracing tracing(ObservationRegistry observations) {
        return MessageTracing.of(observations, 0.01);
    }
    // end
}
