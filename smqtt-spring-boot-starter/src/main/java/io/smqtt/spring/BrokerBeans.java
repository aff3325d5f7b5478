// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerModule;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.Bans;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.Interceptor;
import io.smqtt.spi.Observer;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;

/** The beans of the application that take part in the broker, each kind in its order. */
final class BrokerBeans {

    private final BeanFactory beans;

    BrokerBeans(BeanFactory beans) {
        this.beans = beans;
    }

    BeanFactory factory() {
        return beans;
    }

    /** {@return the class loader of the application} */
    ClassLoader classLoader() {
        ClassLoader own = beans instanceof ConfigurableBeanFactory factory ? factory.getBeanClassLoader() : null;
        return own == null ? BrokerBeans.class.getClassLoader() : own;
    }

    /** {@return the application's own store, or null if it has none} */
    @Nullable
    BrokerStore store() {
        return beans.getBeanProvider(BrokerStore.class).getIfAvailable();
    }

    /** {@return the beans of one type, for modules: types of sinks for rules, for instance} */
    <T> List<T> all(Class<T> type) {
        return beans.getBeanProvider(type).orderedStream().toList();
    }

    void addTo(BrokerBuilder builder, Gate gate) {
        beans.getBeanProvider(Authenticator.class).orderedStream().forEach(builder::authenticator);
        beans.getBeanProvider(EnhancedAuthenticator.class)
                .orderedStream()
                .map(gate::before)
                .forEach(builder::enhancedAuthenticator);
        beans.getBeanProvider(Authorizer.class).orderedStream().forEach(builder::authorizer);
        beans.getBeanProvider(Bans.class).orderedStream().forEach(builder::bans);
        beans.getBeanProvider(Interceptor.class).orderedStream().forEach(builder::interceptor);
        beans.getBeanProvider(Observer.class).orderedStream().forEach(builder::observer);
        beans.getBeanProvider(BrokerModule.class).orderedStream().forEach(builder::module);
        ClientDirectory directory = beans.getBeanProvider(ClientDirectory.class).getIfAvailable();
        if (directory != null) {
            builder.clientDirectory(directory);
        }
    }

    void customize(BrokerBuilder builder) {
        beans.getBeanProvider(BrokerCustomizer.class)
                .orderedStream()
                .forEach(customizer -> customizer.customize(builder));
    }
}
