// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The state that a client and the broker share beyond one network connection (MQTT 5.0, section 4.1). A session is owned
 * by the event loop of its connection, or of its last one; all methods run there unless they say otherwise. It changes
 * loops only when a client takes it over ({@link SessionMove}).
 */
@OnEventLoop
public final class Session implements Subscriber {

    private final SessionResources resources;
    private final SessionRegistry registry;
    private final String clientId;
    private volatile RoutingLoop owner;

    // valid for the session
    private final SubscriptionTable subscriptions = new SubscriptionTable();
    private final SessionAbsence absence;
    private @Nullable OutboundFlow outbound;
    private @Nullable InboundFlow inbound;
    private @Nullable SessionMove move;
    private @Nullable SessionMove hold;

    /** Marks of messages that came by another node, and may come here as well. */
    private @Nullable Set<Long> cameElsewhere;

    private volatile long claimClock;
    private boolean beginsClean;
    private volatile long cleanClock;
    private final long key;
    private @Nullable SharedMember member;
    private @Nullable SessionOpening opening;
    private final @Nullable ConsumerPressure pressure;
    private final @Nullable SessionRecord record;
    private final boolean durable;

    /** What it holds by {@link SessionBudget}, and of which user that is. Written by the event loop alone. */
    private volatile int heapBytes;

    private volatile short user;

    /** The part of it that is counted while the client is away. */
    private int flowBytes;

    private volatile boolean begun;
    private volatile boolean ended;

    // valid for the connection; the client stays until the next one
    private volatile @Nullable PacketSink sink;
    private @Nullable DeliveryCheck check;
    private volatile ClientIdentity client;

    Session(SessionResources resources, SessionRegistry registry, SessionRequest request) {
        this.resources = resources;
        this.registry = registry;
        this.client = request.client();
        this.clientId = client.clientId();
        this.key = RecentMarks.newKey();
        this.beginsClean = request.cleanStart();
        this.owner = request.loop();
        this.pressure = pressure(clientId, owner, resources);
        this.absence = new SessionAbsence(this, resources, registry, request.expirySeconds());
        this.durable = request.expirySeconds() > 0;
        Stores stores = resources.stores();
        this.record = stores == null || request.expirySeconds() == 0
                ? null
                : new SessionRecord(this, resources, stores, stores.store().newSession(), new StoredQueue(1, 1, 0, 0));
    }

    /** A session that comes from another node, and is not stored. */
    Session(
            SessionResources resources,
            SessionRegistry registry,
            RoutingLoop owner,
            ClientIdentity client,
            long expirySeconds) {
        this.resources = resources;
        this.registry = registry;
        this.client = client;
        this.clientId = client.clientId();
        this.key = RecentMarks.newKey();
        this.owner = owner;
        this.pressure = pressure(clientId, owner, resources);
        this.absence = new SessionAbsence(this, resources, registry, expirySeconds);
        this.durable = true;
        this.record = null;
    }

    /** A session that was found in the store. */
    Session(
            SessionResources resources,
            SessionRegistry registry,
            RoutingLoop owner,
            ClientIdentity client,
            StoredSession stored,
            StoredQueue waiting) {
        this.resources = resources;
        this.registry = registry;
        this.client = client;
        this.clientId = client.clientId();
        this.key = RecentMarks.newKey();
        this.owner = owner;
        this.pressure = pressure(clientId, owner, resources);
        this.absence = new SessionAbsence(this, resources, registry, stored.expirySeconds());
        this.durable = true;
        absence.recovered(stored.will());
        this.begun = true;
        Stores stores = Objects.requireNonNull(resources.stores());
        this.record = new SessionRecord(this, resources, stores, stored.number(), waiting);
        record.recovered(stored);
    }

    @Override
    @AnyThread
    public String id() {
        return clientId;
    }

    @Override
    @AnyThread
    public RoutingLoop owner() {
        return owner;
    }

    @Override
    @AnyThread
    public boolean isOnline() {
        return sink != null;
    }

    @Override
    @AnyThread
    public boolean isDurable() {
        return durable;
    }

    @Override
    @AnyThread
    public boolean mayHold() {
        return record != null || pressure != null;
    }

    private static @Nullable ConsumerPressure pressure(String id, RoutingLoop loop, SessionResources resources) {
        if (!InProcess.isReserved(id)) {
            return null;
        }
        resources.router().ticketsAreHeld();
        return new ConsumerPressure(id, InProcess.limits(resources.limits()), loop.executor(), resources.budget());
    }

