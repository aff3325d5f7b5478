// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.routing.Router;
import io.smqtt.session.DelayedMessages;
import io.smqtt.session.ExclusiveFilters;
import io.smqtt.session.Session;
import io.smqtt.spi.Alarm;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.ManagementStatus;
import io.smqtt.spi.MetricsSource;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.Rules;
import io.smqtt.spi.Sources;
import io.smqtt.spi.TrafficCounts;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Metrics, health and status topics of one broker. It is a module and an observer:
 *
 * <pre>{@code
 * MetricModule metrics = MetricModule.create(config);
 * Broker.builder().config(config).observer(metrics.observer()).module(metrics).start();
 * }</pre>
 */
@AnyThread
public final class MetricModule implements BrokerModule, MetricsSource {

    private static final BrokerFigures NONE = new BrokerFigures(0, 0, 0, 0, Map.of(), 0, 0, 0, 0, 0, 0, 0, 0);

    private final ManagementConfig config;
    private final MeterRegistry registry;
    private final PrometheusMeterRegistry scraped;
    private final PushRegistries pushed;
    private final BrokerMeters meters;
    private final Health health;
    private final ProcessMeters process = new ProcessMeters();
    private final List<Runnable> refreshes =
            new CopyOnWriteArrayList<>(); // of meters that come and go with rules and sources
    private final Disposable.Composite following = Disposables.composite();
    private final List<LoopProbe> probes = new ArrayList<>(); // not changed after the start
    private volatile @Nullable StatusTopics topics;
    private volatile @Nullable AlarmWatch alarms;
    private volatile @Nullable NodeMeters nodes;
    private volatile @Nullable Supplier<BrokerFigures> figures;
    private @Nullable Future<?> refreshing;

    private MetricModule(BrokerConfig broker) {
        config = broker.management();
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        scraped = prometheus;
        pushed = new PushRegistries(broker);
        List<MeterRegistry> all = new ArrayList<>(pushed.all());
        all.add(prometheus);
        registry = all.size() == 1 ? prometheus : new CompositeMeterRegistry(Clock.SYSTEM, all);
        meters = new BrokerMeters(registry, broker.listeners().keySet(), StoreMeters.directory(broker.storage()));
        health = new Health(meters.store(), meters.backends(), meters.overload());
        gauge(
                        "smqtt.ready",
                        "1 if /health/ready says that clients can be sent here",
                        () -> health.ready().up() ? 1 : 0)
                .register(registry);
    }

    /**
     * Creates the module; nothing is sent yet.
     *
     * @param config the configuration of the broker
     * @return for one broker
     * @throws io.smqtt.config.ConfigurationException if the library of a configured registry is missing
     */
    public static MetricModule create(BrokerConfig config) {
        return new MetricModule(config);
    }

    /**
     * Returns the observer that counts the events of the broker.
     *
     * @return for {@link io.smqtt.BrokerBuilder#observer}
     */
    public BrokerObserver observer() {
        return meters;
    }

    @Override
    public MetricsSource metrics() {
        return this;
    }

    @Override
    public String scrape() {
        NodeMeters ofNodes = nodes;
        if (ofNodes != null) {
            ofNodes.refresh();
        }
        refreshes.forEach(Runnable::run);
        return scraped.scrape();
    }

    @Override
    public BrokerFigures figures() {
        Supplier<BrokerFigures> source = figures;
        return source == null ? NONE : source.get();
    }

    @Override
    public HealthReport live() {
        return health.live();
    }

    @Override
    public HealthReport ready() {
        return health.ready();
    }

    @Override
    public List<Alarm> alarms() {
        AlarmWatch watch = alarms;
        return watch == null ? List.of() : watch.snapshot();
    }

    /**
     * Returns the registry of all meters, for other exporters and for meters of an application.
     *
     * @return the registry of {@code /metrics} and of the push receivers
     */
    public MeterRegistry registry() {
        return registry;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.<Void>fromRunnable(() -> begin(core)).subscribeOn(Schedulers.boundedElastic());
    }

