// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.access.AccessControl;
import io.smqtt.access.AccessReload;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.transport.EventLoops;
import io.smqtt.transport.Listeners;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/**
 * A running MQTT broker. Several in one JVM share nothing. When {@link #close} has ended, all others fail with {@link
 * BrokerClosedException}; {@link #subscribe}, {@link #receive} and {@link #events} do from its beginning on.
 *
 * <pre>{@code
 * import io.smqtt.Broker;
 * import io.smqtt.message.ApplicationMessage;
 * import java.time.Duration;
 *
 * Broker broker = Broker.builder().start().block();
 * broker.subscribe("devices/+/state").subscribe(message -> System.out.println(message.payload()));
 * broker.publish(ApplicationMessage.builder("devices/7/state").payload("on").build()).block();
 * broker.close(Duration.ofSeconds(10)).block();
 * }</pre>
 */
@AnyThread
public final class Broker {

    private static final Logger LOG = LoggerFactory.getLogger(Broker.class);
    private static final long NEVER_EXPIRES = 0xFFFF_FFFFL;

    private final AccessControl access;
    private final EventLoops eventLoops;
    private final Router router;
    private final SessionRegistry sessions;
    private final Listeners listeners;
    private final EventStream events;
    private final Ticker ticker;
    private final BrokerParts parts;
    private final List<BrokerModule> modules;
    private final Shutdown shutdown;
    private final DirectConsumers directConsumers;
    private final Consumers consumersWithSessions;
    private final Explainer explainer;
    private final AtomicReference<@Nullable Mono<Void>> closing = new AtomicReference<>();

    /** Who waits for event loops to answer. */
    private final Set<MonoSink<?>> waiting = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    Broker(BrokerBuilder builder) {
        parts = new BrokerParts(builder);
        access = parts.access();
        eventLoops = parts.eventLoops();
        router = parts.router();
        sessions = parts.sessions();
        listeners = parts.listeners();
        events = parts.events();
        ticker = builder.ticker;
        modules = List.copyOf(builder.modules);
        explainer = new Explainer(parts);
        directConsumers = new DirectConsumers(parts, () -> closing.get() != null, builder.stall);
        consumersWithSessions = new Consumers(parts, () -> closing.get() != null, builder.stall);
        shutdown = new Shutdown(parts, modules, builder.patience, this::completeConsumers, this::endLoops);
        access.warnings().forEach(warning -> LOG.warn("{}", warning));
    }

    /**
     * Starts to describe a broker.
     *
     * @return a builder with defaults
     */
    public static BrokerBuilder builder() {
        return new BrokerBuilder();
    }

    /** Reads what is stored. Blocks; before anybody can connect. */
    Broker recover() {
        try {
            modules.stream()
                    .map(BrokerModule::recoveredWillsWait)
                    .max(Comparator.naturalOrder())
                    .ifPresent(sessions::recoveredWillsWait);
            RetainedVersions versions = first(BrokerModule::retainedVersions);
            if (versions != null) {
                sessions.retained().keepVersions(versions);
            }
            sessions.recover();
            return this;
        } catch (RuntimeException e) {
            shutdown.release().subscribe();
            throw e;
        }
    }

    Mono<Void> bind() {
        BrokerModule.Core core = new BrokerModule.Core(
                this,
                parts.config(),
                router,
                sessions,
                ticker,
                parts.observer(),
                parts.budget(),
                parts.traffic(),
                listeners,
                first(BrokerModule::cluster),
                first(BrokerModule::metrics),
                first(BrokerModule::management));
        return Flux.fromIterable(modules)
                .concatMap(module -> module.start(core))
                .then(Mono.defer(listeners::bind))
                .doOnSuccess(bound -> modules.forEach(BrokerModule::listening))
                .onErrorResume(error -> shutdown.release().then(Mono.error(error)));
    }

    /** The offer of the first module that has one, or null. */
    private <T> @Nullable T first(Function<BrokerModule, @Nullable T> offer) {
        for (BrokerModule module : modules) {
            T offered = offer.apply(module);
            if (offered != null) {
                return offered;
            }
        }
        return null;
    }

    private Mono<Void> endLoops() {
        closed = true;
        return eventLoops
                .dispose()
                .doFinally(signal -> waiting.forEach(sink -> sink.error(new BrokerClosedException())));
    }

