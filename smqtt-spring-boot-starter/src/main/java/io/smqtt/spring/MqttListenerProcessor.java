// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import java.lang.reflect.Method;
import java.util.Map;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.Environment;

/** Finds the methods with {@link MqttListener} of all beans. */
final class MqttListenerProcessor implements BeanPostProcessor {

    private final ObjectProvider<ListenerMethods> listeners;
    private final BeanFactory beans;
    private final Environment environment;

    MqttListenerProcessor(ObjectProvider<ListenerMethods> listeners, BeanFactory beans, Environment environment) {
        this.listeners = listeners;
        this.beans = beans;
        this.environment = environment;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
        if (AnnotationUtils.isCandidateClass(type, MqttListener.class)) {
            Map<Method, MqttListener> found =
                    MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<MqttListener>)
                            method -> AnnotatedElementUtils.findMergedAnnotation(method, MqttListener.class));
            found.forEach((method, annotation) -> add(bean, beanName, method, annotation));
        }
        return bean;
    }

    private void add(Object bean, String beanName, Method method, MqttListener annotation) {
        if (beans.containsBean(beanName) && !beans.isSingleton(beanName)) {
            throw new IllegalStateException("@MqttListener on " + method + ": the bean " + beanName
                    + " must be a singleton, since each instance would have a subscription that nothing ends");
        }
        Method invocable = AopUtils.selectInvocableMethod(method, bean.getClass());
        String filter = environment.resolveRequiredPlaceholders(annotation.filter());
        String durable = environment.resolveRequiredPlaceholders(annotation.durable());
        listeners
                .getObject()
                .add(new ListenerMethod(bean, invocable, beanName, TopicPattern.of(filter), durable, annotation));
    }
}
