// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.ConsumerOptions;
import io.smqtt.ConsumerOptions.RetainHandling;
import io.smqtt.ReceivedMessage;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.message.Payload;
import io.smqtt.message.QoS;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.convert.ConversionService;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** One method with {@link MqttListener}. Any thread. */
final class ListenerMethod {

    private static final Logger LOG = LoggerFactory.getLogger(MqttListener.class);
    private static final int WINDOW = 256;

    private final Object bean;
    private final Method method;
    private final String name;
    private final TopicPattern pattern;
    private final int concurrency;
    private final String durable;
    private final ConsumerOptions options;
    private final LongAdder handled = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LogLimiter failures = new LogLimiter(LOG, Level.ERROR, 1);
    private volatile boolean active;

    ListenerMethod(
            Object bean,
            Method method,
            String beanName,
            TopicPattern pattern,
            String durable,
            MqttListener annotation) {
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
        concurrency = annotation.concurrency();
        this.durable = durable;
        ConsumerOptions taken = ConsumerOptions.DEFAULTS
                .qos(QoS.of(annotation.qos()))
                .window(Math.min(Math.max(WINDOW, concurrency), ConsumerOptions.MAXIMUM_WINDOW))
                .overflow(annotation.overflow())
                .label(name);
        try {
            taken = taken.queue(annotation.queue(), annotation.queueBytes());
        } catch (IllegalArgumentException e) {
            throw problem(String.valueOf(e.getMessage()));
        }
        options = durable.isEmpty() ? taken : taken.durable(durable).retainHandling(RetainHandling.SEND_IF_NEW);
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

    /** {@return how the broker gives it messages} */
    ConsumerOptions options() {
        return options;
    }

    /** {@return whether its messages are kept while it is away} */
    boolean isDurable() {
        return !durable.isEmpty();
    }

    int concurrency() {
        return concurrency;
    }

    /** {@return whether it has its subscription} */
    boolean isActive() {
        return active;
    }

    void setActive(boolean subscribed) {
        active = subscribed;
    }

    long handledCount() {
        return handled.sum();
    }

    long failedCount() {
        return failed.sum();
    }

    /** Supplies the value of a parameter. */
    @FunctionalInterface
    interface Argument extends Function<ReceivedMessage, @Nullable Object> {}

    /**
     * Prepares calls.
     *
     * @param converter for payloads that are objects, or null if there is none
     * @param conversions for variables
     * @param scheduler where the method is called
     * @param over whether the broker has ended, so that a failure says nothing of the message
     * @return a message to its end: an error if it is to be tried again, because the listener is durable or the broker over
     * @throws IllegalStateException if the method has parameters that nothing is known for
     */
    Function<ReceivedMessage, Mono<Void>> prepare(
            @Nullable PayloadConverter converter,
            ConversionService conversions,
            Scheduler scheduler,
            BooleanSupplier over) {
        List<Argument> arguments = new ArrayList<>();
        boolean payloadTaken = false;
        for (Parameter parameter : method.getParameters()) {
            TopicVariable variable = parameter.getAnnotation(TopicVariable.class);
            if (variable != null) {
                arguments.add(variable(parameter, variable, conversions));
            } else if (parameter.getType() == ApplicationMessage.class) {
                arguments.add(ReceivedMessage::message);
            } else if (parameter.getType() == ReceivedMessage.class) {
                arguments.add(received -> received);
            } else if (payloadTaken) {
                throw problem("there is more than one parameter for the payload");
            } else {
                payloadTaken = true;
                arguments.add(payload(parameter, converter));
            }
        }
        ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(method.getReturnType());
        return received -> Mono.defer(() -> call(received, arguments, adapter))
                .subscribeOn(scheduler)
                .doOnSuccess(done -> {
                    handled.increment();
                    received.acknowledge();
                })
                .onErrorResume(error -> {
                    failed.increment();
                    log(received.message(), error);
                    if (isDurable() || over.getAsBoolean()) {
                        return Mono.error(error);
                    }
                    received.acknowledge();
                    return Mono.empty();
                });
    }

    private void log(ApplicationMessage message, Throwable error) {
        if (failures.allows(name)) {
            LOG.error(
                    "{} failed with a message of topic {}",
                    name,
                    LogText.escape(message.topic().value()),
                    EscapedException.of(error));
        }
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
        return received ->
                conversions.convert(pattern.value(found, received.message().topic()), type);
    }

    private Argument payload(Parameter parameter, @Nullable PayloadConverter converter) {
        Class<?> type = parameter.getType();
        if (type == byte[].class) {
            return received -> received.message().payload().toByteArray();
        } else if (type == String.class) {
            return received -> received.message().payload().asString();
        } else if (type == Payload.class) {
            return received -> received.message().payload();
        } else if (converter == null) {
            throw problem("a payload as " + type.getName() + " needs Jackson or a PayloadConverter");
        }
        return received -> converter.read(received.message().payload().toByteArray(), parameter.getParameterizedType());
    }

    private Mono<Void> call(ReceivedMessage message, List<Argument> arguments, @Nullable ReactiveAdapter adapter) {
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
