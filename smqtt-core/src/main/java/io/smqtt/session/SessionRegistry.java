// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DelayedConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.Will;
import io.smqtt.routing.Router;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All sessions of a broker by client identifier. A connection gets its session here after validation and authentication.
 * Claims of one client identifier are served one after the other on the event loop that owns the session, so that there is
 * one owner at any time. Thread-safe where a method says so.
 */
public final class SessionRegistry {

    private final Map<String, SessionResources.OwnSettings> ownSettings = new ConcurrentHashMap<>();
    private final SessionResources resources;
    private final RetainedKeeper retained;
    private final SessionServices services;
    private final SessionTable sessions;
    private final SessionClaims claims;
    private final @Nullable NodeQueues nodeQueues;
    private final Adoptions adoptions;
    private @Nullable DelayedMessages delayed;

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
                stores,
                new ExclusiveFilters(),
                ownSettings);
        retained = new RetainedKeeper(router, stores);
        DeliveryHistory history = new DeliveryHistory(ticker);
        services = new SessionServices(
                resources, new GroupQueues(resources, history), new WillPublisher(resources, retained), history);
        nodeQueues = stores == null ? null : new NodeQueues(stores.store(), stores.waits());
        sessions = new SessionTable(limits);
        claims = new SessionClaims(services, sessions);
        adoptions = new Adoptions(services, sessions, claims, retained);
    }

    /**
     * Gives a session settings of its own. Called before {@link #recover} and before its client connects.
     *
     * @param clientId its client identifier
     * @param limits its limits, in place of those of all sessions
     * @param config its drop policy, and whether messages of QoS 0 wait for it
     * @param share the part of the topics of its filters that it takes; null for all
     */
    public void limit(String clientId, LimitsConfig limits, SessionConfig config, @Nullable TopicShare share) {
        ownSettings.put(clientId, new SessionResources.OwnSettings(limits, config, share));
        if (share != null) {
            resources.router().index().topicsAreShared();
        }
    }

    /**
     * The filters of exclusive subscriptions.
     *
     * @return the filters of this node
     */
    @AnyThread
    public ExclusiveFilters exclusive() {
        return resources.exclusive();
    }

    /**
     * Creates the messages that are published later. Called once, before {@link #recover}.
     *
     * @param config their limits
     * @return the messages, for all publishers
     */
    public DelayedMessages delay(DelayedConfig config) {
        DelayedMessages messages = new DelayedMessages(resources, retained, config);
        delayed = messages;
        adoptions.delayed(messages);
        return messages;
    }

    /**
     * The messages that are published later.
     *
     * @return null before {@link #delay}
     */
    @AnyThread
    public @Nullable DelayedMessages delayed() {
        return delayed;
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
        SessionRecovery recovery = new SessionRecovery(services, sessions, claims, retained, nodeQueues, delayed);
        stores.store().recover(recovery);
        stores.open();
        recovery.finish();
        services.groups().recovered(!claims.hasLeftOut());
        if (delayed != null) {
            delayed.start();
        }
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

    /**
     * Finds a session.
     *
     * @param clientId a client identifier
     * @return null if there is none
     */
    @AnyThread
    public @Nullable Session find(String clientId) {
        return sessions.find(clientId);
    }

    /**
     * Whether the session of a client is in the store of this node, and did not fit into memory at the start.
     *
     * @param clientId a client identifier
     * @return false if it is found by {@link #find}, or there is none
     */
    @AnyThread
    public boolean hasLeftOut(String clientId) {
        return claims.hasLeftOut(clientId);
    }

    /**
     * All sessions. Weakly consistent.
     *
     * @return a view
     */
    @AnyThread
    public Collection<Session> all() {
        return sessions.all();
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
        return new ReplacingTransfer(services, sessions, claims.loopOf(state.clientId()), state, null);
    }

    /**
     * Begins the arrival of a session from another node, which is merged if the client has a session here.
     *
     * @param state the arriving session without its messages
     * @return the arrival, which takes the messages
     */
    @AnyThread
    public SessionArrival merge(SessionState state) {
        return claims.merge(state, null);
    }

    // --- stores of other nodes

    /**
     * Adopts the sessions of another node's store: they are absent sessions of this node, and stay in that store until their clients connect.
     * Blocks until the store was read; not on an event loop.
     *
     * @param home the other node
     * @param reign the number of the reign of this node over the store: later ones have greater numbers
     * @param store its store, which was not used yet
     * @return the store with its sessions; its {@link AdoptedStore#end} comes before the close of the store
     * @throws io.smqtt.spi.StoreDamagedException if the stored data cannot be read
     * @throws IllegalStateException if this broker has no store itself
     */
    public AdoptedStore adopt(String home, long reign, BrokerStore store) {
        return adoptions.adopt(home, reign, store);
    }

    /**
     * The adoption of other nodes' stores.
     *
     * @return the adoptions
     */
    @AnyThread
    public Adoptions adoptions() {
        return adoptions;
    }

    /**
     * Another node serves this node's store, which takes nothing any more: clients of its sessions are disconnected, and find no session here. Their
     * subscriptions stay until this broker ends, so that messages for them are refused.
     */
    @AnyThread
    public void loseStored() {
        Stores own = resources.stores();
        if (own != null) {
            new LostStore(resources, sessions, claims, own).end();
        }
    }

    /** Starts to record the messages that sessions take, and to number those of their clients, so that duplicates are recognized. */
    @AnyThread
    public void rememberTaken() {
        services.history().begin(resources.router().loops().size());
        Stores own = resources.stores();
        if (own != null) {
            own.numberExchanges(services.history());
        }
    }

    /**
     * Whether a member of a shared group on this node, or the queue of the group here, has taken a QoS 2 message, as far as that is recorded. Members in
     * adopted stores count.
     *
     * @param messageId the identifier of the message
     * @param group the group
     * @return false if that is not known
     */
    @AnyThread
    public boolean hasTaken(long messageId, SharedFilter group) {
        return TakenByGroups.hasTaken(services, messageId, group) || adoptions.hasTaken(messageId, group);
    }

    /**
     * Says whether a node is away whose sessions may return: more of the messages that sessions take is recorded meanwhile.
     *
     * @param away whether that is so now; called again and again, by one thread at a time
     */
    @AnyThread
    public void nodeAway(boolean away) {
        services.history().nodeAway(away);
    }

    /** Checks the subscriptions of all sessions again, after the access rules have changed. */
    @AnyThread
    public void recheckAll() {
        for (Session session : sessions.all()) {
            session.execute(session.subscriptions()::recheck);
        }
    }

    /**
     * Registers an observer of wills. Before clients connect.
     *
     * @param watch the observer
     */
    @AnyThread
    public void watchWills(WillWatch watch) {
        services.wills().watch(watch);
    }

    /**
     * Registers an observer of shared groups whose members here can take messages of other nodes. Before clients connect.
     *
     * @param watch the observer
     */
    @AnyThread
    public void watchGroups(GroupWatch watch) {
        services.groups().watch(watch);
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
        services.groups().handOver(group, node);
    }

    /**
     * Returns whether a connected member of a shared group on this node has room for messages of other nodes.
     *
     * @param group the group
     * @return true if there is one
     */
    @AnyThread
    public boolean canTakeMore(SharedFilter group) {
        return services.groups().hasTaker(group);
    }

    /**
     * Returns whether messages of a shared group wait on this node.
     *
     * @param group the group
     * @return true if one does; may be out of date
     */
    @AnyThread
    public boolean holds(SharedFilter group) {
        return services.groups().holds(group);
    }

    /**
     * Another node has a member of a shared group more: the observer of groups is notified if messages wait here.
     *
     * @param group the group
     */
    @AnyThread
    public void joinedElsewhere(SharedFilter group) {
        services.groups().joinedElsewhere(group);
    }

    /**
     * The number of messages in the queues of shared groups of this node.
     *
     * @return messages; may be out of date
     */
    @AnyThread
    public long queuedForGroups() {
        return services.groups().waiting();
    }

    /**
     * The footprint of the messages in the queues of shared groups of this node.
     *
     * @return bytes as counted by the limits; may be out of date
     */
    @AnyThread
    public long queuedBytesForGroups() {
        return services.groups().bytes();
    }

    /**
     * Delays wills of recovered sessions, since other nodes may have published them. Before {@link #recover}.
     *
     * @param wait the minimum delay
     */
    public void recoveredWillsWait(Duration wait) {
        services.wills().recoveredWillsWaitSeconds(wait.toSeconds());
    }

    /**
     * Publishes the will of a client of another node, if the client is authorized.
     *
     * @param client the client's identity, as far as it is known
     * @param will its will
     */
    @AnyThread
    public void publishInherited(ClientIdentity client, Will will) {
        services.wills().publishInherited(client, will);
    }

    /**
     * Discards a client's will here, because another node has published it or found that it must not be published.
     *
     * @param clientId a client identifier
     * @param will the will, the object that was passed to {@link WillWatch}; null for one that was found in the store
     */
    @AnyThread
    public void willSettledElsewhere(String clientId, @Nullable Will will) {
        Session session = sessions.find(clientId);
        if (session != null) {
            session.execute(() -> session.absence().settledElsewhere(will));
        }
    }
}
