// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.message.Will;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import reactor.core.Fuseable;
import reactor.core.publisher.Mono;

/**
 * All sessions of a broker by client identifier. A connection gets its session here after validation and authentication.
 * Claims of one client identifier are served one after the other on the event loop that owns the session, so that there is
 * one owner at any time. Thread-safe where a method says so.
 */
public final class SessionRegistry {

    /** The time limit of an authorizer's answer. After it access is denied, so that wills and revocations are not delayed for ever. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final SessionResources resources;
    private final RetainedKeeper retained;
    private final ConcurrentMap<String, Session> sessions = new ConcurrentHashMap<>();
    private final @Nullable UserSessions users;
    private final GroupQueues groups;
    private final SessionClaims claims;
    private final @Nullable NodeQueues nodeQueues;
    private volatile TakenMessages @Nullable [] taken;
    private volatile @Nullable WillWatch willWatch;
    private volatile long recoveredWillsWaitSeconds;

    /**
     * Creates a registry.
     *
     * @param router the router for messages of sessions
     * @param wheels the deadlines of each event loop, in the order of the router's loops
     * @param authorizer decides who may receive a message and whose will may be published
     * @param observer is notified of session events
     * @param ticker the broker's monotonic clock
     * @param limits limits of sessions
     * @param config the session settings
     * @param budget the budget of all queues together
     */
    public SessionRegistry(
            Router router,
            List<DeadlineWheel> wheels,
            Authorizer authorizer,
            BrokerObserver observer,
            Ticker ticker,
            LimitsConfig limits,
            SessionConfig config,
            QueueBudget budget) {
        this(router, wheels, authorizer, observer, ticker, limits, config, budget, null);
    }

    /**
     * Creates a registry whose sessions survive the process.
     *
     * @param router the router for messages of sessions
     * @param wheels the deadlines of each event loop, in the order of the router's loops
     * @param authorizer decides who may receive a message and whose will may be published
     * @param observer is notified of session events
     * @param ticker the broker's monotonic clock
     * @param limits limits of sessions
     * @param config the session settings
     * @param budget the budget of all queues together
     * @param stores the store of sessions with an expiry interval; null to keep them in memory
     */
    public SessionRegistry(
            Router router,
            List<DeadlineWheel> wheels,
            Authorizer authorizer,
            BrokerObserver observer,
            Ticker ticker,
            LimitsConfig limits,
            SessionConfig config,
            QueueBudget budget,
            @Nullable Stores stores) {
        resources = new SessionResources(
                router,
                List.copyOf(wheels),
                authorizer,
                observer,
                ticker,
                limits,
                config,
                budget,
                new SessionBudget(limits),
                stores);
        retained = new RetainedKeeper(router, stores);
        groups = new GroupQueues(resources);
        nodeQueues = stores == null ? null : new NodeQueues(stores.store(), stores.waits());
        users = limits.maxSessionsPerUser() > 0 ? new UserSessions(limits.maxSessionsPerUser()) : null;
        claims = new SessionClaims(resources, this, sessions, users);
    }

    /**
     * Restores the contents of the store. Blocks; called once, before clients connect, not on an event loop.
     *
     * @throws io.smqtt.spi.StoreDamagedException if the stored data cannot be read
     */
    public void recover() {
        Stores stores = resources.stores();
        if (stores == null) {
            return;
        }
        SessionRecovery recovery = new SessionRecovery(resources, this);
        stores.store().recover(recovery);
        stores.open();
        recovery.finish();
        groups.recovered(!claims.hasLeftOut());
    }

    /** Adds a recovered session. Returns an older one of its client that must be removed, or null. */
    @Nullable
    Session recovered(Session session) {
        session.charge().add(session.charge().weight());
        Session older = sessions.put(session.id(), session);
        if (users != null) {
            users.add(session);
        }
        return older;
    }

