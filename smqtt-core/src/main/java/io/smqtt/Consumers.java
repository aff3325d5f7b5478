// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.ConsumerOptions.Overflow;
import io.smqtt.ConsumerOptions.RetainHandling;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.LogText;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.SessionRequest;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** The consumers of this process that have sessions. */
@AnyThread
final class Consumers {

    private static final Logger LOG = LoggerFactory.getLogger(Consumers.class);

    /** First character of generated names. Durable names cannot contain it, so the two kinds are disjoint. */
    private static final String UNNAMED = "~";

    /** Maximum number of event loop tasks that bring a message from an ended session to another member of its group. */
    private static final int HOPS = 8;

    private final BrokerParts parts;
    private final BooleanSupplier closing;
    private final Duration stall;
    private final Sinks.Empty<Void> gone = Sinks.empty();
    private volatile boolean stopping;
    private final Set<Consumer> all = ConcurrentHashMap.newKeySet();
    private final Map<String, Consumer> byName = new ConcurrentHashMap<>();
    private final String instance = UUID.randomUUID().toString(); // session names are unique in a cluster
    private final AtomicLong number = new AtomicLong();

    Consumers(BrokerParts parts, BooleanSupplier closing, Duration stall) {
        this.parts = parts;
        this.stall = stall;
        this.closing = closing;
    }

    /** The messages of a filter; each subscriber of the Flux is a separate consumer. */
    Flux<ReceivedMessage> messages(
            String clientFilter, ConsumerOptions options, boolean automatic, Sinks.Empty<Void> ready) {
        SharedFilter shared = SharedFilter.isShared(clientFilter) ? SharedFilter.of(clientFilter) : null;
        String group = options.shareName() != null ? options.shareName() : shared == null ? null : shared.shareName();
        TopicFilter filter = shared == null ? TopicFilter.of(clientFilter) : shared.filter();
        if (group != null && options.isLocalOnly()) {
            throw new IllegalArgumentException("a local consumer cannot be a member of a shared group");
        }
        return new Messages(new Wish(List.of(filter), group, options, ready), automatic);
    }

    /** The messages of several filters that no group shares. */
    Flux<ReceivedMessage> messages(List<TopicFilter> filters, ConsumerOptions options, Sinks.Empty<Void> ready) {
        if (filters.isEmpty() || options.shareName() != null) {
            throw new IllegalArgumentException("a consumer of several filters needs filters, and is not shared");
        }
        return new Messages(new Wish(List.copyOf(filters), null, options, ready), false);
    }

    /** The subscriptions of a consumer. */
    private record Wish(
            List<TopicFilter> filters, @Nullable String group, ConsumerOptions options, Sinks.Empty<Void> ready) {}

    private final class Messages extends Flux<ReceivedMessage> {

        private final Wish wish;
        private final boolean automatic;

        Messages(Wish wish, boolean automatic) {
            this.wish = wish;
            this.automatic = automatic;
        }

        @Override
        public void subscribe(CoreSubscriber<? super ReceivedMessage> actual) {
            String name = wish.options.durableName();
            if (closing.getAsBoolean()) {
                refuse(actual, new BrokerClosedException());
            } else if (name != null && parts.stores() == null) {
                refuse(
                        actual,
                        new IllegalStateException("a durable consumer needs a store: Broker.builder().store(…)"));
            } else {
                begin(actual, name);
            }
        }

        private void refuse(CoreSubscriber<? super ReceivedMessage> actual, Exception reason) {
            wish.ready.tryEmitError(reason);
            Operators.error(actual, reason);
        }

        private void begin(CoreSubscriber<? super ReceivedMessage> actual, @Nullable String name) {
            Place place = new Place(wish, name);
            Consumer consumer = place.consumer(actual, automatic);
            if (name != null && !takes(name, consumer)) {
                refuse(actual, new IllegalStateException("there is already a consumer with the name " + name));
                return;
            }
            all.add(consumer);
            actual.onSubscribe(consumer);
            if (closing.getAsBoolean()) { // by another thread in the meantime
                consumer.stop();
            }
            place.claim(consumer);
        }
    }

