// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.cluster.jgroups.JGroupsTransport;
import io.smqtt.cluster.relay.Relays;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.connection.ConnectionRelay;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Will;
import io.smqtt.session.GroupWatch;
import io.smqtt.session.NodeQueues;
import io.smqtt.session.WillWatch;
import io.smqtt.spi.ClientDirectory;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.MetricsSource;
import io.smqtt.spi.PeerQueries;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.RetainedVersions;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/**
 * Makes this broker a node of a cluster, as configured by {@link ClusterConfig}. Several modules in one JVM share nothing.
 *
 * <pre>{@code
 * Broker.builder().config(config).module(ClusterModule.of(config.cluster())).start();
 * }</pre>
 */
public final class ClusterModule implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(ClusterModule.class);
    /** The time in which a returning node is notified about its wills. */
    private static final Duration RECOVERED_WILLS = Duration.ofSeconds(20);

    /** Longer than other nodes need to detect a failed node. */
    private static final Duration NAMESAKE = Duration.ofSeconds(15);

    private static final Duration DRAIN = Duration.ofSeconds(2);
    private static final long POLL_MILLIS = 20;
    private static final String SYSTEM_TOPICS = "$SYS/";

    /** Each node publishes those of its own clients, for subscribers on all nodes. */
    private static final String CLIENT_EVENTS = "$SYS/brokers/";

    private final ClusterConfig config;
    private final String nodeId;
    private final String place; // what other nodes keep for this one is for it, whichever node holds it
    private final ClusterTransport transport;
    private final ClusterSettings settings;
    private final EventExecutor loop = new DefaultEventExecutor(new DefaultThreadFactory("smqtt-cluster", true));
    private final LoopWaits waits = new LoopWaits(loop);
    private final FoundRetained found = new FoundRetained();
    private final PeerQuestions questions = new PeerQuestions();
    private final Relays relays;
    private volatile @Nullable ClusterNode node;
    private volatile @Nullable Parks parks;
    private volatile ClusterStatus.State state = ClusterStatus.State.JOINING;
    private volatile @Nullable BrokerClients sessions;
    private volatile List<String> connectedAtStop = List.of();

    ClusterModule(ClusterConfig config, String nodeId, ClusterTransport transport, ClusterSettings settings) {
        this.config = config;
        this.nodeId = nodeId;
        this.place = Objects.requireNonNullElse(config.place(), nodeId);
        this.transport = transport;
        this.settings = settings;
        this.relays = Relays.of(config, nodeId);
    }

    /**
     * Creates the module with the configured transport.
     *
     * @param config the cluster's part of the configuration
     * @return a module for one broker
     * @throws ConfigurationException if the configuration is invalid
     */
    public static ClusterModule of(ClusterConfig config) {
        requireUsable(config);
        String configured = config.nodeId();
        String nodeId = configured == null ? config.bind() : configured;
        return new ClusterModule(config, nodeId, new JGroupsTransport(config, nodeId), ClusterSettings.defaults());
    }

    /**
     * Creates the module with another transport than the one of the configuration.
     *
     * @param config the cluster's part of the configuration, which names the node
     * @param transport carries frames to other nodes, for this module only
     * @return a module for one broker
     * @throws ConfigurationException if the configuration does not name the node
     */
    public static ClusterModule of(ClusterConfig config, ClusterTransport transport) {
        String nodeId = config.nodeId();
        if (nodeId == null) {
            throw new ConfigurationException("cluster.node-id: is required with a custom transport");
        }
        return new ClusterModule(config, nodeId, transport, ClusterSettings.defaults());
    }

    private static void requireUsable(ClusterConfig config) {
        List<String> problems = problems(config);
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
    }

    /**
     * Validates a configuration. Looks up the hosts at which this node is to be reached, and so may block.
     *
     * @param config the cluster's part of the configuration
     * @return the problems, one sentence each, which begins with the key and a colon; empty if it is valid
     */
    public static List<String> problems(ClusterConfig config) {
        List<String> problems = new ArrayList<>();
        boolean byName = config.discovery() != ClusterConfig.Discovery.STATIC;
        if (byName && config.seeds().isEmpty()) {
            problems.add("cluster.discovery: needs cluster.seeds, the host name that stands for all nodes");
        }
        BindAddress.check("cluster.bind", config.bind(), config.tls() != null, problems);
        String relay = config.relay().bind();
        if (relay != null) {
            BindAddress.check("cluster.relay.bind", relay, config.tls() != null, problems);
        }
        return problems;
    }

    /** The node once it was started, for tests. */
    @Nullable
    ClusterNode node() {
        return node;
    }

    @Override
    public String configurationKey() {
        return "cluster.enabled";
    }

    @Override
    public boolean holdsAcknowledgements() {
        return config.publishAck() == ClusterConfig.PublishAck.PEERS;
    }

    @Override
    public ClientDirectory clientDirectory() {
        return new Directory(loop, () -> node, config.subscribeSync() == ClusterConfig.SubscribeSync.ACKED);
    }

    @Override
    public PeerQueries peerQueries() {
        return questions;
    }

    @Override
    public RetainedVersions retainedVersions() {
        return found;
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.defer(() -> {
            long epoch = NodeIdentity.epoch(System.currentTimeMillis(), new Random());
            BrokerClients clients = new BrokerClients(core.sessions());
            Parks kept = parks(core);
            parks = kept;
            RouterPart routed = new RouterPart(core.router(), core.sessions(), holdsAcknowledgements());
            ClusterNode created = new ClusterNode(
                    new NodeIdentity(place, epoch),
                    transport,
                    loop,
                    core.ticker(),
                    System::currentTimeMillis,
                    settings,
                    routed,
                    clients,
                    core.observer(),
                    core.budget(),
                    kept,
                    metadata(),
                    new FrameGate(),
                    this::superseded);
            core.sessions().rememberTaken();
            GroupDeliveries deliveries = new GroupDeliveries(
                    questions,
                    names -> created.execute(
                            () -> names.accept(created.membership().keepers())),
                    routed::afterDelivered,
                    core.sessions()::hasTaken);
            deliveries.answer();
            core.router().earlierDeliveries(deliveries);
            core.sessions().watchWills(new LocalWills(created));
            core.sessions().watchGroups(new LocalGroups(created));
            sessions = clients;
            created.carry(questions);
            created.clients().servers().kept().ask(questions);
            node = created;
            AdoptedRoutes adopted = new AdoptedRoutes(created::localChange, created::execute);
            created.clients()
                    .servers()
                    .serve(adopted::announce, adopted::end, core.sessions().adoptions()::settled);
            created.clients()
                    .servers()
                    .observe(
                            core.sessions().adoptions()::sentOn, core.sessions().adoptions()::servedElsewhere);
            core.sessions().adoptions().watch(new LocalAdoptions(created));
            core.router().index().observe(new LocalRoutes(created, adopted));
            found.giveTo(created);
            LocalRetained local = new LocalRetained(created, found);
            core.router().retained().replicate(new RetainedOfOthers(created, holdsAcknowledgements()));
            core.router().retained().observe(local);
            local.foundAll();
            found.given(created);
            NodeQueues queues = core.sessions().nodeQueues();
            if (queues != null) {
                created.execute(
                        () -> kept.recover(queues, (queue, sinceNanos) -> recovered(created, queue, sinceNanos)));
            }
            created.start();
            FirstNodes first = new FirstNodes(nodeId, core.replicas(), created);
            return transport
                    .start(created)
                    .then(Mono.defer(() -> waits.until(firstRoutes(created, first)::isOver, FirstRoutes.TIMEOUT)))
                    .then(Mono.fromRunnable(() -> created.execute(first::keepForOthers)))
                    .then(alone(created))
                    .then(Mono.defer(() -> relays.start(
                            core.listeners(), loop, () -> created.view().peers(), () -> isReady(core))))
                    .doOnSuccess(done -> created.execute(() -> report(created)));
        });
    }

    private static FirstRoutes firstRoutes(ClusterNode created, FirstNodes first) {
        return new FirstRoutes(
                () -> (first.areKnown() && created.retained().catchUp().isOver()) || namesake(created) != null,
                created.membership()::withoutRoutes,
                first.longest(),
                System::nanoTime);
    }

    /** Whether load balancers are to send clients to this node, as {@code /health/ready} says it where there is one. */
    private boolean isReady(Core core) {
        MetricsSource health = core.metrics();
        Replicas replicas = core.replicas();
        return health == null
                ? status().isReady() && (replicas == null || replicas.own().serves())
                : health.ready().up();
    }

    private Parks parks(Core core) {
        NodeQueues queues = core.sessions().nodeQueues();
        ParkStore store = queues == null ? null : new ParkStore(queues, loop);
        return new Parks(
                ParkLimits.of(config, core.config().storage(), store != null),
                store,
                core.observer(),
                core.ticker()::nanoTime,
                new ParkLog(core.ticker()::nanoTime, new ParkAlarms(core.router(), core.ticker())));
    }

    private static void recovered(ClusterNode created, NodeQueues.Found found, long sinceNanos) {
        LOG.info(
                "{} messages are parked for node {}, which is unreachable",
                found.waiting().messages(),
                found.nodeId());
        created.membership().absent(found.nodeId(), sinceNanos, found.filters());
    }

    private static @Nullable String namesake(ClusterNode created) {
        String ahead = created.membership().duplicates().ahead();
        return ahead != null ? ahead : created.membership().duplicates().reported(created.nanoTime());
    }

    /** Completes when no other process has this node-id; fails if one has. */
    private Mono<Void> alone(ClusterNode created) {
        return Mono.create(sink -> {
            AtomicBoolean over = new AtomicBoolean();
            sink.onDispose(() -> over.set(true));
            try {
                loop.execute(() -> alone(created, sink, over, NAMESAKE.toMillis() / POLL_MILLIS));
            } catch (RejectedExecutionException e) {
                sink.success(); // the waiter is gone
            }
        });
    }

    /** A process that was only reported by another node may have ended, or be an earlier run of this node on another machine. */
    private void alone(ClusterNode created, MonoSink<Void> sink, AtomicBoolean over, long looks) {
        String namesake = namesake(created);
        if (namesake == null) {
            created.membership().joined();
            state = ClusterStatus.State.JOINED;
            sink.success();
        } else if (created.membership().duplicates().ahead() != null || looks <= 0) {
            sink.error(new ConfigurationException("cluster.node-id: " + nodeId + " is in use by the node at " + namesake
                    + ": each node needs a unique node-id"));
        } else if (!over.get() && !loop.isShuttingDown()) {
            loop.schedule(() -> alone(created, sink, over, looks - 1), POLL_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    /** Two processes with this node-id have met: the later one leaves the cluster. */
    private void superseded(String address) {
        ClusterNode running = node;
        LOG.error(
                "cluster.node-id: {} is also in use by the node at {}, which was started before: leaving the cluster;"
                        + " stop this node and set a unique node-id",
                nodeId,
                address);
        state = ClusterStatus.State.LEAVING;
        if (running != null) {
            running.leaving();
        }
        transport.stop().subscribe(done -> {}, failure -> LOG.warn("leaving the cluster failed", failure));
    }

    private void report(ClusterNode joined) {
        LOG.info(
                "joined the cluster as {}, reachable nodes: {}",
                joined.self(),
                joined.membership().reachable());
        boolean seeksOthers = config.seeds().stream().anyMatch(seed -> !seed.equals(config.bind()));
        if (joined.membership().reachable().isEmpty() && seeksOthers) {
            LOG.warn(
                    "no node found at {}: running alone until another node connects{}",
                    config.seeds(),
                    config.minMembers() > 1 ? ", not ready (cluster.min-members)" : "");
        }
    }

    private static String version() {
        String version = ClusterModule.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }

    private NodeMetadata metadata() {
        boolean front = config.role() == ClusterConfig.Role.FRONT;
        String name = place.equals(nodeId) ? "" : nodeId;
        return new NodeMetadata(version(), config.bind(), config.weight(), front, relays.address(), name);
    }

    @Override
    public @Nullable ConnectionRelay relay() {
        return relays.front();
    }

    @Override
    public ReloadResult reload() {
        try {
            relays.reload();
        } catch (ConfigurationException e) {
            LOG.debug("the files of cluster.tls cannot be used", e); // as the transport reports
        }
        return transport instanceof JGroupsTransport channel ? channel.reload() : ReloadResult.NOTHING;
    }

    @Override
    public void draining(Duration during) {
        state = ClusterStatus.State.LEAVING;
        relays.drain(loop, during.compareTo(config.drain()) < 0 ? during : config.drain());
        BrokerClients clients = sessions;
        if (clients != null) {
            connectedAtStop = clients.connected();
        }
    }

    @Override
    public Duration drainTime() {
        return config.drain();
    }

    /**
     * Returns the status of the cluster, as seen by this node.
     *
     * @return the status, at most one second old
     */
    @AnyThread
    public ClusterStatus status() {
        ClusterNode running = node;
        if (running == null) {
            NodeIdentity self = new NodeIdentity(place, 0);
            ClusterStatus.Node own = metadata().of(self, 0);
            return new ClusterStatus(
                    state,
                    own,
                    config.minMembers(),
                    List.of(),
                    new ClusterCounters().traffic(0),
                    ClusterStatus.Wills.NONE,
                    ClusterStatus.Retained.NONE,
                    Map.of(),
                    relays.status());
        }
        ClusterNode.View view = running.view();
        return new ClusterStatus(
                state,
                view.self(),
                config.minMembers(),
                view.peers(),
                running.counters().traffic(running.waitingBytes()),
                view.wills(),
                view.retained(),
                view.forgotten(),
                relays.status());
    }

    @Override
    public Supplier<ClusterStatus> cluster() {
        return this::status;
    }

    @Override
    public Mono<Void> handOver(Duration atMost) {
        return Mono.defer(() -> {
            ClusterNode running = node;
            BrokerClients clients = sessions;
            if (running == null || clients == null) {
                return Mono.empty();
            }
            Iterator<String> order = clients.drainOrder(connectedAtStop);
            if (!order.hasNext()) {
                return Mono.empty();
            }
            long began = System.nanoTime();
            Mono<SessionDrain.Result> drained = Mono.create(sink -> {
                running.execute(() -> running.clients().drain(order, sink::success));
            });
            Mono<SessionDrain.Result> stopped = Mono.create(
                    sink -> running.execute(() -> sink.success(running.clients().stopDrain())));
            return drained.timeout(atMost, stopped, Schedulers.parallel())
                    .doOnNext(result -> report(result, System.nanoTime() - began))
                    .then();
        });
    }

    private static void report(SessionDrain.Result result, long nanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
        if (result.kept() == 0) {
            LOG.info("handed {} sessions over to other nodes in {} ms", result.moved(), millis);
        } else if (result.alone()) {
            LOG.info(
                    "no other node is reachable: {} sessions remain on this node; those in memory end now",
                    result.kept());
        } else {
            LOG.warn(
                    "handed {} sessions over to other nodes in {} ms; {} remain on this node: stored ones are available"
                            + " when it returns, those in memory end now",
                    result.moved(),
                    millis,
                    result.kept());
        }
    }

    @Override
    public Mono<Void> stop() {
        return Mono.defer(() -> {
            relays.close();
            ClusterNode running = node;
            Mono<Void> drained = running == null ? Mono.empty() : waits.until(running::hasNothingToSend, DRAIN);
            Mono<Void> left = Mono.defer(() -> {
                if (running != null) {
                    running.leaving();
                }
                return transport.stop();
            });
            return drained.then(left)
                    .then(running == null ? Mono.empty() : waits.until(() -> stopped(running), DRAIN))
                    .then(Mono.fromRunnable(() -> {
                        if (running != null) {
                            running.stop();
                        }
                        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
                    }));
        });
    }

    /** The last task of the node on the cluster's loop. */
    private boolean stopped(ClusterNode running) {
        running.membership().all().forEach(member -> {
            ParkedMessages park = member.outbox().park();
            if (park.size() > 0) {
                LOG.warn(
                        park.isStored()
                                ? "stopping while {} messages are parked for node {}: they stay in the store"
                                : "stopping while {} messages are parked for node {}: they are lost, because there is no store",
                        park.size(),
                        member.nodeId());
            }
        });
        Parks all = parks;
        if (all != null) {
            all.flush();
        }
        return true;
    }

    /** Whether a topic or filter is below $SYS: each node has its own $SYS topics. */
    static boolean isOfThisNode(String topic) {
        return topic.startsWith(SYSTEM_TOPICS) && !topic.startsWith(CLIENT_EVENTS);
    }

    @Override
    public Duration recoveredWillsWait() {
        return RECOVERED_WILLS;
    }

    /** Reports the wills of this node's clients to the cluster. */
    private record LocalWills(ClusterNode node) implements WillWatch {

        @Override
        public void inForce(String clientId, @Nullable String userName, Will will, long expirySeconds) {
            node.execute(() -> node.clients().wills().inForce(clientId, userName, will, expirySeconds));
        }

        @Override
        public void gone(String clientId) {
            node.execute(() -> node.clients().wills().gone(clientId));
        }
    }

    /** Reports shared groups whose members can replace each other across nodes. */
    private record LocalGroups(ClusterNode node) implements GroupWatch {

        @Override
        public void wanted(SharedFilter group) {
            node.groups().wanted(group);
        }

        @Override
        public void held(SharedFilter group, boolean elsewhere) {
            node.groups().held(group, elsewhere);
        }
    }

    /** Reports the retained messages of this node to the cluster: first those that are there, then each that is stored. */
    private static final class LocalRetained implements Consumer<ApplicationMessage> {

        private final ClusterNode node;
        private final FoundRetained found;

        /** The thread that passes what was there, until all was passed: it may be an event loop, which stores messages later. */
        private volatile @Nullable Thread starter = Thread.currentThread();

        LocalRetained(ClusterNode node, FoundRetained found) {
            this.node = node;
            this.found = found;
        }

        void foundAll() {
            starter = null;
        }

        @Override
        public void accept(ApplicationMessage message) {
            if (isOfThisNode(message.topic().value())) {
                return;
            }
            if (Thread.currentThread() == starter) {
                found.giveTo(node, message);
            } else {
                node.localRetained(message);
            }
        }
    }
}