    /**
     * The queues of other nodes in the store.
     *
     * @return null without a store
     */
    @AnyThread
    public @Nullable NodeQueues nodeQueues() {
        return nodeQueues;
    }

    /**
     * The keeper of retained messages.
     *
     * @return the keeper, for all publishers
     */
    public RetainedKeeper retained() {
        return retained;
    }

    /**
     * The memory budget of sessions.
     *
     * @return the budget of all sessions of this node
     */
    public SessionBudget budget() {
        return resources.sessionBudget();
    }

    /** Reports a limit that was exceeded; null for none. Returns whether there was one. */
    boolean refused(@Nullable String limit) {
        if (limit != null) {
            resources.observer().sessionRefused(limit);
        }
        return limit != null;
    }

    /**
     * Finds a session.
     *
     * @param clientId a client identifier
     * @return null if there is none
     */
    @AnyThread
    public @Nullable Session find(String clientId) {
        return sessions.get(clientId);
    }

    /**
     * All sessions. Weakly consistent.
     *
     * @return a view
     */
    @AnyThread
    public Collection<Session> all() {
        return Collections.unmodifiableCollection(sessions.values());
    }

    /**
     * Gives a client its session: the existing one, or a new one. On the event loop of the connection; the reply comes
     * there, perhaps later.
     *
     * @param request the client's request
     */
    public void open(SessionRequest request) {
        claims.open(request);
    }

    /** The queues of shared groups. */
    GroupQueues groups() {
        return groups;
    }

    // --- between nodes

    /**
     * Serves a claim of another node: the connection here ends, and the session leaves unless it ends.
     *
     * @param clientId the client identifier
     * @param discard whether the session ends instead of leaving
     * @param userName the user of the client that claims it, or null
     * @param reply called once, on any thread
     */
    @AnyThread
    public void depart(String clientId, boolean discard, @Nullable String userName, SessionDeparture.Reply reply) {
        claims.depart(clientId, discard, userName, reply);
    }

    /**
     * Begins the arrival of a session from another node. It has no owner before {@link SessionArrival#install}.
     *
     * @param state the session without its messages
     * @return the arrival, which takes the messages
     */
    @AnyThread
    public SessionArrival arrive(SessionState state) {
        return new StoredArrival(resources, this, claims.loopOf(state.clientId()), state);
    }

    /**
     * Begins the arrival of a session from another node, which is merged if the client has a session here.
     *
     * @param state the arriving session without its messages
     * @return the arrival, which takes the messages
     */
    @AnyThread
    public SessionArrival merge(SessionState state) {
        Session here = sessions.get(state.clientId());
        if (here == null || here.hasEnded()) {
            return arrive(state);
        }
        boolean allowed = claims.mayClaim(state.userName(), here.client());
        boolean newer = state.claimClock() > here.claimClock();
        if (state.cleanClock() > here.claimClock() || (newer && !allowed)) {
            return arrive(state); // replaces the session here
        }
        boolean unwanted = here.life().cleanClock() > state.claimClock() || !allowed;
        return new MergingArrival(resources, this, here, state, unwanted);
    }

    /** Starts to record the messages that sessions take, so that duplicates are recognized. */
    @AnyThread
    public void rememberTaken() {
        TakenMessages[] all = new TakenMessages[resources.router().loops().size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = new TakenMessages();
        }
        taken = all;
    }

    /** The recorded messages of a loop's sessions; null if they are not recorded. */
    @Nullable
    TakenMessages taken(RoutingLoop loop) {
        TakenMessages[] all = taken;
        return all == null ? null : all[loop.index()];
    }

    /** Records a message that a session takes. */
    @OnEventLoop
    void remember(Session session, ApplicationMessage message, Subscription subscription) {
        TakenMessages[] all = taken;
        if (all != null && message.qos() != QoS.AT_MOST_ONCE && session.expirySeconds() > 0) {
            all[session.owner().index()].took(session.key(), TakenMessages.idOf(message, subscription));
        }
    }

