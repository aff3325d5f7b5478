// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.WriteBufferWaterMark;
import io.smqtt.access.AccessControl;
import io.smqtt.codec.DecoderLimits;
import io.smqtt.codec.PacketDecoder;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.connection.ClientLink;
import io.smqtt.connection.ClientLog;
import io.smqtt.connection.ConnectFlow;
import io.smqtt.connection.ConnectionFlows;
import io.smqtt.connection.ConnectionHandler;
import io.smqtt.connection.ConnectionLoop;
import io.smqtt.connection.ConnectionRelay;
import io.smqtt.connection.Disconnector;
import io.smqtt.connection.EnhancedFlow;
import io.smqtt.connection.FrontHandler;
import io.smqtt.connection.Interceptors;
import io.smqtt.connection.PublishFlow;
import io.smqtt.connection.RateLimits;
import io.smqtt.connection.SubscribeFlow;
import io.smqtt.connection.TopicRules;
import io.smqtt.message.PayloadMemory;
import io.smqtt.message.PayloadReader;
import io.smqtt.overload.OverloadWatch;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.session.Deadline;
import io.smqtt.session.DeadlineWheel;
import io.smqtt.session.DelayedMessages;
import io.smqtt.session.InProcess;
import io.smqtt.session.QueueBudget;
import io.smqtt.session.RetainedKeeper;
import io.smqtt.session.SessionRegistry;
import io.smqtt.session.StoreLoop;
import io.smqtt.session.Stores;
import io.smqtt.session.TopicShare;
import io.smqtt.spi.Bans;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.Observer;
import io.smqtt.spi.Ticker;
import io.smqtt.trace.TracedLoop;
import io.smqtt.trace.Traces;
import io.smqtt.transport.EventLoops;
import io.smqtt.transport.Listeners;
import io.smqtt.transport.MqttPipeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Creates and connects the parts of one broker. The only type that knows all of them. */
final class BrokerAssembly {

    private static final int EXPIRY_SWEEP_MILLIS = 1_000;
    private static final int EXPIRY_SWEEP_STEPS = 10_000;
    private static final int MATCH_SWEEP_MILLIS = 10_000;

    private final BrokerConfig config;
    private final EventStream events = new EventStream();
    private final List<CoreFeature> features = new ArrayList<>();
    private final Traces traces = new Traces();
    private final BrokerObserver observer;
    private final Ticker ticker;
    private final ClientLog log;
    private final AccessControl access;
    private final EventLoops eventLoops;
    private final OverloadWatch overload;
    private final Router router;
    private final SessionRegistry sessions;
    private final @Nullable Stores stores;
    private final RetainedKeeper retained;
    private final DelayedMessages delayed;
    private final QueueBudget budget;
    private final PayloadMemory payloads;
    private final ClientDirectory directory;
    private final RateLimits rates;
    private final TopicRules topicRules;
    private final ConnectionFlows flows;
    private final Map<EventLoop, ConnectionLoop> loops = new ConcurrentHashMap<>();
    private final WriteBufferWaterMark waterMark;
    private final Listeners listeners;
    private final @Nullable ConnectionRelay relay;

    BrokerAssembly(BrokerBuilder builder) {
        config = builder.config;
        ticker = builder.ticker;
        log = new ClientLog(config.access().logConnections());
        requireModules(builder);
        requireBans(builder);
        LimitsConfig limits = config.limits();
        List<Observer> observers = new ArrayList<>(builder.observers);
        observers.add(events);
        observers.add(traces);
        boolean publishesEvents = config.mqtt().eventMessages() || rulesReadEvents();
        if (publishesEvents) {
            ClientEvents clients = new ClientEvents();
            observers.add(clients);
            features.add(clients);
            MessageEvents messages = new MessageEvents();
            observers.add(messages);
            features.add(messages);
            AuthEvents decisions = new AuthEvents(loops.values());
            observers.add(decisions);
            features.add(decisions);
        }
        if (config.mqtt().sparkplugAware()) {
            features.add(new BirthCertificates());
        }
        observer = BrokerObserver.of(observers);
        access = AccessControl.open(
                config.access(), builder.authenticators, builder.authorizers, builder.accessChain, observer);
        if (publishesEvents) {
            access.sysNamesClients();
        }
        eventLoops = EventLoops.start(config.eventLoops(), config.nativeTransport());
        overload = new OverloadWatch(config.overload(), eventLoops.all(), observer);
        listeners = openListeners();
        router = new Router(
                eventLoops.all(),
                new SubscriptionIndex(config.mqtt().sharedStrategy()),
                new RetainedMessages(limits.maxRetainedMessages(), limits.maxRetainedBytes()),
                observer);
        budget = new QueueBudget(limits.maxTotalQueuedBytes());
        payloads = new PayloadMemory(limits.maxDirectPayloadBytes());
        if (builder.store != null) {
            builder.store.observe(observer);
        }
        rates = new RateLimits(config, ticker);
        List<StoreLoop> storeLoops = new ArrayList<>();
        List<DeadlineWheel> wheels = startLoops(budget, builder.store == null ? null : storeLoops);
        List<TracedLoop> traced = new ArrayList<>(router.loops());
        traced.addAll(loops.values());
        traces.observe(traced);
        stores = builder.store == null
                ? null
                : new Stores(builder.store, storeLoops, config.storage().sync() != StorageConfig.Sync.NONE);
        sessions = new SessionRegistry(
                router, wheels, access.authorizer(), observer, ticker, limits, config.session(), budget, stores);
        config.bridges().forEach(this::limit);
        if (config.mqtt().exclusiveSubscriptions()) {
            sessions.exclusive().enable();
        }
        retained = sessions.retained();
        retained.policies(config.retainedPolicies().values(), ticker);
        delayed = sessions.delay(config.delayed());
        directory = directory(builder);
        topicRules = new TopicRules(config);
        flows = flows(builder);
        relay = relay(builder);
        waterMark = new WriteBufferWaterMark(limits.maxOutboundBytes() / 2, limits.maxOutboundBytes());
    }