    private boolean takes(String name, Consumer consumer) {
        return byName.compute(name, (key, present) -> present == null || present.isOver() ? consumer : present)
                == consumer;
    }

    /**
     * Ends all consumers, because the broker stops.
     *
     * @return completes, not on an event loop, when all consumers have released their sessions and all messages that these left to
     *     other members of their groups have arrived; nothing happens before subscription
     */
    Mono<Void> stop() {
        return Mono.defer(() -> {
                    stopping = true;
                    all.forEach(Consumer::stop);
                    completeIfAllEnded();
                    return gone.asMono();
                })
                .then(throughAllLoops().repeat(HOPS - 1).then())
                .publishOn(Schedulers.parallel());
    }

    private void completeIfAllEnded() {
        if (stopping && all.isEmpty()) {
            gone.tryEmitEmpty(); // has no effect the second time
        }
    }

    /** Runs a task on each event loop in turn: all earlier tasks of the loops have run when it completes. */
    private Flux<Void> throughAllLoops() {
        return Flux.fromIterable(parts.router().loops())
                .concatMap(loop -> Mono.<Void>create(sink -> loop.executor().execute(sink::success)));
    }

    /** Removes a durable consumer of this node, and its messages. Fails if the store fails. */
    void remove(String name, MonoSink<Boolean> sink) {
        Session common = parts.sessions().find(InProcess.PREFIX + name);
        Session session = common == null ? parts.sessions().find(InProcess.PREFIX + InProcess.LOCAL + name) : common;
        if (session == null) {
            sink.success(false);
            return;
        }
        session.execute(() -> {
            session.terminate(ReasonCode.ADMINISTRATIVE_ACTION);
            session.afterCommit(kept -> {
                if (kept) {
                    sink.success(true);
                } else {
                    sink.error(new IllegalStateException("the store could not remove the consumer " + name));
                }
            });
        });
    }

    /** Opens and closes the session of one consumer. */
    private final class Place implements Consumer.Home {

        private final Wish wish;
        private final @Nullable String name;
        private final ClientIdentity identity;
        private final ClientDirectory directory;

        Place(Wish wish, @Nullable String name) {
            this.wish = wish;
            this.name = name;
            String own = name == null ? UNNAMED + instance + '-' + number.incrementAndGet() : name;
            boolean local = wish.options.isLocalOnly();
            this.identity = InProcess.identity(local ? InProcess.LOCAL + own : own);
            this.directory = name == null || local ? ClientDirectory.LOCAL : parts.directory();
        }

        Consumer consumer(CoreSubscriber<? super ReceivedMessage> actual, boolean automatic) {
            List<RoutingLoop> loops = parts.router().loops();
            RoutingLoop loop = loops.get(Math.floorMod(identity.clientId().hashCode(), loops.size()));
            return new Consumer(identity.clientId(), actual, this, loop, wish.options.window(), automatic);
        }

        void claim(Consumer consumer) {
            later(
                    consumer,
                    () -> Mono.defer(() -> directory.claim(identity, false))
                            .subscribe(
                                    nothing -> {},
                                    error -> later(consumer, () -> consumer.refused(reasonOf(error))),
                                    () -> later(consumer, () -> open(consumer))));
        }

        private void later(Consumer consumer, Runnable task) {
            try {
                consumer.loop().executor().execute(task);
            } catch (RejectedExecutionException e) { // the broker has stopped
                consumer.stop();
            }
        }

        private void open(Consumer consumer) {
            if (consumer.isOver()) {
                directory.settled(identity);
                consumer.notOpened();
                return;
            }
            long expirySeconds = wish.options.expirySeconds();
            parts.sessions()
                    .open(new SessionRequest(
                            identity, false, expirySeconds, null, consumer, consumer.loop(), replyTo(consumer)));
        }

        private SessionRequest.Reply replyTo(Consumer consumer) {
            return new SessionRequest.Reply() {
                @Override
                public void opened(Session session, boolean sessionPresent) {
                    consumer.opened(session);
                    directory.settled(identity);
                }

                @Override
                public void refused(ReasonCode reason) {
                    consumer.refused(reason);
                    directory.settled(identity);
                }
            };
        }