    /** What event loops answer; an error if the broker ends before they do. */
    private <T> Mono<T> answered(Consumer<MonoSink<T>> question) {
        return Mono.create(sink -> {
            waiting.add(sink);
            sink.onDispose(() -> waiting.remove(sink));
            if (closed) {
                sink.error(new BrokerClosedException());
                return;
            }
            try {
                question.accept(sink);
            } catch (RejectedExecutionException e) { // meanwhile
                sink.error(new BrokerClosedException());
            }
        });
    }

    private void checkOpen() {
        if (closed) {
            throw new BrokerClosedException();
        }
    }

    /**
     * Where the listeners are bound.
     *
     * @return the addresses by listener name, with the real ports
     * @throws BrokerClosedException if the broker is closed
     */
    public Map<String, InetSocketAddress> listeners() {
        checkOpen();
        return listeners.addresses();
    }

    /**
     * Publishes a message in the name of the broker. Messages of one topic keep the order in which the returned Monos are
     * subscribed to by one thread.
     *
     * @param message the message; access rules do not apply
     * @return what became of it, when it is as safe as the acknowledgement of a client's message would be and there is room for it with
     *     all consumers in this process that are not to lose it ({@link ConsumerOptions.Overflow}), or an error if
     *     it could not be kept or the broker is closed; nothing happens before subscription
     */
    public Mono<PublishResult> publish(ApplicationMessage message) {
        return answered(sink -> {
            RoutingLoop loop = loopOf(message.topic());
            loop.executor().execute(() -> {
                ApplicationMessage accepted = message.accepted(loop.nextMessageId(), ticker.nanoTime(), null);
                PublishTicket ticket =
                        new PublishTicket(sink, parts.config().storage().sync());
                boolean retained = accepted.retain()
                        && !parts.retained().retain(loop, accepted, ticket).isRefusal();
                ticket.routed(router.routeTold(loop, accepted, ticket, ticket::taker), retained);
            });
        });
    }

    private RoutingLoop loopOf(TopicName topic) {
        List<RoutingLoop> loops = router.loops();
        return loops.get(Math.floorMod(topic.hashCode(), loops.size()));
    }

    /**
     * Receives the messages of a topic filter in this process: first the retained ones, then what is published from now
     * on. Published messages without demand wait, up to 4,096 or 64 MiB; past that those of QoS 0 are dropped and counted as
     * {@link io.smqtt.spi.DropReason#NO_DEMAND}, and the publishers of others wait, see
     * {@link ConsumerOptions.Overflow#SLOW_PUBLISHERS}. Retained ones are looked up as they are asked for, a few ahead.
     *
     * <p>A shared subscription ({@code $share/group/filter}) is served like one of
     * {@link #subscribe(String, ConsumerOptions)} with the default options and QoS 2: messages that the consumer has not taken when it ends go to other
     * members of the group.
     *
     * @param filter a topic filter; {@code $share/group/filter} for a shared one
     * @return the messages, on event loops: consumers that block must move elsewhere ({@code publishOn}); each subscriber
     *     has a subscription of its own, which ends with its cancellation and stands when {@code subscribe} returns, or if it is shared when
     *     {@link MessageFlux#ready()} says so
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic filter
     */
    public MessageFlux<ApplicationMessage> subscribe(String filter) {
        if (SharedFilter.isShared(filter)) {
            return subscribe(filter, ConsumerOptions.DEFAULTS.qos(QoS.EXACTLY_ONCE));
        }
        TopicFilter parsed = TopicFilter.of(filter);
        Sinks.Empty<Void> ready = Sinks.empty();
        return new MessageFlux<>(Flux.defer(() -> directConsumers.messages(parsed, ready)), ready);
    }