    /** Whether a session is known to have taken a delivery; see {@link TakenMessages#idOf}. */
    @AnyThread
    boolean hasTaken(Session session, long deliveryId) {
        TakenMessages[] all = taken;
        if (all != null) {
            for (TakenMessages ofLoop : all) {
                if (ofLoop.knows(session.key(), deliveryId)) {
                    return true;
                }
            }
        }
        return false;
    }

    void remove(Session session) {
        sessions.remove(session.id(), session);
        if (users != null) {
            users.remove(session, session.client());
        }
    }

    /** Moves a session to another client's accounts. */
    void clientChanged(Session session, ClientIdentity previous) {
        if (users != null
                && !Objects.equals(previous.userName(), session.client().userName())) {
            users.remove(session, previous);
            users.add(session);
        }
    }

    /** The claims of client identifiers. */
    SessionClaims claims() {
        return claims;
    }

    @Nullable
    DeliveryCheck deliveryCheck(ClientIdentity client) {
        Authorizer authorizer = resources.authorizer();
        return authorizer.checksDeliveries() && !InProcess.isReserved(client.clientId())
                ? new DeliveryCheck(authorizer, client)
                : null;
    }

    /** Ends the subscriptions of a session that its client is no longer authorized for. */
    @OnEventLoop
    void recheck(Session session) {
        if (InProcess.isReserved(session.id())) {
            return;
        }
        List<Subscription> subscriptions =
                new ArrayList<>(session.subscriptions().size());
        session.subscriptions().forEach(subscriptions::add);
        for (Subscription subscription : subscriptions) {
            decide(
                            session.client(),
                            AccessAction.SUBSCRIBE,
                            subscription.filter().value(),
                            subscription.maximumQos(),
                            false)
                    .subscribe(decision -> {
                        if (decision != AccessDecision.ALLOW) {
                            session.execute(() -> revoke(session, subscription));
                        }
                    });
        }
    }

    private static void revoke(Session session, Subscription subscription) {
        TopicFilter filter = subscription.filter();
        if (session.subscriptions().get(filter, subscription.shareName()) == subscription) { // not a newer one
            session.subscriptions().unsubscribe(filter, subscription.shareName());
        }
    }

    /** Checks the subscriptions of all sessions again, after the access rules have changed. */
    @AnyThread
    public void recheckAll() {
        for (Session session : sessions.values()) {
            session.execute(() -> recheck(session));
        }
    }

    private Mono<AccessDecision> decide(
            ClientIdentity client, AccessAction action, String topic, QoS qos, boolean retain) {
        Mono<AccessDecision> answer = resources.authorizer().authorize(client, action, topic, qos, retain);
        Mono<AccessDecision> bounded = answer instanceof Fuseable.ScalarCallable ? answer : answer.timeout(PATIENCE);
        return bounded.onErrorReturn(AccessDecision.DENY).defaultIfEmpty(AccessDecision.DENY);
    }

    /** Publishes the will of a session if its client is authorized. A stored will is kept until the message is committed. */
    @OnEventLoop
    void publishWill(Session session, Will will) {
        RoutingLoop loop = session.owner();
        ApplicationMessage message =
                will.message().accepted(loop.nextMessageId(), resources.ticker().nanoTime(), session.id());
        session.absence().publishing(will);
        decide(session.client(), AccessAction.PUBLISH, message.topic().value(), message.qos(), message.retain())
                .subscribe(decision -> {
                    if (decision == AccessDecision.ALLOW) {
                        loop.executor().execute(() -> routeWill(loop, session, will, message));
                    } else {
                        session.execute(() -> session.absence().published(will));
                    }
                });
    }

    private void routeWill(RoutingLoop loop, Session session, Will will, ApplicationMessage message) {
        routeWill(loop, session.id(), message, willTicket(loop, session, will));
    }