    /** Gives the sessions of a bridge their settings, and each of several its part of the topics. */
    private void limit(String name, BridgeConfig bridge) {
        int count = bridge.connections();
        LimitsConfig limits = InProcess.limits(
                config.limits(),
                Math.max(1, bridge.maxQueuedMessages() / count),
                Math.max(1, bridge.maxQueuedBytes() / count));
        SessionConfig settings = config.session().toBuilder()
                .dropPolicy(bridge.dropPolicy())
                .queueQos0(bridge.queueQos0() || bridge.start() == BridgeConfig.Start.LAZY)
                .build();
        for (int i = 0; i < count; i++) {
            sessions.limit(
                    InProcess.bridge(BridgeConfig.connectionName(name, i), bridge.isEach()),
                    limits,
                    settings,
                    count == 1 ? null : new TopicShare(i, count));
        }
    }

    private boolean rulesReadEvents() {
        return config.rules().values().stream().anyMatch(rule -> rule.sql().contains("$events/"));
    }

    /** Reads certificates; releases what was opened before if they cannot be used. */
    private Listeners openListeners() {
        try {
            return new Listeners(config, eventLoops, overload, observer, log, this::initialize);
        } catch (RuntimeException e) {
            access.close();
            eventLoops.dispose().subscribe();
            throw e;
        }
    }

    /** Rejects a configuration that requires modules which are missing. */
    private static void requireModules(BrokerBuilder builder) {
        Map<String, String> missing = new TreeMap<>(builder.config.requiredModules());
        if (builder.store != null) {
            missing.keySet().removeAll(Set.of("storage.kind", "storage.replicas"));
        }
        builder.modules.forEach(module -> missing.remove(module.configurationKey()));
        if (!missing.isEmpty()) {
            throw new ConfigurationException("the configuration needs modules that are not present: " + missing);
        }
    }

    private List<DeadlineWheel> startLoops(QueueBudget budget, @Nullable List<StoreLoop> storeLoops) {
        LimitsConfig limits = config.limits();
        DecoderLimits decoderLimits = new DecoderLimits(
                limits.maxConnectBytes(),
                limits.maxUserProperties(),
                limits.maxTopicBytes(),
                limits.maxTopicLevels(),
                limits.maxFiltersPerSubscribe());
        List<DeadlineWheel> wheels = new ArrayList<>();
        for (EventLoop eventLoop : eventLoops.all()) {
            RoutingLoop routing = router.loopOf(eventLoop);
            DeadlineWheel wheel = new DeadlineWheel(ticker);
            StoreLoop store = storeLoops == null
                    ? null
                    : new StoreLoop(
                            eventLoop,
                            wheel,
                            config.storage().sync() != StorageConfig.Sync.NONE,
                            config.storage().sync() == StorageConfig.Sync.SYNC);
            if (storeLoops != null && store != null) {
                storeLoops.add(store);
            }
            ConnectionLoop loop = new ConnectionLoop(
                    routing,
                    wheel,
                    new PacketDecoder(decoderLimits, new PayloadReader(payloads)),
                    budget,
                    overload,
                    store);
            boolean first = wheels.isEmpty();
            wheels.add(wheel);
            loops.put(eventLoop, loop);
            eventLoop.execute(() -> {
                wheel.runOn(eventLoop);
                loop.start();
                // drops remembered matches of former subscriptions, also on a loop that routes nothing
                new Sweep(wheel, MATCH_SWEEP_MILLIS, () -> router.forgetFormerMatches(routing)).arm();
                if (first) {
                    new Sweep(wheel, EXPIRY_SWEEP_MILLIS, () -> removeExpired(routing)).arm();
                    new Sweep(wheel, MATCH_SWEEP_MILLIS, rates::removeIdle).arm();
                }
            });
        }
        return wheels;
    }

