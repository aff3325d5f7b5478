// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The API and the dashboard at a path of the application, if it has one for them. */
final class EmbeddedConfiguration {

    /** Before the mappings of the application, and as that of the actuator. */
    private static final int ORDER = -100;

    private EmbeddedConfiguration() {}

    /** The handler at its path; none without a path. */
    private static <T> Map<String, T> at(@Nullable String path, T handler) {
        return path == null ? Map.of() : Map.of(path, handler, path + "/**", handler);
    }

    private static EmbeddedRequests requests(BrokerLifecycle lifecycle, @Nullable String path) {
        return new EmbeddedRequests(lifecycle, path == null ? "" : path);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnClass(name = "org.springframework.web.servlet.DispatcherServlet")
    static class Mvc {

        @Bean
        org.springframework.web.servlet.handler.SimpleUrlHandlerMapping smqttManagementMapping(
                BrokerLifecycle lifecycle, SmqttProperties properties) {
            String path = properties.embedded().path();
            return new org.springframework.web.servlet.handler.SimpleUrlHandlerMapping(
                    at(path, new MvcManagement(requests(lifecycle, path))), ORDER);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    @ConditionalOnClass(name = "org.springframework.web.reactive.DispatcherHandler")
    static class WebFlux {

        @Bean
        org.springframework.web.reactive.handler.SimpleUrlHandlerMapping smqttManagementMapping(
                BrokerLifecycle lifecycle, SmqttProperties properties) {
            String path = properties.embedded().path();
            return new org.springframework.web.reactive.handler.SimpleUrlHandlerMapping(
                    at(path, new WebFluxManagement(requests(lifecycle, path))), ORDER);
        }
    }
}
