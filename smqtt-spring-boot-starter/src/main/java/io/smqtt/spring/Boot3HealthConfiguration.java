// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The health contributor {@code smqtt} of Spring Boot 3. Its classes have other names than those of Spring Boot 4 and cannot
 * be compiled against beside them, so they are reached by name.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = Boot3HealthConfiguration.INDICATOR)
@ConditionalOnMissingClass("org.springframework.boot.health.contributor.HealthIndicator")
@ConditionalOnProperty(prefix = "management.health.smqtt", name = "enabled", matchIfMissing = true)
@Import(Boot3HealthConfiguration.Registrar.class)
final class Boot3HealthConfiguration {

    static final String INDICATOR = "org.springframework.boot.actuate.health.HealthIndicator";
    private static final String HEALTH = "org.springframework.boot.actuate.health.Health";

    /** The interface is only known by its name, so there is no method that could return it. */
    static final class Registrar implements ImportBeanDefinitionRegistrar, BeanFactoryAware {

        private @Nullable BeanFactory beans;

        @Override
        public void setBeanFactory(BeanFactory beanFactory) {
            beans = beanFactory;
        }

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            ClassLoader loader = Boot3HealthConfiguration.class.getClassLoader();
            Class<?> indicator = ClassUtils.resolveClassName(INDICATOR, loader);
            register(indicator, ClassUtils.resolveClassName(HEALTH, loader), registry);
        }

        private <T> void register(Class<T> indicator, Class<?> health, BeanDefinitionRegistry registry) {
            RootBeanDefinition definition = new RootBeanDefinition(indicator);
            definition.setInstanceSupplier(() -> indicator(indicator, health));
            registry.registerBeanDefinition("smqttHealthIndicator", definition);
        }

        private Object indicator(Class<?> indicator, Class<?> health) {
            BeanFactory from = beans;
            if (from == null) {
                throw new IllegalStateException("without a bean factory");
            }
            BrokerHealth report = new BrokerHealth(from.getBean(BrokerLifecycle.class));
            InvocationHandler handler = (proxy, method, args) -> answer(proxy, method, args, report, health);
            return Proxy.newProxyInstance(indicator.getClassLoader(), new Class<?>[] {indicator}, handler);
        }
    }

    private static @Nullable Object answer(
            Object proxy, Method method, @Nullable Object[] args, BrokerHealth health, Class<?> type) throws Throwable {
        if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, args);
        }
        return switch (method.getName()) {
            case "health" -> health(health.report(), type);
            case "hashCode" -> System.identityHashCode(proxy);
            case "equals" -> proxy == args[0];
            default -> "the health of the MQTT broker";
        };
    }

    private static @Nullable Object health(BrokerHealth.Report report, Class<?> type)
            throws ReflectiveOperationException {
        String status = report.up() ? "up" : report.outOfService() ? "outOfService" : "down";
        Object builder = type.getMethod(status).invoke(null);
        Method details = ReflectionUtils.findMethod(builder.getClass(), "withDetails", Map.class);
        Method build = ReflectionUtils.findMethod(builder.getClass(), "build");
        if (details == null || build == null) {
            throw new IllegalStateException("no health of Spring Boot 3: " + type);
        }
        return build.invoke(details.invoke(builder, report.details()));
    }
}
