// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.smqtt.Broker;
import io.smqtt.test.wire.MqttProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;

/**
 * The JUnit extension behind {@link MqttBroker}. Keeps no state of its own: brokers live in the store of the class or of
 * the test. Uses nothing that JUnit 5.10 does not have.
 */
final class MqttBrokerExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback, ParameterResolver {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(MqttBrokerExtension.class);
    private static final Set<Class<?>> TYPES = Set.of(
            TestBroker.class, Broker.class, BrokerClock.class, URI.class, InetSocketAddress.class, MqttProxy.class);

    MqttBrokerExtension() {}

    /** The running brokers of one class, or of one test, by name. */
    private static final class Running {

        private final Map<String, TestBroker> brokers = new LinkedHashMap<>();
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        start(context, MqttBroker.Lifetime.CLASS, List.of(context.getRequiredTestClass()));
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        start(context, MqttBroker.Lifetime.METHOD, outermostFirst(context));
    }

    private static List<Class<?>> outermostFirst(ExtensionContext context) {
        List<Class<?>> classes = new ArrayList<>();
        ExtensionContext current = context;
        while (current != null) {
            Class<?> type = current.getTestClass().orElse(null);
            if (type != null && !classes.contains(type)) {
                classes.add(0, type);
            }
            current = current.getParent().orElse(null);
        }
        return classes;
    }

    private static void start(ExtensionContext context, MqttBroker.Lifetime lifetime, List<Class<?>> classes) {
        Running running = new Running();
        context.getStore(NAMESPACE).put(lifetime, running); // first: what has started is stopped if the next one fails
        for (Class<?> type : classes) {
            for (MqttBroker asked : AnnotationSupport.findRepeatableAnnotations(type, MqttBroker.class)) {
                if (asked.lifetime() == lifetime) {
                    start(context, type, asked, running);
                }
            }
        }
    }

    private static void start(ExtensionContext context, Class<?> type, MqttBroker asked, Running running) {
        String who = (asked.value().isEmpty() ? "the MQTT broker" : "the MQTT broker '" + asked.value() + "'") + " of "
                + type.getName();
        if (visible(context).containsKey(asked.value())) {
            throw new ExtensionConfigurationException(who + " needs a name of its own: @MqttBroker(\"…\")");
        }
        try {
            running.brokers.put(asked.value(), builder(type, asked).start());
        } catch (ExtensionConfigurationException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new ExtensionConfigurationException(who + " did not start: " + e.getMessage(), e);
        }
    }

    private static TestBroker.Builder builder(Class<?> type, MqttBroker asked) {
        TestBroker.Builder builder = TestBroker.builder()
                .name(asked.value())
                .clock(asked.standingClock() ? BrokerClock.standing() : BrokerClock.running());
        for (String property : asked.properties()) {
            int equals = property.indexOf('=');
            if (equals < 0) {
                throw new ExtensionConfigurationException("not of the form key=value: " + property);
            }
            builder.property(
                    property.substring(0, equals).strip(),
                    property.substring(equals + 1).strip());
        }
        if (!asked.configure().isEmpty()) {
            configure(type, asked.configure(), builder);
        }
        return builder;
    }

    private static void configure(Class<?> type, String name, TestBroker.Builder builder) {
        Method method = ReflectionSupport.findMethod(type, name, TestBroker.Builder.class)
                .orElseThrow(() -> new ExtensionConfigurationException(type.getName() + " has no method " + name
                        + "(TestBroker.Builder), which its @MqttBroker names"));
        try {
            method.setAccessible(true);
            method.invoke(null, builder);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(name + " failed: " + e.getCause(), e.getCause());
        } catch (IllegalAccessException | NullPointerException e) {
            throw new ExtensionConfigurationException(type.getName() + '.' + name + " must be static", e);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        RuntimeException failure = stop(context, MqttBroker.Lifetime.METHOD);
        for (TestBroker shared : visible(context).values()) {
            try {
                shared.clear();
            } catch (RuntimeException e) {
                failure = both(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        RuntimeException failure = stop(context, MqttBroker.Lifetime.CLASS);
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable RuntimeException stop(ExtensionContext context, MqttBroker.Lifetime lifetime) {
        Running running = context.getStore(NAMESPACE).remove(lifetime, Running.class);
        RuntimeException failure = null;
        if (running != null) {
            List<TestBroker> lastFirst = new ArrayList<>(running.brokers.values());
            Collections.reverse(lastFirst);
            for (TestBroker broker : lastFirst) {
                try {
                    broker.close();
                } catch (RuntimeException e) {
                    failure = both(failure, e);
                }
            }
        }
        return failure;
    }

    private static RuntimeException both(@Nullable RuntimeException first, RuntimeException next) {
        if (first == null) {
            return next;
        }
        first.addSuppressed(next);
        return first;
    }

    /** The brokers that the test can see: its own, those of its class and those of enclosing classes. */
    private static Map<String, TestBroker> visible(ExtensionContext context) {
        Map<String, TestBroker> all = new LinkedHashMap<>();
        ExtensionContext current = context;
        while (current != null) {
            for (MqttBroker.Lifetime lifetime : MqttBroker.Lifetime.values()) {
                Running running = current.getStore(NAMESPACE).get(lifetime, Running.class); // looks at parents too
                if (running != null) {
                    running.brokers.forEach(all::putIfAbsent);
                }
            }
            current = current.getParent().orElse(null);
        }
        return all;
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return TYPES.contains(type) || (type == int.class && parameter.isAnnotated(OfBroker.class));
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestBroker broker =
                find(context, parameter.findAnnotation(OfBroker.class).map(OfBroker::value));
        Class<?> type = parameter.getParameter().getType();
        if (type == TestBroker.class) {
            return broker;
        } else if (type == Broker.class) {
            return broker.broker();
        } else if (type == BrokerClock.class) {
            return broker.clock();
        } else if (type == URI.class) {
            return broker.uri();
        } else if (type == InetSocketAddress.class) {
            return broker.address();
        } else if (type == MqttProxy.class) {
            return broker.proxy();
        }
        return broker.port();
    }

    private static TestBroker find(ExtensionContext context, Optional<String> asked) {
        Map<String, TestBroker> visible = visible(context);
        String name = asked.orElse("");
        TestBroker named = visible.get(name);
        if (named != null) {
            return named;
        }
        Collection<TestBroker> all = visible.values();
        if (name.isEmpty() && all.size() == 1) {
            return all.iterator().next();
        }
        throw new ParameterResolutionException(
                visible.isEmpty()
                        ? "no MQTT broker runs yet: with Lifetime.METHOD it starts after constructors and @BeforeAll methods"
                        : "which MQTT broker? @OfBroker tells: " + visible.keySet());
    }
}
