// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.convert.ConversionService;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** One method with {@link MqttListener}. Any thread. */
final class ListenerMethod {

    private static final Logger LOG = LoggerFactory.getLogger(MqttListener.class);

    private final Object bean;
    private final Method method;
    private final String name;
    private final TopicPattern pattern;
    private final QoS qos;
    private final int concurrency;
    private final LongAdder handled = new LongAdder();
    private final LongAdder failed = new LongAdder();

    ListenerMethod(Object bean, Method method, String beanName, TopicPattern pattern, MqttListener annotation) {
        this.bean = bean;
        this.method = method;
        this.pattern = pattern;
        name = beanName + "." + method.getName();
        if (annotation.qos() < 0 || annotation.qos() > 2) {
            throw problem("qos must be 0, 1 or 2");
        }
        if (annotation.concurrency() < 1) {
            throw problem("concurrency must be 1 or more");
        }
        qos = QoS.of(annotation.qos());
        concurrency = annotation.concurrency();
        method.setAccessible(true);
    }

    private IllegalStateException problem(String what) {
        return new IllegalStateException("@MqttListener on " + method + ": " + what);
    }

    /** {@return bean and method, for logs and meters} */
    String name() {
        return name;
    }

    TopicPattern pattern() {
        return pattern;
    }

    int concurrency() {
        return concurrency;
    }

    long handledCount() {
        return handled.sum();
    }

    long failedCount() {
        return failed.sum();
    }

    /** How a parameter gets its value. */
    @FunctionalInterface
    interface Argument extends Function<ApplicationMessage, @Nullable Object> {}

    /**
     * Prepares calls.
     *
     * @param converter for payloads that are objects, or null if there is none
     * @param conversions for variables
     * @param scheduler where the method is called
     * @return a message to its end: never an error
     * @throws IllegalStateException if the method has parameters that nothing is known for
     */
    Function<ApplicationMessage, Mono<Void>> prepare(
            @Nullable PayloadConverter converter, ConversionService conversions, Scheduler scheduler) {
        List<Argument> arguments = new ArrayList<>();
        boolean payloadTaken = false;
        for (Parameter parameter : method.getParameters()) {
            TopicVariable variable = parameter.getAnnotation(TopicVariable.class);
            if (variable != null) {
                arguments.add(variable(parameter, variable, conversions));
            } else if (parameter.getType() == ApplicationMessage.class) {
                arguments.add(message -> message);
            } else if (payloadTaken) {
                throw problem("there is more than one parameter for the payload");
            } else {
                payloadTaken = true;
                arguments.add(payload(parameter, converter));
            }
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(method.getReturnType());
        return message -> Mono.defer(() -> call(lowered(message), arguments, adapter))
                .subscribeOn(scheduler)
                .doOnSuccess(done -> handled.increment())
                .onErrorResume(error -> {
                    failed.increment();
                    LOG.error("{} failed with a message of topic {}", name, message.topic(), error);
                    return Mono.empty();
                });
    }

    private ApplicationMessage lowered(ApplicationMessage message) {
        if (message.qos().level() <= qos.level()) {
            return message;
        }
        ApplicationMessage.Builder copy = ApplicationMessage.builder(
                        message.topic().value())
                .payload(message.payload())
                .qos(qos)
                .retain(message.retain())
                .properties(message.properties());
        if (message.expiryIntervalSeconds() != ApplicationMessage.NEVER) {
            copy.expiryInterval(Duration.ofSeconds(message.expiryIntervalSeconds()));
        }
        return copy.build();
    }

    private Argument variable(Parameter parameter, TopicVariable annotation, ConversionService conversions) {
        String variable = annotation.value();
        if (variable.isEmpty()) {
            if (!parameter.isNamePresent()) {
                throw problem("compile with -parameters, or name each @TopicVariable");
            }
            variable = parameter.getName();
        }
        if (!pattern.names().contains(variable)) {
            throw problem("the filter has no variable {" + variable + "}");
        }
        String found = variable;
        Class<?> type = parameter.getType();
        if (!conversions.canConvert(String.class, type)) {
            throw problem("{" + variable + "} cannot be made a " + type.getName());
        }
        return message -> conversions.convert(pattern.value(found, message.topic()), type);
    }

    private Argument payload(Parameter parameter, @Nullable PayloadConverter converter) {
        Class<?> type = parameter.getType();
        if (type == byte[].class) {
            return message -> message.payload().toByteArray();
        } else if (type == String.class) {
            return message -> message.payload().asString();
        } else if (type == Payload.class) {
            return ApplicationMessage::payload;
        } else if (converter == null) {
            throw problem("a payload as " + type.getName() + " needs Jackson or a PayloadConverter");
        }
        return message -> converter.read(message.payload().toByteArray(), parameter.getParameterizedType());
    }

    private Mono<Void> call(ApplicationMessage message, List<Argument> arguments, @Nullable ReactiveAdapter adapter) {
        @Nullable Object[] values = new Object[arguments.size()];
        for (int i = 0; i < values.length; i++) {
            values[i] = arguments.get(i).apply(message);
        }
        try {
            Object result = method.invoke(bean, values);
            if (adapter == null || result == null) {
                return Mono.empty();
            }
            Publisher<?> publisher = adapter.toPublisher(result);
            return Flux.from(publisher).then();
        } catch (InvocationTargetException e) {
            return Mono.error(e.getCause() == null ? e : e.getCause());
        } catch (IllegalAccessException e) {
            return Mono.error(e);
        }
    }
}
