// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigurationException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.AuthenticationManager;

/** Spring Security decides who may connect, where the application asks for it. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(AuthenticationManager.class)
@ConditionalOnProperty(prefix = "smqtt.spring", name = "security")
final class SecurityConfiguration {

    @Bean(destroyMethod = "dispose")
    @Order // after those of the application
    SecurityAuthenticator smqttSecurityAuthenticator(
            ObjectProvider<AuthenticationManager> managers, SmqttProperties properties) {
        AuthenticationManager manager = managers.getIfAvailable();
        if (manager == null) {
            throw new ConfigurationException("spring.security", "needs a bean of the type AuthenticationManager");
        }
        return new SecurityAuthenticator(
                manager,
                properties.spring().authenticationThreads(),
                properties.spring().authenticationQueue());
    }
}