    /**
     * The back-pressure of a consumer in this process. Never changes.
     *
     * @return null if the session is a client's
     */
    @AnyThread
    public @Nullable ConsumerPressure pressure() {
        return pressure;
    }

    /** The limits of this session's queue. */
    @AnyThread
    LimitsConfig limits() {
        return pressure == null ? resources.limits() : pressure.limits();
    }

    /**
     * Tells whether the session survives the broker's process. Never changes.
     *
     * @return false without a store, and for a session that began without an expiry interval
     */
    @AnyThread
    public boolean isStored() {
        return record != null;
    }

    /** Whether this is the session's event loop, and it is not on its way from another one. */
    boolean isHere() {
        return move == null && owner.executor().inEventLoop();
    }

    @Nullable
    SessionRecord record() {
        return record;
    }

    @Override
    @AnyThread
    public int inFlightCount() {
        OutboundFlow flow = outbound;
        return flow == null ? 0 : flow.inFlightCount();
    }

    /**
     * Who the client is, or was when it was last connected.
     *
     * @return the identity
     */
    @AnyThread
    public ClientIdentity client() {
        return client;
    }

    /**
     * Tells whether the session is over.
     *
     * @return true once it was removed from the registry
     */
    @AnyThread
    public boolean hasEnded() {
        return ended;
    }

    /**
     * Runs a task on the session's event loop, also if the session moves to another one meanwhile.
     *
     * @param task what is to be done
     */
    @AnyThread
    public void execute(Runnable task) {
        RoutingLoop current = owner;
        current.executor().execute(() -> {
            if (owner != current) {
                execute(task);
            } else if (move != null) {
                move.afterwards(() -> execute(task));
            } else {
                task.run();
            }
        });
    }