    /**
     * Receives the messages of a topic filter in this process as a client would: at the QoS of the options, in a window,
     * alone or as a member of a shared group, and under a durable name also those that come while nobody is subscribed.
     * A message counts as acknowledged when the subscriber's {@code onNext} has returned; operators that prefetch, like
     * {@code publishOn}, return at once. {@link #receive} leaves that to the subscriber.
     *
     * <p>What there is no demand for waits: up to the window here, beyond that QoS 1 and 2 messages in a queue
     * ({@link ConsumerOptions#queue}), and beyond that their publishers wait ({@link ConsumerOptions#overflow}). QoS 0 messages beyond the window
     * are dropped and counted as {@link io.smqtt.spi.DropReason#SLOW_CONSUMER}. Each subscriber of the Flux is a consumer of its own, which ends when
     * it cancels.
     *
     * @param filter a topic filter; {@code $share/group/filter} for a shared one
     * @param options how
     * @return the messages, on an event loop: consumers that block must move elsewhere ({@code publishOn}). It completes
     *     when the broker is closed and fails with {@link ConsumerEndedException} if the broker ends the consumer, and with
     *     {@link IllegalStateException} if the options name a durable consumer that is there already, or there is no store
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic filter
     */
    public MessageFlux<ApplicationMessage> subscribe(String filter, ConsumerOptions options) {
        Sinks.Empty<Void> ready = Sinks.empty();
        return new MessageFlux<>(
                consumersWithSessions.messages(filter, options, true, ready).map(ReceivedMessage::message), ready);
    }

    /**
     * Like {@link #subscribe(String, ConsumerOptions)}, but the subscriber acknowledges: messages that it has not
     * acknowledged count against the window, and come again to a durable consumer when it subscribes anew.
     *
     * @param filter a topic filter; {@code $share/group/filter} for a shared one
     * @param options how
     * @return the messages, to be acknowledged by {@link ReceivedMessage#acknowledge()} in any order, on any thread
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic filter
     */
    public MessageFlux<ReceivedMessage> receive(String filter, ConsumerOptions options) {
        Sinks.Empty<Void> ready = Sinks.empty();
        return new MessageFlux<>(consumersWithSessions.messages(filter, options, false, ready), ready);
    }

    /**
     * Forgets a durable consumer of this node with its subscription and all that waits for it. Its Flux fails if there is
     * one.
     *
     * @param name the name, see {@link ConsumerOptions#durable}
     * @return whether there was one, when the store has forgotten it, or an {@link IllegalStateException} if the store
     *     could not: then it is there again after the next start; nothing happens before subscription
     */
    public Mono<Boolean> removeConsumer(String name) {
        return answered(sink -> consumersWithSessions.remove(name, sink));
    }

    /**
     * The sessions of this broker, connected or not.
     *
     * @return a weakly consistent view of the moment of subscription
     */
    public Flux<ClientInfo> clients() {
        return Flux.defer(() -> {
                    checkOpen();
                    return Flux.fromIterable(sessions.all());
                })
                .map(Broker::info);
    }

    private static ClientInfo info(Session session) {
        return new ClientInfo(
                session.client(),
                session.isOnline(),
                session.subscriptionCount(),
                session.inFlightCount(),
                session.queuedCount());
    }

    /**
     * One session of this broker, with all that is known of it.
     *
     * @param clientId the client identifier
     * @return what it is like now, from its own event loop; empty if there is no such session
     */
    public Mono<ClientDetails> client(String clientId) {
        return answered(sink -> {
            Session session = sessions.find(clientId);
            if (session == null) {
                sink.success();
                return;
            }
            session.execute(() -> sink.success(details(session)));
        });
    }

    private static ClientDetails details(Session session) {
        PacketSink connection = session.sink();
        List<ClientDetails.Filter> filters = new ArrayList<>();
        session.forEachSubscription(subscription -> filters.add(new ClientDetails.Filter(
                subscription.clientFilter(),
                subscription.maximumQos(),
                subscription.noLocal(),
                subscription.retainAsPublished(),
                subscription.identifier())));
        filters.sort(Comparator.comparing(ClientDetails.Filter::filter));
        int keepAliveSeconds = connection == null ? 0 : connection.keepAliveSeconds();
        long expirySeconds = session.expirySeconds();
        return new ClientDetails(
                info(session),
                keepAliveSeconds == 0 ? null : Duration.ofSeconds(keepAliveSeconds),
                expirySeconds == NEVER_EXPIRES ? null : Duration.ofSeconds(expirySeconds),
                session.isStored(),
                connection == null ? 0 : connection.sendMaximum(),
                session.queuedBytes(),
                filters);
    }

