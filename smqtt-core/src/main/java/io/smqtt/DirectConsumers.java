// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.Subscription;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.session.InProcess;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;
import reactor.core.publisher.Sinks;

/** The consumers of this process without a session: they take published messages on the event loop that routes them. */
@AnyThread
final class DirectConsumers {

    private static final int IN_PROCESS_BUFFER = 4_096;

    private final BrokerParts parts;
    private final BooleanSupplier closing;
    private final Duration stall;
    private final AtomicLong subscriberNumber = new AtomicLong();
    private final Set<FluxSink<?>> consumers = ConcurrentHashMap.newKeySet();

    /**
     * Creates an empty set of consumers.
     *
     * @param parts the parts of the broker
     * @param closing whether the broker is closing
     * @param stall the time after which a consumer that takes nothing is logged
     */
    DirectConsumers(BrokerParts parts, BooleanSupplier closing, Duration stall) {
        this.parts = parts;
        this.closing = closing;
        this.stall = stall;
    }

    /**
     * Subscribes a consumer: first to the retained messages, then to what is published.
     *
     * @param filter a filter that is not shared
     * @param ready completes when the subscription is active, or fails if the broker is closing
     * @return the messages of one consumer; published messages arrive on the event loop that routes them
     */
    Flux<ApplicationMessage> messages(TopicFilter filter, Sinks.Empty<Void> ready) {
        if (closing.getAsBoolean()) {
            BrokerClosedException reason = new BrokerClosedException();
            ready.tryEmitError(reason);
            return Flux.error(reason);
        }
        Sinks.Empty<Void> subscribed = Sinks.empty(); // retained messages are looked up afterwards, so none is missed
        AtomicInteger ahead = new AtomicInteger(); // retained messages that mergeSequential has prefetched
        AtomicReference<@Nullable InProcessSubscriber> subscriber = new AtomicReference<>();
        Flux<ApplicationMessage> retained = subscribed
                .asMono()
                .thenMany(Flux.defer(() -> retained(filter)))
                .doOnNext(message -> ahead.incrementAndGet());
        Runnable whenSubscribed = () -> {
            ready.tryEmitEmpty();
            subscribed.tryEmitEmpty();
        };
        return Flux.mergeSequential(retained, live(filter, subscriber, whenSubscribed))
                .doOnNext(message -> {
                    if (ahead.get() > 0) { // retained messages come before published ones
                        ahead.decrementAndGet();
                    } else {
                        Objects.requireNonNull(subscriber.get()).taken(message);
                    }
                });
    }

    private Flux<ApplicationMessage> retained(TopicFilter filter) {
        RetainedCursor cursor = parts.router().retained().cursor(filter);
        return Flux.generate(sink -> {
            ApplicationMessage next = cursor.next(parts.ticker().nanoTime());
            if (next == null) {
                sink.complete();
            } else {
                sink.next(next);
            }
        });
    }

    private Flux<ApplicationMessage> live(
            TopicFilter filter, AtomicReference<@Nullable InProcessSubscriber> taker, Runnable whenSubscribed) {
        return Flux.create(
                sink -> {
                    InProcessSubscriber subscriber = new InProcessSubscriber(
                            InProcess.PREFIX + "~" + subscriberNumber.incrementAndGet(),
                            sink,
                            parts.observer(),
                            parts.budget(),
                            pressure(filter));
                    taker.set(subscriber);
                    Subscription subscription = new Subscription(
                            subscriber, filter, null, QoS.EXACTLY_ONCE, false, true, Subscription.NO_IDENTIFIER);
                    sink.onDispose(() -> leave(sink, subscriber, filter));
                    consumers.add(sink);
                    parts.router().index().add(subscription);
                    if (sink.isCancelled()) { // by another thread in the meantime
                        leave(sink, subscriber, filter);
                    } else if (closing.getAsBoolean()) { // in the meantime
                        sink.complete();
                    }
                    whenSubscribed.run();
                },
                FluxSink.OverflowStrategy.BUFFER);
    }

    private ConsumerPressure pressure(TopicFilter filter) {
        parts.router().ticketsAreHeld();
        LimitsConfig ofClients = parts.config().limits();
        LimitsConfig limits = InProcess.limits(ofClients, IN_PROCESS_BUFFER, InProcess.queuedBytes(ofClients));
        ConsumerPressure pressure = new ConsumerPressure(
                "the consumer of " + filter,
                limits,
                parts.router().loops().get(0).executor(),
                parts.budget());
        pressure.set("the consumer of " + filter, limits, true, stall);
        return pressure;
    }

    private void leave(FluxSink<?> sink, InProcessSubscriber subscriber, TopicFilter filter) {
        parts.router().index().remove(subscriber, filter, null);
        subscriber.end();
        consumers.remove(sink);
    }

    /** Completes all consumers. */
    void complete() {
        consumers.forEach(FluxSink::complete);
    }
}