    private void begin(Core core) {
        Supplier<ClusterStatus> cluster = core.cluster();
        if (cluster != null) {
            ClusterMeters.bindTo(registry, cluster);
            NodeMeters ofNodes = new NodeMeters(registry, cluster);
            nodes = ofNodes;
            refreshing = core.router()
                    .loops()
                    .get(0)
                    .executor()
                    .scheduleAtFixedRate(ofNodes::refresh, 0, 1, TimeUnit.SECONDS);
            health.cluster(cluster);
        }
        Bridges bridges = core.bridges();
        if (bridges != null) {
            BridgeMeters.bindTo(registry, bridges, core.config().bridges());
            health.bridges(bridges);
        }
        Rules rules = core.rules();
        if (rules != null) {
            RuleMeters ofRules = new RuleMeters(registry, rules::status);
            core.config()
                    .rules()
                    .forEach((name, rule) -> rule.actions().keySet().forEach(action -> ofRules.add(name, action)));
            follow(ofRules::refresh);
            health.rules(rules);
        }
        Sources sources = core.sources();
        if (sources != null) {
            SourceMeters ofSources = new SourceMeters(registry, sources::status);
            core.config().sources().keySet().forEach(ofSources::add);
            follow(ofSources::refresh);
            health.sources(sources);
        }
        Replicas replicas = core.replicas();
        if (replicas != null) {
            ReplicaMeters.bindTo(registry, replicas);
            health.replicas(replicas);
        }
        Supplier<ManagementStatus> management = core.management();
        if (management != null) {
            bindTo(management, registry);
        }
        pushed.start();
        Router router = core.router();
        SessionTotals totals = new SessionTotals(core.sessions(), core.ticker());
        long waiting = core.sessions().queuedForGroups();
        for (Session session : core.sessions().all()) {
            waiting += session.queuedCount();
        }
        meters.messages().recovered(waiting);
        bindTo(core, totals, registry);
        figures = () -> figures(core, totals);
        process.bindTo(registry);
        for (int i = 0; i < router.loops().size(); i++) {
            LoopProbe probe = new LoopProbe(router.loops().get(i).executor(), i, registry);
            probes.add(probe);
            probe.start();
        }
        health.watch(List.copyOf(probes));
        StatusPublisher publisher = config.sysInterval().isZero() ? null : new StatusPublisher(core);
        if (publisher != null) {
            StatusTopics written = new StatusTopics(core, publisher, meters, totals::get, version());
            topics = written;
            written.start(config.sysInterval());
        }
        AlarmWatch watch = new AlarmWatch(core, meters, probes, publisher);
        alarms = watch;
        watch.bindTo(registry);
        watch.start();
    }

    /** Refreshes meters once a second, and before each scrape. */
    private void follow(Runnable refresh) {
        refreshes.add(refresh);
        following.add(Schedulers.parallel().schedulePeriodically(refresh, 1, 1, TimeUnit.SECONDS));
    }

    private BrokerFigures figures(Core core, SessionTotals totals) {
        MessageCounts messages = meters.messages();
        SessionTotals.Totals sums = totals.recent();
        return new BrokerFigures(
                messages.received(),
                messages.receivedBytes(),
                messages.delivered(),
                messages.deliveredBytes(),
                messages.droppedByReason(),
                meters.connections().accepted(),
                meters.connections().online(),
                core.sessions().all().size(),
                core.router().index().ownSize(),
                core.router().index().ownGroups(),
                core.router().retained().count(),
                sums.queued(),
                sums.inFlight());
    }