    /**
     * What would become of a message, without publishing one: which filters match, who would get it and who may, and how
     * full the queues are. Reads only, so it can be asked at any time; it asks authorizers as a publish would.
     *
     * @param topic a topic name
     * @param clientId the client that would publish it; null for the application
     * @return what would happen at the moment to a message of QoS 1 without payload
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     */
    public Mono<Explanation> explain(String topic, @Nullable String clientId) {
        TopicName name = TopicName.of(topic);
        return answered(sink -> sink.onCancel(explainer.explain(name, clientId).subscribe(sink::success, sink::error)));
    }

    /**
     * Ends the connection of a client with reason code 0x98; its session lives on as its expiry says.
     *
     * @param clientId the client identifier
     * @return whether the client was connected
     */
    public Mono<Boolean> disconnect(String clientId) {
        return answered(sink -> {
            Session session = sessions.find(clientId);
            if (session == null) {
                sink.success(false);
                return;
            }
            session.execute(() -> sink.success(disconnect(session, ReasonCode.ADMINISTRATIVE_ACTION)));
        });
    }

    /** Ends the connection of a client, if there is one. */
    @OnEventLoop
    static boolean disconnect(Session session, ReasonCode reason) {
        PacketSink connection = session.sink();
        if (connection == null) {
            return false;
        }
        connection.disconnect(reason);
        return true;
    }

    /**
     * What happens to clients, from the time of subscription on. Events that a subscriber has no demand for are dropped.
     *
     * @return the events, on event loops: consumers that block must move elsewhere
     */
    public Flux<BrokerEvent> events() {
        return Flux.defer(() -> closing.get() == null ? events.events() : Flux.error(new BrokerClosedException()));
    }

    /**
     * Reads access files, certificates and the files of modules anew. What cannot be used stays as it was. Blocks: not for event loops.
     *
     * @return what was done
     * @throws BrokerClosedException if the broker is closed
     */
    public ReloadResult reload() {
        checkOpen();
        AccessReload reloaded = access.reload();
        sessions.recheckAll();
        disconnect(reloaded.removedUsers());
        reloaded.warnings().forEach(warning -> LOG.warn("{}", warning));
        Set<String> done = new LinkedHashSet<>();
        reloaded.reloaded().forEach(file -> done.add(String.valueOf(file)));
        List<String> failed = new ArrayList<>(reloaded.problems());
        try {
            listeners.reloadCertificates(file -> done.add(String.valueOf(file)));
        } catch (ConfigurationException e) {
            failed.add(String.valueOf(e.getMessage()));
            for (Throwable other : e.getSuppressed()) {
                failed.add(String.valueOf(other.getMessage()));
            }
        }
        for (BrokerModule module : modules) {
            ReloadResult result = module.reload();
            done.addAll(result.reloaded());
            failed.addAll(result.failed());
        }
        return new ReloadResult(List.copyOf(done), failed);
    }

    /** Ends the connections of users who may not log in any more. */
    private void disconnect(Set<String> users) {
        if (users.isEmpty()) {
            return;
        }
        for (Session session : sessions.all()) {
            String user = session.client().userName();
            if (user != null && users.contains(user)) {
                session.execute(() -> {
                    if (user.equals(session.client().userName())) { // nobody else has taken it over
                        disconnect(session, ReasonCode.NOT_AUTHORIZED);
                    }
                });
            }
        }
    }

    /**
     * Stops the broker: no new connections, DISCONNECT 0x8B to MQTT 5.0 clients, what is written is flushed, the Fluxes of
     * {@link #subscribe} and {@link #events} complete, then the event loops end. Can be called more than once: all calls
     * share one end, and the first deadline counts.
     *
     * @param deadline how long clients have to take what was written and to close their side
     * @return completes when everything has ended. A step that does not end, for instance of a store that hangs, is named in
     *     the log and left behind after 20 seconds; nothing happens before subscription
     */
    public Mono<Void> close(Duration deadline) {
        return Mono.defer(() -> {
            closing.compareAndSet(null, shutdown.run(deadline).cache());
            return Objects.requireNonNull(closing.get());
        });
    }

    private Mono<Void> completeConsumers() {
        directConsumers.complete();
        events.complete();
        return consumersWithSessions.stop();
    }
}
