// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * A broker for the application, with the properties below {@code smqtt.} and the beans that take part in it. Nothing of it
 * is there with {@code smqtt.enabled=false}.
 */
@AutoConfiguration
@ConditionalOnProperty(prefix = "smqtt", name = "enabled", matchIfMissing = true)
@Import({
    JsonConfiguration.Jackson3.class,
    JsonConfiguration.Jackson2.class,
    HealthConfiguration.class,
    Boot3HealthConfiguration.class,
    EndpointConfiguration.class,
    EmbeddedConfiguration.Mvc.class,
    EmbeddedConfiguration.WebFlux.class,
    ListenerMeters.class,
    SecurityConfiguration.class
})
final class SmqttAutoConfiguration {

    private static final boolean SECURITY = ClassUtils.isPresent(
            "org.springframework.security.authentication.AuthenticationManager",
            SmqttAutoConfiguration.class.getClassLoader());

    @Bean
    SmqttProperties smqttProperties(ConfigurableEnvironment environment, ObjectProvider<BrokerConfig> config) {
        RuntimeVersions.check();
        SmqttProperties properties = SmqttProperties.of(environment, bound -> config.getIfUnique(() -> bound));
        if (properties.spring().security() && !SECURITY) {
            throw new ConfigurationException("spring.security", "needs spring-security-core");
        }
        return properties;
    }

    @Bean
    @ConditionalOnMissingBean
    BrokerConfig smqttBrokerConfig(SmqttProperties properties) {
        return properties.broker();
    }

    @Bean
    ListenerMethods smqttListenerMethods(SmqttProperties properties, ObjectProvider<PayloadConverter> converter) {
        return new ListenerMethods(
                converter::getIfAvailable,
                ApplicationConversionService.getSharedInstance(),
                properties.spring().listenerThreads());
    }

    @Bean
    static MqttListenerProcessor smqttListenerProcessor(
            ObjectProvider<ListenerMethods> listeners, BeanFactory beans, Environment environment) {
        return new MqttListenerProcessor(listeners, beans, environment);
    }

    @Bean
    @ConditionalOnMissingBean
    BrokerLifecycle smqttBroker(
            SmqttProperties properties,
            BrokerConfig config,
            BeanFactory beans,
            ListenerMethods listeners,
            ConfigurableEnvironment environment,
            ApplicationEventPublisher events) {
        return new BrokerLifecycle(
                new Assembly(
                        config, properties.legacy().eventTopics(), properties.management(), new BrokerBeans(beans)),
                listeners,
                properties.spring().stopTimeout(),
                environment,
                events);
    }

    @Bean
    @ConditionalOnMissingBean
    MqttTemplate mqttTemplate(BrokerLifecycle lifecycle, ObjectProvider<PayloadConverter> converter) {
        return new MqttTemplate(lifecycle, converter::getIfAvailable);
    }
}