    private static void bindTo(Supplier<ManagementStatus> port, MeterRegistry registry) {
        Map<String, Function<ManagementStatus, ManagementStatus.Connections>> classes = Map.of(
                "known", ManagementStatus::known,
                "probe", ManagementStatus::probes,
                "other", ManagementStatus::others);
        classes.forEach((name, of) -> {
            gauge(
                            "smqtt.management.connections.active",
                            "open connections of the management port, by their last request: of a known caller, a health probe, or another one",
                            () -> of.apply(port.get()).open())
                    .tag("caller", name)
                    .register(registry);
            FunctionCounter.builder(
                            "smqtt.management.connections.closed",
                            port,
                            status -> of.apply(status.get()).closed())
                    .description("connections of the management port closed to make room for others of their class")
                    .tag("caller", name)
                    .register(registry);
        });
        FunctionCounter.builder(
                        "smqtt.management.requests.refused",
                        port,
                        status -> status.get().refusedRequests())
                .description("requests of known callers answered with 503, because the maximum number was in progress")
                .register(registry);
    }

    static void bindTo(Core core, SessionTotals totals, MeterRegistry registry) {
        Router router = core.router();
        gauge(
                        "smqtt.connections.pending",
                        "connections before CONNACK",
                        () -> core.listeners().pendingCount())
                .register(registry);
        gauge(
                        "smqtt.connections.pending.memory",
                        "memory of connections before CONNACK, as it counts against limits.max-pending-bytes",
                        () -> core.listeners().pendingBytes())
                .baseUnit("bytes")
                .register(registry);
        gauge(
                        "smqtt.sessions.active",
                        "sessions, online and offline",
                        () -> core.sessions().all().size())
                .register(registry);
        gauge(
                        "smqtt.sessions.memory",
                        "memory of sessions, as it counts against limits.max-total-session-bytes",
                        () -> core.sessions().budget().bytes())
                .baseUnit("bytes")
                .register(registry);
        gauge(
                        "smqtt.sessions.left.out",
                        "stored sessions that did not fit into memory at the start, and stay in the store",
                        () -> core.sessions().budget().leftOut())
                .register(registry);
        gauge(
                        "smqtt.subscriptions.active",
                        "subscriptions of this node's clients, shared ones included",
                        () -> router.index().ownSize())
                .register(registry);
        gauge(
                        "smqtt.subscriptions.groups",
                        "shared groups with a member on this node",
                        () -> router.index().ownGroups())
                .register(registry);
        gauge(
                        "smqtt.subscriptions.exclusive",
                        "exclusive subscriptions of this node's clients",
                        () -> core.sessions().exclusive().count())
                .register(registry);
        FunctionCounter.builder(
                        "smqtt.subscriptions.exclusive.refused",
                        core.sessions().exclusive(),
                        ExclusiveFilters::refusals)
                .description("exclusive subscriptions that were refused because another client had one")
                .register(registry);
        gauge(
                        "smqtt.messages.inflight",
                        "messages sent to subscribers and not yet acknowledged",
                        () -> totals.get().inFlight())
                .register(registry);
        gauge(
                        "smqtt.messages.held",
                        "messages above the queue limits of in-process consumers, whose publishers wait",
                        () -> core.budget().held())
                .register(registry);
        gauge(
                        "smqtt.messages.waiting",
                        "messages in the queues of sessions",
                        () -> totals.get().queued())
                .register(registry);
        gauge(
                        "smqtt.retained.messages",
                        "retained messages",
                        () -> router.retained().count())
                .register(registry);
        gauge(
                        "smqtt.retained.memory",
                        "memory of retained messages",
                        () -> router.retained().bytes())
                .baseUnit("bytes")
                .register(registry);
        DelayedMessages delayed = core.sessions().delayed();
        if (delayed != null) {
            gauge("smqtt.delayed.messages", "messages that wait for the time of their publication", delayed::count)
                    .register(registry);
            gauge("smqtt.delayed.memory", "memory of these messages", delayed::bytes)
                    .baseUnit("bytes")
                    .register(registry);
            FunctionCounter.builder("smqtt.delayed.published", delayed, DelayedMessages::published)
                    .description("delayed messages that were published in their time")
                    .register(registry);
            FunctionCounter.builder("smqtt.delayed.refused", delayed, DelayedMessages::refused)
                    .description("delayed messages that a limit of delayed messages refused")
                    .register(registry);
            FunctionCounter.builder("smqtt.delayed.cancelled", delayed, DelayedMessages::cancelled)
                    .description("delayed messages that operators have cancelled")
                    .register(registry);
        }
        gauge(
                        "smqtt.queue.memory",
                        "memory of queues and in-flight messages, as it counts against limits.max-total-queued-bytes",
                        () -> core.budget().bytes())
                .baseUnit("bytes")
                .register(registry);
        gauge(
                        "smqtt.payload.memory",
                        "memory of network buffers whose payloads are in use, as it counts against"
                                + " limits.max-direct-payload-bytes",
                        () -> core.payloads().bytes())
                .baseUnit("bytes")
                .register(registry);
        gauge(
                        "smqtt.queue.size",
                        "bytes of the messages in the queues of sessions, those on disk included",
                        () -> totals.get().queuedBytes())
                .baseUnit("bytes")
                .register(registry);
        gauge(
                        "smqtt.wills.waiting",
                        "wills that wait for their Will Delay Interval",
                        () -> totals.get().wills())
                .register(registry);
        traffic(core, "smqtt.packets.received", "packets of every kind from clients", TrafficCounts::receivedPackets)
                .register(registry);
        traffic(core, "smqtt.packets.sent", "packets of every kind to clients", TrafficCounts::sentPackets)
                .register(registry);
        traffic(
                        core,
                        "smqtt.traffic.received",
                        "MQTT bytes from clients, without TLS and WebSocket",
                        TrafficCounts::receivedBytes)
                .baseUnit("bytes")
                .register(registry);
        traffic(
                        core,
                        "smqtt.traffic.sent",
                        "MQTT bytes to clients, without TLS and WebSocket",
                        TrafficCounts::sentBytes)
                .baseUnit("bytes")
                .register(registry);
        rates(core, registry);
    }