    private void routeWill(RoutingLoop loop, String clientId, ApplicationMessage message, RouteTicket ticket) {
        if (message.retain()) { // [MQTT-3.1.2-15]
            retained.retain(loop, message, ticket);
        }
        resources.observer().willPublished(clientId);
        resources.router().route(loop, message, ticket);
        ticket.release(true);
    }

    /**
     * Registers an observer of wills. Before clients connect.
     *
     * @param watch the observer
     */
    @AnyThread
    public void watchWills(WillWatch watch) {
        willWatch = watch;
    }

    /**
     * Registers an observer of shared groups whose members here can take messages of other nodes. Before clients connect.
     *
     * @param watch the observer
     */
    @AnyThread
    public void watchGroups(GroupWatch watch) {
        groups.watch(watch);
    }

    /**
     * Hands messages of a shared group to another node, whose members have room for them. The number is limited to their
     * likely room.
     *
     * @param group the group
     * @param node the name of a node that has members of the group
     */
    @AnyThread
    public void handOver(SharedFilter group, String node) {
        groups.handOver(group, node);
    }

    /**
     * Returns whether a connected member of a shared group on this node has room for messages of other nodes.
     *
     * @param group the group
     * @return true if there is one
     */
    @AnyThread
    public boolean canTakeMore(SharedFilter group) {
        return groups.hasTaker(group);
    }

    /**
     * The number of messages in the queues of shared groups of this node.
     *
     * @return messages; may be out of date
     */
    @AnyThread
    public long queuedForGroups() {
        return groups.waiting();
    }

    /**
     * The footprint of the messages in the queues of shared groups of this node.
     *
     * @return bytes as counted by the limits; may be out of date
     */
    @AnyThread
    public long queuedBytesForGroups() {
        return groups.bytes();
    }

    @Nullable
    WillWatch willWatch() {
        return willWatch;
    }

    /**
     * Delays wills of recovered sessions, since other nodes may have published them. Before {@link #recover}.
     *
     * @param wait the minimum delay
     */
    public void recoveredWillsWait(Duration wait) {
        recoveredWillsWaitSeconds = wait.toSeconds();
    }

    long recoveredWillsWaitSeconds() {
        return recoveredWillsWaitSeconds;
    }

    /**
     * Publishes the will of a client of another node, if the client is authorized.
     *
     * @param client the client's identity, as far as it is known
     * @param will its will
     */
    @AnyThread
    public void publishInherited(ClientIdentity client, Will will) {
        ApplicationMessage message = will.message();
        long nowNanos = resources.ticker().nanoTime();
        List<RoutingLoop> loops = resources.router().loops();
        RoutingLoop loop = loops.get(Math.floorMod(client.clientId().hashCode(), loops.size()));
        decide(client, AccessAction.PUBLISH, message.topic().value(), message.qos(), message.retain())
                .subscribe(decision -> {
                    if (decision == AccessDecision.ALLOW) {
                        loop.executor().execute(() -> {
                            ApplicationMessage accepted =
                                    message.accepted(loop.nextMessageId(), nowNanos, client.clientId());
                            routeWill(loop, client.clientId(), accepted, RouteTicket.NONE);
                        });
                    }
                });
    }

    /**
     * Discards a client's will here, because another node has published it or found that it must not be published.
     *
     * @param clientId a client identifier
     * @param will the will, the object that was passed to {@link WillWatch}; null for one that was found in the store
     */
    @AnyThread
    public void willSettledElsewhere(String clientId, @Nullable Will will) {
        Session session = sessions.get(clientId);
        if (session != null) {
            session.execute(() -> session.absence().settledElsewhere(will));
        }
    }

    private RouteTicket willTicket(RoutingLoop loop, Session session, Will will) {
        Stores stores = resources.stores();
        return stores == null || !session.isStored()
                ? RouteTicket.NONE
                : new WillTicket(
                        () -> session.execute(() -> session.absence().published(will)),
                        stores.waits(),
                        stores.of(loop).isStable());
    }
}