    /** Removes expired retained messages, a limited number at a time. */
    private void removeExpired(RoutingLoop loop) {
        RetainedMessages messages = router.retained();
        int removed =
                messages.removeExpired(ticker.nanoTime(), EXPIRY_SWEEP_STEPS, topic -> retained.changed(loop, topic));
        if (removed > 0) {
            observer.retainedChanged(messages.count(), messages.bytes());
        }
    }

    /** Runs a task at its deadline, and arms itself again. */
    private static final class Sweep extends Deadline {

        private final DeadlineWheel wheel;
        private final int intervalMillis;
        private final Runnable task;

        Sweep(DeadlineWheel wheel, int intervalMillis, Runnable task) {
            this.wheel = wheel;
            this.intervalMillis = intervalMillis;
            this.task = task;
        }

        void arm() {
            wheel.arm(this, intervalMillis);
        }

        @Override
        protected void expired() {
            task.run();
            arm();
        }
    }

    private ConnectionFlows flows(BrokerBuilder builder) {
        Disconnector disconnector = new Disconnector(
                observer,
                ticker,
                config.limits().slowConsumerTimeout(),
                config.session().maxExpiry(),
                config.mqtt().serverReference(),
                log);
        List<EnhancedAuthenticator> methods = new ArrayList<>(builder.enhancedAuthenticators);
        for (EnhancedAuthenticator builtIn : access.enhancedAuthenticators()) {
            if (methods.stream().noneMatch(method -> method.method().equals(builtIn.method()))) {
                methods.add(builtIn);
            }
        }
        Interceptors interceptors = new Interceptors(builder.interceptors, observer);
        SubscribeFlow subscribe = new SubscribeFlow(
                config, router, access.authorizer(), interceptors, topicRules, directory, sessions.exclusive());
        ConnectFlow connect = new ConnectFlow(
                config,
                interceptors,
                bans(builder),
                access.authenticator(),
                new EnhancedFlow(methods, disconnector, observer),
                access.authorizer(),
                directory,
                sessions,
                subscribe,
                observer,
                disconnector,
                rates,
                overload);
        PublishFlow publish = new PublishFlow(
                config,
                router,
                retained,
                delayed,
                access.authorizer(),
                interceptors,
                topicRules,
                ticker,
                observer,
                stores != null || builder.modules.stream().anyMatch(BrokerModule::holdsAcknowledgements));
        return new ConnectionFlows(connect, publish, subscribe, disconnector);
    }

    private static void requireBans(BrokerBuilder builder) {
        if (builder.config.access().bans().isOn() && ofModules(builder) == Bans.NONE) {
            throw new ConfigurationException(
                    "access.bans", "needs the module smqtt-admin, which keeps bans, and management.enabled: true");
        }
    }

    private static Bans ofModules(BrokerBuilder builder) {
        return builder.modules.stream().map(BrokerModule::bans).reduce(Bans.NONE, Bans::or);
    }

    private static Bans bans(BrokerBuilder builder) {
        return builder.bans.or(ofModules(builder));
    }

    private static ClientDirectory directory(BrokerBuilder builder) {
        if (builder.directory != ClientDirectory.LOCAL) {
            return builder.directory;
        }
        for (BrokerModule module : builder.modules) {
            ClientDirectory kept = module.clientDirectory();
            if (kept != null) {
                return kept;
            }
        }
        return ClientDirectory.LOCAL;
    }

    private static @Nullable ConnectionRelay relay(BrokerBuilder builder) {
        for (BrokerModule module : builder.modules) {
            ConnectionRelay elsewhere = module.relay();
            if (elsewhere != null) {
                return elsewhere;
            }
        }
        return null;
    }

    private void initialize(Channel channel, ClientLink link) {
        channel.config().setWriteBufferWaterMark(waterMark);
        ConnectionLoop loop = loops.get(channel.eventLoop());
        if (loop == null) {
            throw new IllegalStateException("the connection is on an event loop of another broker");
        }
        ConnectionRelay elsewhere = relay;
        channel.pipeline()
                .addLast(
                        MqttPipeline.MQTT,
                        elsewhere == null || link.vouched() != null
                                ? new ConnectionHandler(loop, flows, link)
                                : new FrontHandler(loop, flows, link, elsewhere, observer));
    }

    BrokerParts parts() {
        return new BrokerParts(
                config,
                ticker,
                observer,
                events,
                access,
                eventLoops,
                router,
                sessions,
                stores,
                retained,
                budget,
                payloads,
                directory,
                topicRules,
                listeners,
                traces,
                overload,
                features,
                loops.values().stream().map(ConnectionLoop::traffic).toList());
    }
}
