// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.Broker;
import io.smqtt.BrokerClosedException;
import io.smqtt.BrokerModule;
import io.smqtt.Explanation;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.Subscription;
import io.smqtt.session.DelayedMessages;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.WaitingMessage;
import io.smqtt.spi.Alarm;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.BrokerFigures;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.MetricsSource;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.Rules;
import io.smqtt.spi.Sources;
import io.smqtt.spi.SubscribeRequest;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import io.smqtt.transport.Listeners;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The operator's view of one broker, as records. {@code ctl}, the management port and the actuator endpoint show it. It is a
 * module of the broker. Lists are read in parts of at most {@link #MAX_ENTRIES}, on a thread of their own.
 */
@AnyThread
public final class BrokerView implements BrokerModule {

    /** Maximum size of an explanation as JSON, in bytes. Clients choose identifiers and filters of up to 64 KiB. */
    public static final int MAX_BYTES = 8 << 20;

    /** Maximum number of entries of a list. */
    public static final int MAX_ENTRIES = 10_000;

    /** The name of a broker that is not a node of a cluster. */
    public static final String ALONE = "smqtt";

    /** Topics below it are the broker's own: no operator sees or changes their messages by topic. */
    private static final String HIDDEN = "$smqtt/";

    /** Lists are read on one thread of their own, one after the other. */
    private static final int WAITING_LISTS = 64;

    private volatile @Nullable Core core;
    private volatile boolean running;
    private final Scheduler lists = Schedulers.newBoundedElastic(1, WAITING_LISTS, "smqtt-management-lists", 60, true);

    /** Creates the view of a broker that is about to start. */
    public BrokerView() {}

    @Override
    public Mono<Void> start(Core started) {
        return Mono.fromRunnable(() -> core = started);
    }

    @Override
    public void listening() {
        running = true;
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            running = false;
            core = null;
            lists.dispose();
        });
    }

    /**
     * Tells whether the broker runs.
     *
     * @return true from the binding of all listeners until the stop
     */
    public boolean isRunning() {
        return running;
    }

    /**
     * Returns the broker, for actions.
     *
     * @return the running broker
     * @throws BrokerClosedException if none runs
     */
    public Broker broker() {
        return core().broker();
    }

    private Core core() {
        Core now = core;
        if (now == null || !running) {
            throw new BrokerClosedException("the broker does not run");
        }
        return now;
    }

    /**
     * Returns the name of this node.
     *
     * @return its name in the cluster; {@link #ALONE} if the broker is not a node of a cluster
     */
    public String nodeName() {
        ClusterStatus status = clusterStatus();
        return status == null ? ALONE : status.self().nodeId();
    }

    /**
     * Returns the version of the program.
     *
     * @return the version; {@code dev} if it was not packaged
     */
    public String version() {
        String version = BrokerView.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }

    /**
     * Returns the limits of the broker.
     *
     * @return the limits of its configuration
     * @throws BrokerClosedException if none runs
     */
    public LimitsConfig limits() {
        return core().config().limits();
    }

    /**
     * Returns the state of the cluster as this node sees it.
     *
     * @return the current state; null if the broker is not a node of a cluster
     */
    public @Nullable ClusterStatus clusterStatus() {
        Core now = core;
        Supplier<ClusterStatus> status = now == null ? null : now.cluster();
        return status == null ? null : status.get();
    }

    /**
     * Reads all meters. Takes some milliseconds.
     *
     * @return lines in the text format of Prometheus; null if the broker has no module with meters
     */
    public @Nullable String scrape() {
        MetricsSource metrics = source();
        return metrics == null ? null : metrics.scrape();
    }

    /**
     * Checks whether the process works.
     *
     * @return the result; up if the broker has no module with health checks
     */
    public HealthReport live() {
        MetricsSource metrics = source();
        return metrics == null ? new HealthReport(true, Map.of()) : metrics.live();
    }

    /**
     * Checks whether clients can connect.
     *
     * @return the result; up while the broker runs if it has no module with health checks
     */
    public HealthReport ready() {
        MetricsSource metrics = source();
        return metrics == null ? new HealthReport(running, Map.of()) : metrics.ready();
    }

    /**
     * Reads the main figures.
     *
     * @return the figures; null if the broker has no module with meters
     */
    public @Nullable BrokerFigures figures() {
        MetricsSource metrics = source();
        return metrics == null ? null : metrics.figures();
    }

    /**
     * Returns the alarms of this node.
     *
     * @return those that last, then the latest that have ended; none if the broker has no module with health checks
     */
    public List<Alarm> alarms() {
        MetricsSource metrics = source();
        return metrics == null ? List.of() : metrics.alarms();
    }

    /**
     * Reads the traffic of all clients.
     *
     * @return packets and bytes since the start
     * @throws BrokerClosedException if none runs
     */
    public Traffic traffic() {
        return Traffic.of(core().traffic());
    }

    private @Nullable MetricsSource source() {
        Core now = core;
        return now == null ? null : now.metrics();
    }

    /**
     * Explains where a message would go, without publishing one.
     *
     * @param topic the topic name
     * @param clientId the publisher; null for the application
     * @return the expected result for a message of QoS 1
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     * @throws BrokerClosedException if none runs
     */
    public Mono<Bounded<Explanation>> explain(String topic, @Nullable String clientId) {
        return broker().explain(topic, clientId).map(found -> SizeLimit.of(found, MAX_BYTES));
    }

    private void forEachSubscription(Consumer<? super Subscription> visitor) {
        Core now = core;
        if (now != null) {
            now.router().index().forEach(subscription -> {
                if (!subscription.subscriber().isRelay()) {
                    visitor.accept(subscription);
                }
            });
        }
    }

    /** A list that is read on the thread of lists. */
    private <T> Mono<T> list(Callable<T> reading) {
        return Mono.fromCallable(reading)
                .subscribeOn(lists)
                .onErrorMap(RejectedExecutionException.class, error -> new BrokerBusyException());
    }

    /**
     * Lists a part of the sessions of clients, online and offline.
     *
     * @param cut the part
     * @param filter selects sessions by what is known on any thread: without keep alive, expiry and sizes
     * @return the part, read on the event loops of the sessions
     * @throws BrokerClosedException if none runs
     */
    public Mono<Slice<ClientRow>> clients(Cut cut, Predicate<? super ClientRow> filter) {
        Core now = core();
        return list(() -> {
                    Selection<Session> selection = new Selection<>(
                            cut, one -> ListRoom.bytes(one.id(), one.client().userName()));
                    for (Session session : now.sessions().all()) {
                        if (!InProcess.isReserved(session.id()) && filter.test(SessionRows.glance(session))) {
                            selection.add(Selection.hash(session.id(), null, null), session);
                        }
                    }
                    return selection.build();
                })
                .flatMap(found -> SessionRows.read(found.rows(), lists).map(found::with))
                .onErrorMap(RejectedExecutionException.class, error -> new BrokerBusyException());
    }

    /**
     * Returns one session of a client.
     *
     * @param clientId the client identifier
     * @return its row; empty if there is none
     * @throws BrokerClosedException if none runs
     */
    public Mono<ClientRow> row(String clientId) {
        Session session =
                InProcess.isReserved(clientId) ? null : core().sessions().find(clientId);
        return session == null
                ? Mono.empty()
                : SessionRows.read(List.of(session), Schedulers.immediate())
                        .flatMap(rows -> rows.isEmpty() ? Mono.empty() : Mono.just(rows.get(0)));
    }

    private SessionSteering steering(String clientId) {
        if (InProcess.isReserved(clientId)) {
            throw new IllegalArgumentException("the consumer of an application is not for operators");
        }
        return new SessionSteering(core());
    }

    /**
     * Ends the connection of a client.
     *
     * @param clientId the client identifier
     * @param keepSession whether its session remains until it expires
     * @return whether something was ended; empty if there is no such session
     * @throws BrokerClosedException if none runs
     */
    public Mono<Boolean> end(String clientId, boolean keepSession) {
        return steering(clientId).end(clientId, keepSession);
    }

    /**
     * Lists the subscriptions of a client.
     *
     * @param clientId the client identifier
     * @return the subscriptions; empty if there is no such session
     * @throws BrokerClosedException if none runs
     */
    public Mono<List<SubscriptionInfo>> subscriptionsOf(String clientId) {
        return steering(clientId).subscriptions(clientId);
    }

    /**
     * Subscribes for a client. Access rules do not apply.
     *
     * @param clientId the client identifier
     * @param request the subscription
     * @return the granted quality of service, or an error; empty if there is no such session
     * @throws BrokerClosedException if none runs
     */
    public Mono<ReasonCode> subscribe(String clientId, SubscribeRequest request) {
        return steering(clientId).subscribe(clientId, request);
    }

    /**
     * Ends a subscription of a client.
     *
     * @param clientId the client identifier
     * @param filter the filter, without share name
     * @param shareName the group of a shared subscription, or null
     * @return whether there was one; empty if there is no such session
     * @throws BrokerClosedException if none runs
     */
    public Mono<Boolean> unsubscribe(String clientId, TopicFilter filter, @Nullable String shareName) {
        return steering(clientId).unsubscribe(clientId, filter, shareName);
    }

    /**
     * Lists the oldest messages of a client.
     *
     * @param clientId the client identifier
     * @param inFlight whether those in flight are listed, not those in the queue
     * @param most maximum number of messages
     * @return the messages, of a stored queue those in memory; empty if there is no such session
     * @throws BrokerClosedException if none runs
     */
    public Mono<List<WaitingMessage>> messagesOf(String clientId, boolean inFlight, int most) {
        return steering(clientId).messages(clientId, inFlight, most);
    }

    /**
     * Lists a part of the subscriptions of this node, without the routes of other nodes.
     *
     * @param cut the part
     * @param filter selects subscriptions
     * @return the part
     * @throws BrokerClosedException if none runs
     */
    public Mono<Slice<SubscriptionInfo>> subscriptions(Cut cut, Predicate<? super Subscription> filter) {
        core();
        return list(() -> {
            Selection<Subscription> selection =
                    new Selection<>(cut, one -> ListRoom.bytes(one.subscriber().id(), one.clientFilter()));
            forEachSubscription(one -> {
                if (!InProcess.isReserved(one.subscriber().id()) && filter.test(one)) {
                    long hash =
                            Selection.hash(one.subscriber().id(), one.filter().value(), one.shareName());
                    selection.add(hash, one);
                }
            });
            Slice<Subscription> found = selection.build();
            List<SubscriptionInfo> rows =
                    found.rows().stream().map(SubscriptionInfo::of).toList();
            return found.with(rows);
        });
    }

    /**
     * Lists a part of the filters that clients of this node have subscribed to, each once.
     *
     * @param cut the part
     * @param filter selects filters, as a client writes them
     * @return the part
     * @throws BrokerClosedException if none runs
     */
    public Mono<Slice<String>> filters(Cut cut, Predicate<? super String> filter) {
        core();
        return list(() -> {
            Set<String> all = new HashSet<>();
            forEachSubscription(one -> all.add(one.clientFilter()));
            Selection<String> selection = new Selection<>(cut, ListRoom::bytes);
            all.forEach(one -> {
                if (filter.test(one)) {
                    selection.add(Selection.hash(one, null, null), one);
                }
            });
            return selection.build();
        });
    }

    /**
     * Lists a part of the shared groups that have members or waiting messages on this node.
     *
     * @param cut the part
     * @param filter selects groups
     * @return the part
     * @throws BrokerClosedException if none runs
     */
    public Mono<Slice<SharedGroupInfo>> sharedGroups(Cut cut, Predicate<? super SharedFilter> filter) {
        SharedGroups groups = new SharedGroups(core());
        return list(() -> groups.list(cut, filter));
    }

    /**
     * Tells whether a topic is one of the broker's own, whose messages no operator sees or changes by topic.
     *
     * @param topic a topic name
     * @return true below {@code $smqtt/}
     */
    public static boolean isHidden(String topic) {
        return topic.startsWith(HIDDEN);
    }

    /**
     * Lists a part of the retained messages, by topic.
     *
     * @param filter a topic filter
     * @param skip number of messages before the part
     * @param limit maximum number of messages
     * @return the part; its total is that of all filters
     * @throws BrokerClosedException if none runs
     */
    public Mono<Slice<ApplicationMessage>> retained(TopicFilter filter, int skip, int limit) {
        RetainedView view = new RetainedView(core());
        return list(() -> view.list(filter, skip, limit));
    }

    /**
     * Returns the retained message of a topic.
     *
     * @param topic a topic name
     * @return the message; null if there is none
     * @throws BrokerClosedException if none runs
     */
    public @Nullable ApplicationMessage retained(TopicName topic) {
        return isHidden(topic.value()) ? null : new RetainedView(core()).get(topic);
    }

    /**
     * Removes retained messages, on all nodes. Subscribers are not notified.
     *
     * @param filter a topic filter
     * @return the number of removed messages, at most 100,000
     * @throws BrokerClosedException if none runs
     */
    public Mono<Integer> removeRetained(TopicFilter filter) {
        RetainedView view = new RetainedView(core());
        return list(() -> view.first(filter))
                .flatMapMany(Flux::fromIterable)
                .concatMap(message -> view.remove(message.topic()).thenReturn(1))
                .reduce(0, Integer::sum);
    }

    /**
     * Returns the messages of this node that are published later.
     *
     * @return the messages; lists are to be read by {@link #onListThread}
     * @throws BrokerClosedException if none runs
     */
    public DelayedMessages delayed() {
        return Objects.requireNonNull(core().sessions().delayed(), "set before the broker starts");
    }

    /**
     * Reads something that takes time, on the thread of lists.
     *
     * @param reading what is read
     * @param <T> type of the result
     * @return the result; empty if it is null
     */
    public <T> Mono<T> onListThread(Callable<T> reading) {
        return list(reading);
    }

    /**
     * Returns the wall clock time at which a message was accepted.
     *
     * @param message a message of this broker
     * @return milliseconds since 1970
     * @throws BrokerClosedException if none runs
     */
    public long acceptedAtMillis(ApplicationMessage message) {
        long ageNanos = core().ticker().nanoTime() - message.acceptedAtNanos();
        return System.currentTimeMillis() - TimeUnit.NANOSECONDS.toMillis(ageNanos);
    }

    /**
     * Describes the listeners, and starts and stops them.
     *
     * @return the listeners of the running broker
     * @throws BrokerClosedException if none runs
     */
    public Listeners listeners() {
        return core().listeners();
    }

    /**
     * Describes the bridges, and starts and stops them.
     *
     * @return the bridges of the running broker; null if it has none
     * @throws BrokerClosedException if none runs
     */
    public @Nullable Bridges bridgesHere() {
        return core().bridges();
    }

    /**
     * Describes the rules.
     *
     * @return the rules of the running broker; null if it has none
     * @throws BrokerClosedException if none runs
     */
    public @Nullable Rules rulesHere() {
        return core().rules();
    }

    /**
     * Describes the sources.
     *
     * @return the sources of the running broker; null if it has none
     * @throws BrokerClosedException if none runs
     */
    public @Nullable Sources sourcesHere() {
        return core().sources();
    }

    /** {@return the replicas of stores on this node; none if the broker holds none, or none runs} */
    public List<ReplicaStatus> replicasHere() {
        Replicas held = heldReplicas();
        return held == null ? List.of() : held.status();
    }

    /** {@return the node by its place, where these differ; see {@link Replicas#holders}} */
    public Map<String, String> places() {
        Replicas held = heldReplicas();
        return held == null ? Map.of() : held.holders();
    }

    /** {@return the stores that this node holds replicas of; null if it holds none, or none runs} */
    public @Nullable Replicas heldReplicas() {
        Core now = core;
        return now == null ? null : now.replicas();
    }

    /**
     * Returns the configuration.
     *
     * @return the configuration of the running broker
     * @throws BrokerClosedException if none runs
     */
    public BrokerConfig config() {
        return core().config();
    }

    /**
     * Counts what exists on this node, without reading lists.
     *
     * @return the current counts
     * @throws BrokerClosedException if none runs
     */
    public NodeCounts counts() {
        Core now = core();
        return new NodeCounts(
                now.sessions().all().size(),
                now.listeners().connectedCount(),
                now.router().index().ownSize(),
                now.router().retained().count());
    }
}