    private static void rates(Core core, MeterRegistry registry) {
        for (TrafficCounts.Limit limit : TrafficCounts.Limit.values()) {
            traffic(
                            core,
                            "smqtt.reads.postponed",
                            "reads that wait because a rate of messages or bytes is exceeded, or because of overload",
                            counts -> counts.postponedReads(limit))
                    .tag("limit", limit.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
        FunctionCounter.builder(
                        "smqtt.accept.pauses", core, from -> from.listeners().acceptPauses())
                .description("pauses of a listener whose max-connect-rate is exceeded, or because of overload")
                .register(registry);
    }

    private static FunctionCounter.Builder<Core> traffic(
            Core core, String name, String description, ToLongFunction<TrafficCounts> count) {
        return FunctionCounter.builder(name, core, from -> sum(from, count)).description(description);
    }

    /** The sums over all event loops. */
    static long sum(Core core, ToLongFunction<TrafficCounts> count) {
        return core.traffic().stream().mapToLong(count).sum();
    }

    private static Gauge.Builder<?> gauge(String name, String description, Supplier<Number> value) {
        return Gauge.builder(name, value).description(description);
    }

    static String version() {
        String version = MetricModule.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    @Override
    public void listening() {
        health.listening();
    }

    @Override
    public void draining() {
        health.draining();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(() -> {
                    StatusTopics status = topics;
                    if (status != null) {
                        status.stop();
                    }
                    AlarmWatch watch = alarms;
                    if (watch != null) {
                        watch.stop();
                    }
                    following.dispose();
                    probes.forEach(LoopProbe::stop);
                    if (refreshing != null) {
                        refreshing.cancel(false);
                    }
                    process.close();
                })
                .then(pushed.close());
    }
}