    // --- messages to the client

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        if (cameElsewhere(message)) {
            return;
        }
        if (move != null) {
            move.hold(message, subscription, ticket);
        } else if (hold != null && subscription.shareName() == null) {
            hold.holdOrRefuse(message, subscription, ticket);
        } else {
            take(message, subscription, ticket);
        }
    }

    @Override
    public void deliverForwarded(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        take(message, subscription, ticket);
    }

    private boolean cameElsewhere(ApplicationMessage message) {
        boolean known = cameElsewhere != null && message.mark() != 0 && cameElsewhere.remove(message.mark());
        if (known) {
            resources.observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
        }
        return known;
    }

    /** Messages with these marks are not taken again; null for none. */
    void cameElsewhere(@Nullable Set<Long> marks) {
        cameElsewhere = marks;
    }

    /** Marks that were set before are not looked at any more. */
    void cameElsewhereNoMore(Set<Long> marks) {
        if (cameElsewhere == marks) { // not one of a later move
            cameElsewhere = null;
        }
    }

    void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (cameElsewhere(message)) {
            return;
        }
        if (subscription.shareName() != null && (ended || sink == null)) {
            takeAbsent(message, subscription, ticket);
        } else if (ended) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, 1);
        } else {
            remember(message);
            outbound().deliver(message, subscription, ticket);
            absence.awaitExpiryOf(message);
        }
    }

    /** A message of a shared group came when the client had gone: it is for others, or waits in the queue of the group. */
    private void takeAbsent(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        registry.groups().add(owner, message, subscription, ticket);
    }

    /** A message that came by another node is taken; what comes here as well is for {@link #cameElsewhere}. */
    void takeMerged(ApplicationMessage message, Subscription subscription) {
        Set<Long> marks = cameElsewhere;
        cameElsewhere = null; // it is the one that has come elsewhere
        try {
            take(message, subscription, RouteTicket.NONE);
        } finally {
            cameElsewhere = marks;
        }
    }

    /** A message that other nodes may send here once more is known from now on. */
    void remember(ApplicationMessage message) {
        if (message.qos() != QoS.AT_MOST_ONCE) {
            RecentMarks marks = registry.recentMarks(owner);
            if (marks != null && absence.expirySeconds() > 0) {
                marks.took(key, message);
            }
        }
    }

    /** The number of this session, which no other one in this process has. */
    long key() {
        return key;
    }

    /** What goes to the client, if anything ever did. */
    @Nullable
    OutboundFlow outboundOrNull() {
        return outbound;
    }

    OutboundFlow outbound() {
        OutboundFlow flow = outbound;
        if (flow == null) {
            flow = new OutboundFlow(this, resources, record == null ? null : record.queue(), pressure);
            outbound = flow;
            PacketSink current = sink;
            if (current == null) {
                weighFlows();
            } else {
                flow.attach(current, check);
            }
        }
        return flow;
    }

    /** Begins or continues to send what waits, after CONNACK and SUBACK, and when the socket takes data again. */
    public void start() {
        assert owner.executor().inEventLoop();
        if (outbound != null) {
            outbound.pump();
        }
        if (member != null && sink != null) {
            member.arrived();
        }
    }

    /**
     * Sends the retained messages that a new subscription asked for, as the client's window allows.
     *
     * @param cursor the retained messages
     * @param subscription the subscription, with retain as published: the packets carry the retain flag [MQTT-3.3.1-8]
     */
    public void deliverRetained(RetainedCursor cursor, Subscription subscription) {
        assert owner.executor().inEventLoop();
        outbound().deliverRetained(cursor, subscription);
        outbound().pump();
    }

    /**
     * A PUBACK.
     *
     * @param packetId the packet identifier
     * @param reason the reason code; the message ends with an error, too
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubAck(int packetId, ReasonCode reason) {
        assert owner.executor().inEventLoop();
        return taken(outbound == null ? AcknowledgementOutcome.UNKNOWN : outbound.acknowledged(packetId, reason));
    }

    /**
     * A PUBREC; the PUBREL follows unless the reason is an error.
     *
     * @param packetId the packet identifier
     * @param reason the reason code
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubRec(int packetId, ReasonCode reason) {
        assert owner.executor().inEventLoop();
        return taken(outbound == null ? AcknowledgementOutcome.UNKNOWN : outbound.received(packetId, reason));
    }

    /**
     * A PUBCOMP.
     *
     * @param packetId the packet identifier
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubComp(int packetId) {
        assert owner.executor().inEventLoop();
        return taken(outbound == null ? AcknowledgementOutcome.UNKNOWN : outbound.completed(packetId));
    }

    private AcknowledgementOutcome taken(AcknowledgementOutcome outcome) {
        gatherMore();
        return outcome;
    }

    // --- messages from the client

    /**
     * The receiver's half of QoS 2.
     *
     * @return the flow
     */
    public InboundFlow inbound() {
        InboundFlow flow = inbound;
        if (flow == null) {
            flow = new InboundFlow();
            inbound = flow;
        }
        return flow;
    }

    /**
     * A QoS 2 message of the client has been routed. What subscribers store of it and the identifier become safe together.
     *
     * @param loop the event loop of the connection that the message came by, where this is called
     * @param packetId 1 to 65,535
     * @param operations what subscribers store of it
     * @param ticket is held until all is safe
     */
    public void storeReceived(StoreLoop loop, int packetId, Iterable<JointOperation> operations, RouteTicket ticket) {
        if (record != null) {
            record.received(loop, packetId, operations, ticket);
        }
    }

    /**
     * A QoS 2 message of the client was released [MQTT-4.3.3-11].
     *
     * @param packetId 1 to 65,535
     * @param waits whether this client waits for the store
     * @param stable whether it waits for stable storage
     * @param then what follows when the store has forgotten the identifier; at once in a session that is not stored
     */
    public void release(int packetId, boolean waits, boolean stable, Runnable then) {
        assert owner.executor().inEventLoop();
        boolean known = inbound().released(packetId);
        if (record == null) {
            then.run();
        } else if (known) {
            record.released(packetId, waits, stable, then);
        } else { // released before, but maybe not yet forgotten
            record.await(waits, stable, kept -> then.run());
        }
    }

    /**
     * Tells when everything that was changed up to now is safe: at once in a session that is not stored.
     *
     * @param callback is told
     */
    public void afterCommit(CommitCallback callback) {
        if (record == null) {
            callback.committed(true);
        } else {
            record.await(callback);
        }
    }

    // --- what it holds

    /** What the session holds by {@link HeapWeight}, as it was charged. */
    int heapBytes() {
        return heapBytes;
    }

    /** What the session takes without its subscriptions. */
    int weight() {
        ClientIdentity who = client;
        return HeapWeight.session(clientId, who.userName(), who.roles(), record != null)
                + HeapWeight.will(absence.will());
    }

    /** The user that is charged with it. */
    short user() {
        return user;
    }

    /** The limit that stands against the session when it begins, maybe in the place of another one; null if none does. */
    @Nullable
    String refusal(long weight, @Nullable Session replaced) {
        return refusal(
                resources.sessionBudget(), replaced, weight, client.userName(), isShared(absence.expirySeconds()));
    }

    /** The same for a session that was found in the store, and was let in before. */
    @Nullable
    String refusalOfStored(long weight) {
        return refusal(resources.sessionBudget(), null, weight, client.userName(), false);
    }

    /** The limit that stands against so many bytes more of a session that was found in the store; null if none does. */
    @Nullable
    String refusalOfRest(int more) {
        return refusal(resources.sessionBudget(), this, heapBytes + (long) more, client.userName(), false);
    }

    /**
     * The limit that stands against a session of a user in the place of another one; null if none does.
     *
     * @param replaced what goes, which may be the session itself as it is; null for nothing
     */
    @AnyThread
    static @Nullable String refusal(
            SessionBudget budget, @Nullable Session replaced, long weight, @Nullable String userName, boolean shared) {
        short user = budget.user(userName);
        return replaced == null
                ? budget.refusal(0, user, weight, user, shared)
                : budget.refusal(replaced.heapBytes, replaced.user, weight, user, shared);
    }

    /** Whether limits hold that keep clients from each other: for a client that leaves something behind. */
    private boolean isShared(long expirySeconds) {
        return expirySeconds > 0 && pressure == null;
    }

    /** Counts what the session holds more, or less. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written by the event loop alone
    void charge(int change) {
        if (ended) {
            return; // everything was given back
        }
        SessionBudget budget = resources.sessionBudget();
        if (heapBytes == 0) {
            user = budget.user(client.userName());
        }
        heapBytes += change;
        budget.add(change, user);
    }

    /**
     * Counts what is kept for messages while the client is away: when it leaves, and when the first message comes after that.
     * While it is connected that is a small part of its connection, which other limits are for.
     */
    private void weighFlows() {
        int room = inbound == null ? 0 : inbound.room();
        int weight = sink == null && !ended ? HeapWeight.flows(outbound != null, room) : 0;
        if (weight != flowBytes) {
            charge(weight - flowBytes);
            flowBytes = weight;
        }
    }

    /** The session has ended: nothing of it counts any more. Before {@link #ended} is set. */
    private void release() {
        charge(-heapBytes);
    }

    /** The session is of another client, maybe of another user, from now on. */
    private void rechargeClient(ClientIdentity newClient) {
        ClientIdentity before = client;
        client = newClient;
        if (!Objects.equals(before.userName(), newClient.userName())
                || !before.roles().equals(newClient.roles())) {
            boolean stored = record != null;
            SessionBudget budget = resources.sessionBudget();
            short now = budget.user(newClient.userName());
            budget.move(heapBytes, user, now);
            user = now;
            charge(HeapWeight.session(clientId, newClient.userName(), newClient.roles(), stored)
                    - HeapWeight.session(clientId, before.userName(), before.roles(), stored));
        }
    }

    /**
     * Tells whether the session may have one more subscription by the limits in bytes. If not the observer is told.
     *
     * @param filter the filter
     * @param shareName the group of a shared subscription, or null
     * @return false if a limit stands against it
     */
    public boolean hasRoomFor(TopicFilter filter, @Nullable String shareName) {
        long weight = heapBytes + (long) HeapWeight.subscription(filter.value(), shareName);
        return !registry.refused(refusal(weight, this));
    }

    /** The limit that stands against the client of a request, with its will in the place of the present one; null if none does. */
    private @Nullable String refusal(SessionRequest request) {
        ClientIdentity next = request.client();
        long weight = heapBytes
                - (long) flowBytes
                - weight()
                + HeapWeight.session(clientId, next.userName(), next.roles(), record != null)
                + HeapWeight.will(request.will());
        return refusal(resources.sessionBudget(), this, weight, next.userName(), isShared(request.expirySeconds()));
    }

    // --- subscriptions

    /**
     * Makes or replaces a subscription.
     *
     * @param subscription a subscription of this session
     * @return true if there was none for the filter and share name
     */
    public boolean subscribe(Subscription subscription) {
        boolean isNew = subscriptions.get(subscription.filter(), subscription.shareName()) == null;
        if (isNew) {
            charge(HeapWeight.subscription(subscription.filter().value(), subscription.shareName()));
        }
        subscriptions.put(subscription);
        resources.router().index().add(subscription); // replaces without a gap [MQTT-3.8.4-3]
        resources.observer().subscribed(clientId, subscription.clientFilter(), isNew);
        if (record != null) {
            record.subscriptionChanged(subscription.clientFilter(), subscription);
        }
        if (subscription.shareName() != null) {
            member().subscribed(subscription);
        }
        return isNew;
    }

    /**
     * Ends a subscription.
     *
     * @param filter the filter
     * @param shareName the group of a shared subscription, or null
     * @return false if there was none
     */
    public boolean unsubscribe(TopicFilter filter, @Nullable String shareName) {
        Subscription removed = subscriptions.remove(filter, shareName);
        if (removed == null) {
            return false;
        }
        charge(-HeapWeight.subscription(filter.value(), shareName));
        resources.router().index().remove(this, filter, shareName);
        if (outbound != null && shareName == null) {
            outbound.unsubscribed(filter);
        }
        if (member != null && shareName != null) {
            member.unsubscribed(removed);
        }
        resources.observer().unsubscribed(clientId, removed.clientFilter());
        if (record != null) {
            record.subscriptionChanged(removed.clientFilter(), null);
        }
        return true;
    }

    /**
     * Finds a subscription.
     *
     * @param filter the filter
     * @param shareName the group of a shared subscription, or null
     * @return null if there is none
     */
    public @Nullable Subscription subscription(TopicFilter filter, @Nullable String shareName) {
        return subscriptions.get(filter, shareName);
    }

    /** Finds a subscription by the filter as the client gave it. */
    @Nullable
    Subscription subscription(String clientFilter) {
        SharedFilter shared = SharedFilter.isShared(clientFilter) ? SharedFilter.of(clientFilter) : null;
        return shared == null
                ? subscriptions.get(TopicFilter.of(clientFilter), null)
                : subscriptions.get(shared.filter(), shared.shareName());
    }

    /** Takes over a subscription that was found in the store. */
    void recover(Subscription subscription) {
        charge(HeapWeight.subscription(subscription.filter().value(), subscription.shareName()));
        subscriptions.put(subscription);
        resources.router().index().add(subscription);
        if (subscription.shareName() != null) {
            member().subscribed(subscription);
        }
    }

    /**
     * How many subscriptions there are.
     *
     * @return a number, exact on the session's event loop
     */
    public int subscriptionCount() {
        return subscriptions.size();
    }

    /**
     * Visits all subscriptions.
     *
     * @param action what to do with each; must not change them
     */
    public void forEachSubscription(Consumer<Subscription> action) {
        subscriptions.forEach(action);
    }

    /**
     * Tells whether the client is gone and its will waits for the will delay interval.
     *
     * @return exact on the session's event loop
     */
    public boolean delaysWill() {
        return absence.delaysWill();
    }

    /**
     * How many messages wait for the client.
     *
     * @return a number, exact on the session's event loop
     */
    @AnyThread
    public int queuedCount() {
        OutboundFlow flow = outbound;
        if (flow == null) {
            return record == null ? 0 : record.queue().count();
        }
        return flow.queuedCount();
    }

    /**
     * What waits for the client.
     *
     * @return bytes as they count against the limits, exact on the session's event loop
     */
    public long queuedBytes() {
        OutboundFlow flow = outbound;
        if (flow == null) {
            return record == null ? 0 : record.queue().bytes();
        }
        return flow.queuedBytes();
    }

    // --- life

    /** The session begins when the one before it is gone. Before it can be found. */
    void awaitPredecessor() {
        begun = true;
        opening = new SessionOpening();
    }

    /** A new session gets its first connection. */
    void begin(SessionRequest request) {
        begun = true;
        SessionOpening predecessor = opening;
        resources.observer().sessionCreated(clientId);
        if (record == null) {
            opening = null;
            if (ended) { // meanwhile, by somebody else
                registry.open(request);
            } else {
                attach(request);
                request.reply().opened(this, false);
            }
            if (predecessor != null) {
                predecessor.finish();
            }
            return;
        }
        SessionOpening waiting = predecessor == null ? new SessionOpening() : predecessor;
        opening = waiting;
        record.connected(request);
        record.await(kept -> {
            opening = null;
            if (ended) { // meanwhile, by somebody else
                registry.open(request);
            } else if (kept) {
                attach(request);
                request.reply().opened(this, false);
            } else {
                end(false);
                request.reply().refused(ReasonCode.QUOTA_EXCEEDED);
            }
            waiting.finish();
        });
    }

    private void attach(SessionRequest request) {
        absence.attached(request);
        ClientIdentity previous = client;
        rechargeClient(request.client());
        registry.clientChanged(this, previous);
        check = registry.deliveryCheck(client);
        sink = request.sink();
        weighFlows();
        if (outbound != null) {
            outbound.attach(request.sink(), check);
        } else if (record != null && !record.queue().isEmpty()) {
            outbound(); // what waits in the store
        }
    }

    /** A client claims the session: the old connection ends, the session goes on or a new one takes its place. */
    void takeover(SessionRequest request, RoutingLoop here) {
        if (owner != here || !begun) {
            RoutingLoop current = owner;
            current.executor().execute(() -> takeover(request, current));
        } else if (ended) {
            request.loop().executor().execute(() -> registry.open(request));
        } else if (move != null) {
            move.afterwards(() -> takeover(request, here));
        } else if (opening != null) {
            opening.afterwards(() -> takeover(request, here));
        } else if (!registry.mayClaim(request.client(), client)) {
            request.loop().executor().execute(() -> request.reply().refused(ReasonCode.NOT_AUTHORIZED));
        } else {
            // a session without expiry ends with its connection, whatever the next one asks for
            boolean ends = request.cleanStart() || absence.expirySeconds() == 0; // [MQTT-3.1.2-4] [MQTT311-3.1.2-6]
            if (ends) {
                registry.replace(this, request);
            } else if (registry.refused(refusal(request))) {
                request.loop().executor().execute(() -> request.reply().refused(ReasonCode.QUOTA_EXCEEDED));
            } else if (record == null) {
                charge(HeapWeight.will(request.will()));
                endConnection(false);
                resume(request, here);
            } else {
                resumeStored(record, request, here);
            }
        }
    }

    /** Resumes the session once the store knows that it has a client again. */
    private void resumeStored(SessionRecord stored, SessionRequest request, RoutingLoop here) {
        SessionOpening waiting = new SessionOpening();
        opening = waiting;
        int will = HeapWeight.will(request.will());
        charge(will);
        SessionRecord.Before before = stored.before();
        stored.connected(request);
        int version = stored.version();
        stored.await(kept -> {
            opening = null;
            RoutingLoop target = request.loop();
            if (ended) {
                target.executor().execute(() -> registry.open(request));
            } else if (!kept) {
                charge(-will);
                stored.restore(before);
                target.executor().execute(() -> request.reply().refused(ReasonCode.QUOTA_EXCEEDED));
            } else if (stored.version() != version) { // the old connection ended meanwhile
                charge(-will);
                takeover(request, here);
            } else {
                endConnection(false);
                resume(request, here);
            }
            waiting.finish();
        });
    }

    void endConnection(boolean sessionEnds) {
        PacketSink old = sink;
        if (old != null) {
            resources.observer().sessionTakenOver(clientId);
            sink = null;
            detachFlow();
            old.disconnect(ReasonCode.SESSION_TAKEN_OVER); // [MQTT-3.1.4-3]
        }
        absence.claimed(old != null, sessionEnds);
    }

    private void resume(SessionRequest request, RoutingLoop here) { // [MQTT-3.1.2-5]
        RoutingLoop target = request.loop();
        if (target == here) {
            attachResumed(request);
            return;
        }
        if (record != null) {
            record.loop().flush(); // before the new loop writes anything
        }
        SessionMove moving = new SessionMove(this, pressure, resources);
        move = moving;
        owner = target; // from now on routed there; what was routed here is passed on
        target.executor().execute(() -> attachResumed(request));
        resources.router().afterDeliveriesVia(here, target, () -> {
            move = null;
            moving.finish();
        });
    }

    private void attachResumed(SessionRequest request) {
        if (ended) { // on its way here
            registry.open(request);
            return;
        }
        attach(request);
        registry.recheck(this);
        request.reply().opened(this, true);
    }

    /**
     * The connection is gone. Does nothing if the session has another one by now.
     *
     * @param from the connection
     * @param publishWill whether the will is to be published [MQTT-3.1.2-8]
     * @param newExpirySeconds the session expiry interval of the DISCONNECT, or -1
     */
    public void connectionEnded(PacketSink from, boolean publishWill, long newExpirySeconds) {
        assert owner.executor().inEventLoop();
        if (sink != from) {
            return;
        }
        sink = null;
        detachFlow();
        absence.begin(publishWill, newExpirySeconds);
        weighFlows();
    }

    /** A will is about to be published. */
    void willDue(Will due) {
        if (record != null) {
            record.willDue(due);
        }
    }

    /** The will of the last connection is not to be published any more. */
    void willSettledElsewhere(@Nullable Will settled) {
        absence.settledElsewhere(settled);
    }

    /** A session that was found in the store has ended and only its will is left to be published. */
    boolean leavesWill() {
        return absence.leavesWill();
    }

    /** A will is safe with all who get it, or nobody may get it. */
    void willPublished(Will published) {
        if (record != null) {
            record.willGone(published);
        }
    }

    /** The session was found in the store and has no client yet: its deadlines go on, by the store's clock. */
    void awaitClient() {
        SessionOpening claimed = opening;
        if (claimed != null) { // its client may be refused
            claimed.afterwards(() -> execute(this::awaitClient));
        } else if (!ended && record != null) {
            absence.goOn(record);
            weighFlows();
        }
    }

    /** A message that waits for an absent client is removed when it has expired. */
    void awaitExpiryOf(ApplicationMessage message) {
        absence.awaitExpiryOf(message);
    }

    private void detachFlow() {
        if (outbound != null) {
            outbound.detach();
        }
        if (member != null) {
            member.detached();
        }
    }

    // --- shared groups

    /** The session as a member of shared groups. */
    SharedMember member() {
        SharedMember present = member;
        if (present == null) {
            present = new SharedMember(this, registry.groups());
            member = present;
        }
        return present;
    }

    GroupQueues groups() {
        return registry.groups();
    }

    /** Something is safe that was sent before the client went: it may go back to its shared group. */
    void stayedAway() {
        if (member != null && sink == null && !ended) {
            member.detached();
        }
    }

    /** What waits for its shared groups is asked for, if there is room. */
    void gatherMore() {
        SharedMember present = member;
        if (present != null) {
            present.gatherMore();
        }
    }

    @Override
    @AnyThread
    public boolean hasRoom() {
        return queuedCount() * 2L < limits().maxQueuedMessages();
    }

    // --- between nodes

    /** Takes a message that was held back, with the hold on its ticket. */
    @FunctionalInterface
    interface Taker {
        void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket);
    }

    /**
     * When this node claimed the client identifier.
     *
     * @return the cluster's clock; 0 if the session was found in the store
     */
    @AnyThread
    public long claimClock() {
        return claimClock;
    }

    /**
     * This node has claimed the client identifier.
     *
     * @param clock the cluster's clock
     */
    @AnyThread
    public void claimClock(long clock) {
        claimClock = clock;
        if (beginsClean) {
            beginsClean = false;
            cleanClock = clock;
        }
    }

    /** When the client began it with a clean start, by the cluster's clock; 0 if it did not. */
    @AnyThread
    long cleanClock() {
        return cleanClock;
    }

    @AnyThread
    void cleanClock(long clock) {
        cleanClock = clock;
    }

    /** The client was given to another node. On the session's loop, or on its way there. */
    void depart(SessionRegistry.Departing request, RoutingLoop here) {
        if (owner != here || !begun) {
            RoutingLoop current = owner;
            current.executor().execute(() -> depart(request, current));
        } else if (ended) {
            request.reply().gone();
        } else if (move != null) {
            move.afterwards(() -> depart(request, here));
        } else if (opening != null) {
            opening.afterwards(() -> depart(request, here));
        } else if (!registry.mayClaim(request.userName(), client)) {
            request.reply().refused();
        } else if (request.discard() || absence.expirySeconds() == 0) { // [MQTT-3.1.2-4]
            endConnection(true);
            end(false);
            afterCommit(kept -> request.reply().gone());
        } else {
            endConnection(false);
            SessionOpening waiting = new SessionOpening();
            opening = waiting;
            new StoredDeparture(this, resources, waiting).begin(request.reply());
        }
    }

    /** Holds back what is routed here until this is called with null. */
    void hold(@Nullable SessionMove held) {
        hold = held;
    }

    /** The session stays, as one of a client that has just gone. */
    void stay(SessionOpening waiting) {
        opening = null;
        if (!ended) {
            absence.begin(false, -1);
            weighFlows();
        }
        waiting.finish();
    }

    /** Before the session goes to another node: its groups stay here. */
    void leaveGroups() {
        if (member != null) {
            member.giveBackAll();
        }
    }

    /** The session is safe on another node and is forgotten here. */
    void leave(SessionOpening waiting) {
        if (!ended) {
            if (member != null) {
                member.left();
            }
            release();
            ended = true;
            absence.cancel();
            subscriptions.forEach(subscription ->
                    resources.router().index().remove(this, subscription.filter(), subscription.shareName()));
            if (outbound != null) {
                outbound.forget();
            }
            if (record != null) {
                record.forget();
            }
            subscriptions.clear();
            registry.remove(this);
            resources.observer().sessionEnded(clientId, false);
        }
        opening = null;
        waiting.finish();
    }

    /** The session has come from another node. */
    void arrived() {
        begun = true;
        resources.observer().sessionCreated(clientId);
    }

    /** The session has come from another node; its deadlines go on until its client is here. */
    void awaitReturn() {
        if (record != null) {
            awaitClient();
        } else if (!ended && sink == null) {
            absence.begin(false, -1);
            weighFlows();
        }
    }

    @Nullable
    InboundFlow inboundOrNull() {
        return inbound;
    }

    // --- the end

    /** The session was found in the store and does not fit: it leaves memory, and stays in the store. At the start. */
    void leaveOut() {
        if (member != null) {
            member.left();
        }
        release();
        ended = true;
        subscriptions.forEach(subscription ->
                resources.router().index().remove(this, subscription.filter(), subscription.shareName()));
        subscriptions.clear();
        registry.remove(this);
    }

    /** Whether the session could be ended to make room for another one of its user. The answer may be out of date.*/
    @AnyThread
    boolean isDispensable() {
        return begun && !ended && sink == null;
    }

    /** Ends the session to make room, unless its client is connected or about to be. Returns whether it has ended. */
    boolean expireIfOffline() {
        if (!ended && sink == null && move == null && opening == null) {
            absence.expire();
        }
        return ended;
    }

    /**
     * Ends the session and its connection, as an administrator asks for.
     *
     * @param reason the reason code of the DISCONNECT
     */
    public void terminate(ReasonCode reason) {
        assert owner.executor().inEventLoop();
        PacketSink current = sink;
        sink = null;
        if (current != null) {
            detachFlow();
            current.disconnect(reason);
        }
        absence.willDue();
        end(false);
    }

    /** Takes the session out of the registry and the index. */
    void end(boolean expired) {
        assert owner.executor().inEventLoop();
        if (ended) {
            return;
        }
        release();
        ended = true;
        absence.cancel();
        subscriptions.forEach(subscription ->
                resources.router().index().remove(this, subscription.filter(), subscription.shareName()));
        if (member != null) {
            member.giveBackAll();
            member.left();
        }
        if (outbound != null) {
            outbound.end();
        }
        if (record != null) {
            record.end();
        }
        subscriptions.clear();
        registry.remove(this);
        resources.observer().sessionEnded(clientId, expired);
    }

    /**
     * The connection of the client, if it is connected. Use it on the session's event loop only; elsewhere the answer may be out of date.
     *
     * @return null if the client is offline
     */
    @AnyThread
    public @Nullable PacketSink sink() {
        return sink;
    }

    /**
     * The session expiry interval in force.
     *
     * @return seconds; 0 if the session ends with the connection
     */
    public long expirySeconds() {
        return absence.expirySeconds();
    }

    /**
     * Replaces who the client is, after it authenticated again.
     *
     * @param newClient the same client identifier
     */
    public void reauthenticated(ClientIdentity newClient) {
        assert owner.executor().inEventLoop();
        rechargeClient(newClient);
        if (record != null) {
            record.reauthenticated(newClient);
        }
        check = registry.deliveryCheck(newClient);
        if (outbound != null) {
            outbound.check(check);
        }
        registry.recheck(this);
    }

    @Override
    @AnyThread
    public String toString() {
        return "Session[" + clientId + ']';
    }
}