        @Override
        public void opened(Consumer consumer, Session session) {
            ConsumerPressure pressure = session.pressure();
            if (pressure != null) {
                pressure.set(label(), limits(), wish.options.overflow() == Overflow.SLOW_PUBLISHERS, stall);
            }
            List<Subscription> others = new ArrayList<>();
            session.subscriptions().forEach(others::add);
            Set<TopicFilter> added = new HashSet<>();
            for (TopicFilter filter : wish.filters) {
                if (session.subscriptions().get(filter, wish.group) == null) {
                    added.add(filter);
                    if (!session.subscriptions().hasRoomFor(filter, wish.group)) {
                        consumer.refused(ReasonCode.QUOTA_EXCEEDED);
                        return;
                    }
                }
                subscribe(session, filter);
            }
            for (Subscription other : others) { // filters that the durable consumer had before
                if (!wish.filters.contains(other.filter()) || !Objects.equals(other.shareName(), wish.group)) {
                    session.subscriptions().unsubscribe(other.filter(), other.shareName());
                }
            }
            session.afterCommit(kept -> {
                if (kept) {
                    start(consumer, session, added);
                } else {
                    consumer.refused(ReasonCode.QUOTA_EXCEEDED);
                }
            });
        }

        private void subscribe(Session session, TopicFilter filter) {
            session.subscriptions()
                    .subscribe(new Subscription(
                            session,
                            filter,
                            wish.group,
                            wish.options
                                    .qos()
                                    .atMost(QoS.of(parts.config().mqtt().maxQos())),
                            false,
                            false,
                            Subscription.NO_IDENTIFIER));
        }

        private LimitsConfig limits() {
            LimitsConfig ofClients = parts.config().limits();
            boolean inMemory = wish.options.durableName() == null;
            long bytes = inMemory && !wish.options.isQueueGiven()
                    ? InProcess.queuedBytes(ofClients)
                    : wish.options.queueBytes();
            return InProcess.limits(ofClients, wish.options.queueMessages(), bytes);
        }

        private String label() {
            String given = wish.options.label();
            if (given != null) {
                return given;
            }
            return "the consumer " + (name == null ? "of " + wish.filters.get(0) : name);
        }

        private void start(Consumer consumer, Session session, Set<TopicFilter> added) {
            if (session.sink() != consumer) { // taken over in the meantime
                return;
            }
            notifySubscribed(wish.options.whenSubscribed(), identity.clientId());
            wish.ready.tryEmitEmpty();
            session.start();
            RetainHandling handling = wish.options.retainHandling();
            for (TopicFilter filter : wish.filters) {
                boolean retained = handling == RetainHandling.SEND
                        || (handling == RetainHandling.SEND_IF_NEW && added.contains(filter));
                Subscription subscription = session.subscriptions().get(filter, wish.group);
                if (retained && wish.group == null && subscription != null) {
                    deliverRetained(session, subscription);
                }
            }
        }

        private void deliverRetained(Session session, Subscription subscription) {
            session.deliverRetained(
                    parts.router().retained().cursor(subscription.filter()),
                    new Subscription( // retained messages come with the retain flag [MQTT-3.3.1-8]
                            session,
                            subscription.filter(),
                            null,
                            subscription.maximumQos(),
                            false,
                            true,
                            Subscription.NO_IDENTIFIER));
        }

        @Override
        public void ended(Consumer consumer) {
            wish.ready.tryEmitError(consumer.reason()); // no effect if the subscription was active
            all.remove(consumer);
            if (name != null) {
                byName.remove(name, consumer);
            }
            completeIfAllEnded();
        }
    }

    private static void notifySubscribed(Runnable whenSubscribed, String consumer) {
        try {
            whenSubscribed.run();
        } catch (RuntimeException e) { // from the application's callback
            LOG.error("the callback for the subscription of {} failed", LogText.escape(consumer), e);
        }
    }

    private static ReasonCode reasonOf(Throwable error) {
        return error instanceof ClaimRefusedException refused ? refused.reason() : ReasonCode.SERVER_UNAVAILABLE;
    }
}
