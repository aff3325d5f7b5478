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
import io.smqtt.session.NodeQueues;
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
import io.smqtt.trace.Traces;
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
 * A running MQTT broker. Brokers in one JVM share no state. After {@link #close} has completed, every method fails with
 * {@link BrokerClosedException}; {@link #subscribe}, {@link #receive} and {@link #events} fail as soon as it begins.
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

    /** Sinks of requests that the event loops have not answered yet. */
    private final Set<MonoSink<?>> waiting = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    Broker(BrokerBuilder builder) {
        parts = new BrokerAssembly(builder).parts();
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
     * Returns the traces: listeners that see what happens to a client, to messages or to an address on this node.
     *
     * @return the traces, to start one
     */
    public Traces traces() {
        return parts.traces();
    }

    /**
     * Creates a builder.
     *
     * @return a builder with defaults
     */
    public static BrokerBuilder builder() {
        return new BrokerBuilder();
    }

    /** Loads what is stored, before any client can connect. Blocks. */
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
                parts.payloads(),
                parts.traffic(),
                parts.topicRules(),
                listeners,
                first(BrokerModule::cluster),
                first(BrokerModule::peerQueries),
                first(BrokerModule::metrics),
                first(BrokerModule::management),
                first(BrokerModule::bridges),
                first(BrokerModule::payloadChecks),
                first(BrokerModule::rules),
                first(BrokerModule::sources),
                first(BrokerModule::replicas));
        parts.overload().start();
        return Flux.fromIterable(modules)
                .concatMap(module -> module.start(core))
                .then(Mono.fromRunnable(() -> parts.features().forEach(one -> one.start(parts, core.cluster()))))
                .then(Mono.defer(listeners::bind))
                .doOnSuccess(bound -> {
                    warnOfUnusedQueues();
                    modules.forEach(BrokerModule::listening);
                })
                .onErrorResume(error -> shutdown.release().then(Mono.error(error)));
    }

    /** Messages for other nodes stay in the store of a broker that is not in a cluster. */
    private void warnOfUnusedQueues() {
        NodeQueues queues = sessions.nodeQueues();
        if (queues != null) {
            queues.take()
                    .forEach(found -> LOG.warn(
                            "{} messages are parked for node {}, and stay in the store: this broker is not in a cluster",
                            found.waiting().messages(),
                            found.nodeId()));
        }
    }

    /** The first value that a module offers, or null. */
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

    /** Result of a task on event loops; fails if the broker is closed before the task completes. */
    private <T> Mono<T> fromEventLoops(Consumer<MonoSink<T>> task) {
        return Mono.create(sink -> {
            waiting.add(sink);
            sink.onDispose(() -> waiting.remove(sink));
            if (closed) {
                sink.error(new BrokerClosedException());
                return;
            }
            try {
                task.accept(sink);
            } catch (RejectedExecutionException e) { // closed in the meantime
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
     * The addresses that the listeners are bound to.
     *
     * @return the addresses by listener name, with the real ports
     * @throws BrokerClosedException if the broker is closed
     */
    public Map<String, InetSocketAddress> listeners() {
        checkOpen();
        return listeners.addresses();
    }

    /**
     * Publishes a message as the broker itself. Messages of one topic keep the order in which one thread subscribes to the
     * returned Monos.
     *
     * @param message the message; access rules do not apply
     * @return the result, when the message is as safe as an acknowledged message of a client, and all consumers of this
     *     process that must not lose it have room for it ({@link ConsumerOptions.Overflow}). Fails if the message could
     *     not be kept, or the broker is closed. Nothing happens before subscription
     */
    public Mono<PublishResult> publish(ApplicationMessage message) {
        return fromEventLoops(sink -> {
            RoutingLoop loop = loopOf(message.topic());
            loop.executor().execute(() -> {
                ApplicationMessage accepted = message.accepted(loop.nextMessageId(), ticker.nanoTime(), null);
                PublishTicket ticket =
                        new PublishTicket(sink, parts.config().storage().sync());
                boolean retained = accepted.retain()
                        && !parts.retained().retain(loop, accepted, ticket).isRefusal();
                ticket.routed(router.routeAndReport(loop, accepted, ticket, ticket::taker), retained);
            });
        });
    }

    /**
     * Publishes several messages as the broker itself, with one task for each event loop. Messages of one topic keep their order.
     *
     * @param messages the messages; access rules do not apply
     * @return completes when all messages are as safe as acknowledged messages of clients, see {@link #publish}. Fails with
     *     {@link PublishFailedException} if some of them could not be kept, which it names, and with {@link BrokerClosedException}
     *     if the broker is closed; others may have been published then. Nothing happens before subscription
     */
    public Mono<Void> publishAll(List<ApplicationMessage> messages) {
        List<ApplicationMessage> all = List.copyOf(messages);
        return fromEventLoops(sink -> new PublishBatch(parts, sink).publish(all));
    }

    private RoutingLoop loopOf(TopicName topic) {
        List<RoutingLoop> loops = router.loops();
        return loops.get(Math.floorMod(topic.hashCode(), loops.size()));
    }

    /**
     * Receives the messages of a topic filter in this process: the retained messages first, then the messages that are
     * published from now on. Published messages without demand are buffered, up to 4,096 messages or 64 MiB. Beyond that,
     * QoS 0 messages are dropped and counted as {@link io.smqtt.spi.DropReason#NO_DEMAND}, and publishers of QoS 1 and 2
     * messages wait, see {@link ConsumerOptions.Overflow#SLOW_PUBLISHERS}. Retained messages are looked up on demand, a
     * few ahead.
     *
     * <p>A shared subscription ({@code $share/group/filter}) behaves like
     * {@link #subscribe(String, ConsumerOptions)} with the default options and QoS 2: messages that the consumer has not
     * taken when it ends are delivered to other members of the group.
     *
     * @param filter a topic filter; {@code $share/group/filter} for a shared one
     * @return the messages, on event loops: consumers that block must switch to another thread ({@code publishOn}). Each
     *     subscriber has its own subscription, which ends with its cancellation. The subscription is active when
     *     {@code subscribe} returns, or if it is shared when {@link MessageFlux#ready()} completes
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
     * Receives the messages of a topic filter in this process as a client does: with the QoS of the options and a window of
     * unacknowledged messages, alone or as a member of a shared group. A durable consumer also gets the messages that were
     * published while it was away. A message is acknowledged when the subscriber's {@code onNext} has returned. Operators
     * that prefetch, such as {@code publishOn}, return at once; use {@link #receive} to acknowledge explicitly.
     *
     * <p>Messages without demand wait: up to the window in memory, then QoS 1 and 2 messages in a queue
     * ({@link ConsumerOptions#queue}), then their publishers wait ({@link ConsumerOptions#overflow}). QoS 0 messages beyond
     * the window are dropped and counted as {@link io.smqtt.spi.DropReason#SLOW_CONSUMER}. Each subscriber of the Flux is a
     * separate consumer, which ends when it cancels.
     *
     * @param filter a topic filter; {@code $share/group/filter} for a shared one
     * @param options the options of the consumer
     * @return the messages, on an event loop: consumers that block must switch to another thread ({@code publishOn}). It
     *     completes when the broker is closed. It fails with {@link ConsumerEndedException} if the broker ends the
     *     consumer, and with {@link IllegalStateException} if the options name a durable consumer that is already active,
     *     or the broker has no store
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic filter
     */
    public MessageFlux<ApplicationMessage> subscribe(String filter, ConsumerOptions options) {
        Sinks.Empty<Void> ready = Sinks.empty();
        return new MessageFlux<>(
                consumersWithSessions.messages(filter, options, true, ready).map(ReceivedMessage::message), ready);
    }

    /**
     * Like {@link #subscribe(String, ConsumerOptions)}, but the subscriber acknowledges each message. Unacknowledged
     * messages count against the window, and are delivered again to a durable consumer when it subscribes again.
     *
     * @param filter a topic filter; {@code $share/group/filter} for a shared one
     * @param options the options of the consumer
     * @return the messages, to be acknowledged by {@link ReceivedMessage#acknowledge()} in any order, on any thread
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic filter
     */
    public MessageFlux<ReceivedMessage> receive(String filter, ConsumerOptions options) {
        Sinks.Empty<Void> ready = Sinks.empty();
        return new MessageFlux<>(consumersWithSessions.messages(filter, options, false, ready), ready);
    }

    /**
     * Like {@link #receive(String, ConsumerOptions)}, for several filters: a message that more than one of them matches is received once.
     *
     * @param filters topic filters, at least one, none of them shared
     * @param options the options of the consumer; not {@link ConsumerOptions#shared shared}
     * @return the messages, to be acknowledged by {@link ReceivedMessage#acknowledge()} in any order, on any thread
     * @throws io.smqtt.topic.InvalidTopicException if a text is not a topic filter
     * @throws IllegalArgumentException if there is no filter, or the consumer is to be shared
     */
    public MessageFlux<ReceivedMessage> receive(List<String> filters, ConsumerOptions options) {
        Sinks.Empty<Void> ready = Sinks.empty();
        List<TopicFilter> parsed = filters.stream().map(TopicFilter::of).toList();
        return new MessageFlux<>(consumersWithSessions.messages(parsed, options, ready), ready);
    }

    /**
     * Removes a durable consumer of this node, with its subscription and all messages that wait for it. The Flux of an
     * active one fails.
     *
     * @param name the name, see {@link ConsumerOptions#durable}
     * @return whether the consumer existed, when it is removed from the store. Fails with {@link IllegalStateException} if
     *     the store could not remove it; then it exists again after the next start. Nothing happens before subscription
     */
    public Mono<Boolean> removeConsumer(String name) {
        return fromEventLoops(sink -> consumersWithSessions.remove(name, sink));
    }

    /**
     * The sessions of this broker, online and offline.
     *
     * @return a weakly consistent view of the sessions at the time of subscription
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
                session.subscriptions().size(),
                session.inFlightCount(),
                session.queuedCount());
    }

    /**
     * The details of one session of this broker.
     *
     * @param clientId the client identifier
     * @return the details, read on the session's event loop; empty if there is no such session
     */
    public Mono<ClientDetails> client(String clientId) {
        return fromEventLoops(sink -> {
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
        session.subscriptions()
                .forEach(subscription -> filters.add(new ClientDetails.Filter(
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
     * Predicts what happens to a message, without publishing it: which filters match, who receives it, whether access rules
     * allow it, and how full the queues are. Authorizers are asked as for a PUBLISH; nothing is changed.
     *
     * @param topic a topic name
     * @param clientId the publishing client; null for the application
     * @return the prediction for a QoS 1 message without payload
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     */
    public Mono<Explanation> explain(String topic, @Nullable String clientId) {
        TopicName name = TopicName.of(topic);
        return fromEventLoops(
                sink -> sink.onCancel(explainer.explain(name, clientId).subscribe(sink::success, sink::error)));
    }

    /**
     * Ends the connection of a client with reason code 0x98; its session remains until it expires.
     *
     * @param clientId the client identifier
     * @return whether the client was connected
     */
    public Mono<Boolean> disconnect(String clientId) {
        return fromEventLoops(sink -> {
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
     * Events about clients, from the time of subscription on. Events without demand are dropped.
     *
     * @return the events, on event loops: consumers that block must switch to another thread
     */
    public Flux<BrokerEvent> events() {
        return Flux.defer(() -> closing.get() == null ? events.events() : Flux.error(new BrokerClosedException()));
    }

    /**
     * Reads access files, certificates and the files of modules again. A file that cannot be used leaves the former content
     * in force. Blocks: not for event loops.
     *
     * @return the changes
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

    /**
     * Forgets the answers of access backends, so that changes there are in force at once. {@link #reload()} does so, too.
     *
     * @return about how many there were
     * @throws BrokerClosedException if the broker is closed
     */
    public long clearAccessCache() {
        checkOpen();
        long count = 0;
        for (BrokerModule module : modules) {
            count += module.clearAccessCache();
        }
        return count;
    }

    /** Disconnects users who are no longer allowed to log in. */
    private void disconnect(Set<String> users) {
        if (users.isEmpty()) {
            return;
        }
        for (Session session : sessions.all()) {
            String user = session.client().userName();
            if (user != null && users.contains(user)) {
                session.execute(() -> {
                    if (user.equals(session.client().userName())) { // not taken over by another user
                        disconnect(session, ReasonCode.NOT_AUTHORIZED);
                    }
                });
            }
        }
    }

    /**
     * Stops the broker: refuses new connections, sends DISCONNECT 0x8B to MQTT 5.0 clients, flushes output, completes the
     * Fluxes of {@link #subscribe} and {@link #events}, then ends the event loops. Further calls share the first one's
     * shutdown and deadline.
     *
     * @param deadline time for clients to read their output and close the connection
     * @return completes when the shutdown is complete. A step that does not complete within 20 seconds, for instance of a
     *     store that hangs, is logged and abandoned. Nothing happens before subscription
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
