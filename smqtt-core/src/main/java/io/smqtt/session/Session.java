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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The state that a client and the broker share beyond one network connection (MQTT 5.0, section 4.1). A session is owned
 * by the event loop of its connection, or of its last one; all methods run there unless they say otherwise. It changes
 * loops only when a client takes it over ({@link SessionClaims}). What is possible depends on its {@link SessionPhase}.
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
    private volatile SessionPhase phase;

    /** Claims and tasks that wait for the end of the phase. */
    private @Nullable List<Runnable> waiting;

    /** Holds back what comes; null as long as it is taken at once. */
    private @Nullable HeldMessages held;

    /** Deliveries that came by another node, and may come here as well: {@link TakenMessages#idOf}. */
    private @Nullable Set<Long> cameElsewhere;

    private volatile long claimClock;
    private boolean beginsClean;
    private volatile long cleanClock;
    private final long key;
    private @Nullable SharedMember member;
    private final @Nullable ConsumerPressure pressure;
    private final @Nullable SessionRecord record;
    private final boolean durable;

    /** What it holds by {@link SessionBudget}, and of which user that is. Written by the event loop alone. */
    private volatile int heapBytes;

    private volatile short user;

    /** The part of it that is counted while the client is away. */
    private int flowBytes;

    // valid for the connection; the client stays until the next one
    private volatile @Nullable PacketSink sink;
    private @Nullable DeliveryCheck check;
    private volatile ClientIdentity client;

    Session(SessionResources resources, SessionRegistry registry, SessionRequest request) {
        this.resources = resources;
        this.registry = registry;
        this.client = request.client();
        this.clientId = client.clientId();
        this.key = TakenMessages.newKey();
        this.beginsClean = request.cleanStart();
        this.owner = request.loop();
        this.phase = SessionPhase.OPENING;
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
        this.key = TakenMessages.newKey();
        this.owner = owner;
        this.phase = SessionPhase.ABSENT;
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
        this.key = TakenMessages.newKey();
        this.owner = owner;
        this.phase = SessionPhase.ABSENT;
        this.pressure = pressure(clientId, owner, resources);
        this.absence = new SessionAbsence(this, resources, registry, stored.expirySeconds());
        this.durable = true;
        absence.recovered(stored.will());
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
        return phase != SessionPhase.MOVING && owner.executor().inEventLoop();
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
        return phase == SessionPhase.ENDED;
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
            } else if (phase == SessionPhase.MOVING) {
                afterwards(() -> execute(task));
            } else {
                task.run();
            }
        });
    }

    // --- the phase

    SessionPhase phase() {
        return phase;
    }

    /** Goes on to another phase, by the table of {@link SessionPhase}. */
    void become(SessionPhase next) {
        if (!phase.followers().contains(next)) {
            throw new IllegalStateException(this + " is " + phase + " and cannot become " + next);
        }
        phase = next;
        assert next.allows(sink != null) : next;
    }

    /** The phase ends with the client connected or not. */
    void settle() {
        become(sink == null ? SessionPhase.ABSENT : SessionPhase.CONNECTED);
    }

    /** Lets a task wait for {@link #goOn}. */
    void afterwards(Runnable task) {
        if (waiting == null) {
            waiting = new ArrayList<>(1);
        }
        waiting.add(task);
    }

    /** The phase that others wait for is over. */
    void goOn() {
        List<Runnable> tasks = waiting;
        waiting = null;
        if (tasks != null) {
            tasks.forEach(Runnable::run);
        }
    }

    // --- messages to the client

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        if (cameElsewhere(message, subscription)) {
            return;
        }
        passOn(held, message, subscription, ticket);
    }

    @Override
    public void deliverForwarded(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        HeldMessages moving = held; // what comes now is older
        passOn(moving == null ? null : moving.before(), message, subscription, ticket);
    }

    private void passOn(
            @Nullable HeldMessages to, ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (to == null) {
            take(message, subscription, ticket);
        } else {
            to.hold(message, subscription, ticket);
        }
    }

    /** Holds back what comes from now on. */
    void holdBack(HeldMessages messages) {
        messages.follow(held);
        held = messages;
    }

    /** Ends {@link #holdBack}; what was held back goes on. */
    void letGo(HeldMessages messages) {
        stopHolding(messages);
        HeldMessages before = messages.before();
        messages.letGo((message, subscription, ticket) -> passOn(before, message, subscription, ticket));
    }

    /** Ends {@link #holdBack}; what was held back stays where it is. */
    void stopHolding(HeldMessages messages) {
        HeldMessages after = null;
        HeldMessages at = held;
        while (at != null && at != messages) {
            after = at;
            at = at.before();
        }
        if (after == null) {
            held = messages.before();
        } else {
            after.follow(messages.before());
        }
    }

    private boolean cameElsewhere(ApplicationMessage message, Subscription subscription) {
        boolean known = cameElsewhere != null && cameElsewhere.remove(TakenMessages.idOf(message, subscription));
        if (known) {
            resources.observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
        }
        return known;
    }

    /** These deliveries are not taken again; null for none. */
    void cameElsewhere(@Nullable Set<Long> ids) {
        cameElsewhere = ids;
    }

    /** Deliveries that were set before are not looked at any more. */
    void cameElsewhereNoMore(Set<Long> ids) {
        if (cameElsewhere == ids) { // not one of a later move
            cameElsewhere = null;
        }
    }

    void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (cameElsewhere(message, subscription)) {
            return;
        }
        boolean over = phase == SessionPhase.ENDED;
        if (subscription.shareName() != null && (over || sink == null)) {
            takeAbsent(message, subscription, ticket);
        } else if (over) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, 1);
        } else {
            remember(message, subscription);
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
        Set<Long> ids = cameElsewhere;
        cameElsewhere = null; // it is the one that has come elsewhere
        try {
            take(message, subscription, RouteTicket.NONE);
        } finally {
            cameElsewhere = ids;
        }
    }

    /** A message is known from now on, should it come once more. */
    void remember(ApplicationMessage message, Subscription subscription) {
        if (message.qos() != QoS.AT_MOST_ONCE) {
            TakenMessages taken = registry.taken(owner);
            if (taken != null && absence.expirySeconds() > 0) {
                taken.took(key, TakenMessages.idOf(message, subscription));
            }
        }
    }

    /** The number of this session, which no other one in this process has. */
    @AnyThread
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
        return taken(
                outbound == null
                        ? AcknowledgementOutcome.UNKNOWN
                        : outbound.window().acknowledged(packetId, reason));
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
        return taken(
                outbound == null
                        ? AcknowledgementOutcome.UNKNOWN
                        : outbound.window().received(packetId, reason));
    }

    /**
     * A PUBCOMP.
     *
     * @param packetId the packet identifier
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubComp(int packetId) {
        assert owner.executor().inEventLoop();
        return taken(
                outbound == null
                        ? AcknowledgementOutcome.UNKNOWN
                        : outbound.window().completed(packetId));
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
        if (phase == SessionPhase.ENDED) {
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
        int weight = sink == null && phase != SessionPhase.ENDED ? HeapWeight.flows(outbound != null, room) : 0;
        if (weight != flowBytes) {
            charge(weight - flowBytes);
            flowBytes = weight;
        }
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
    @Nullable
    String refusal(SessionRequest request) {
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
     * Returns the will that waits for the will delay interval.
     *
     * @return the will with the rest of its delay; null if there is none
     */
    public @Nullable Will delayedWill() {
        return absence.delayedWill();
    }

    /**
     * Sets the will of an absent client whose session has come from another node. Does nothing if the client is connected or the session
     * has a will.
     *
     * @param will the will, which becomes due after its delay
     */
    public void inheritWill(Will will) {
        assert owner.executor().inEventLoop();
        if (!hasEnded() && sink == null) {
            absence.inherit(will);
        }
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
            return record == null ? 0 : record.queue().size();
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

    /** The session begins on this node. */
    void created() {
        resources.observer().sessionCreated(clientId);
    }

    /** The client is here, by a connection of this event loop. */
    void attach(SessionRequest request) {
        absence.attached(request);
        ClientIdentity previous = client;
        rechargeClient(request.client());
        registry.clientChanged(this, previous);
        check = registry.deliveryCheck(client);
        sink = request.sink();
        switch (phase) {
            case OPENING, ABSENT, RESUMING -> become(SessionPhase.CONNECTED);
            case MOVING -> {} // to its end
            case CONNECTED, DEPARTING, ENDED -> throw new IllegalStateException(this + " is " + phase);
        }
        weighFlows();
        if (outbound != null) {
            outbound.attach(request.sink(), check);
        } else if (record != null && !record.queue().isEmpty()) {
            outbound(); // what waits in the store
        }
    }

    /** The session is another event loop's from now on: what is routed here is passed on to there. */
    void moveTo(RoutingLoop target) {
        become(SessionPhase.MOVING);
        owner = target;
    }

    /** All that was passed on has arrived. */
    void moved(HeldMessages messages) {
        if (phase == SessionPhase.MOVING) { // it may have ended on the way
            settle();
        }
        letGo(messages);
        goOn();
    }

    /** Another connection, here or on another node, takes the place of the one that was, or of none. */
    void endConnection(boolean sessionEnds) {
        PacketSink old = loseConnection();
        if (old != null) {
            resources.observer().sessionTakenOver(clientId);
            old.disconnect(ReasonCode.SESSION_TAKEN_OVER); // [MQTT-3.1.4-3]
        }
        absence.claimed(old != null, sessionEnds);
    }

    /** The connection is not the session's any more. Returns it, or null if there was none. */
    private @Nullable PacketSink loseConnection() {
        PacketSink old = sink;
        if (old == null) {
            return null;
        }
        sink = null;
        switch (phase) {
            case CONNECTED -> become(SessionPhase.ABSENT);
            case RESUMING, MOVING -> {} // to its end
            case OPENING, ABSENT, DEPARTING, ENDED -> throw new IllegalStateException(this + " is " + phase);
        }
        if (outbound != null) {
            outbound.detach();
        }
        if (member != null) {
            member.detached();
        }
        return old;
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
        loseConnection();
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
        switch (phase) {
            case OPENING, RESUMING, MOVING, DEPARTING ->
                afterwards(() -> execute(this::awaitClient)); // it may be refused
            case CONNECTED, ABSENT -> {
                if (record != null) {
                    absence.goOn(record);
                    weighFlows();
                }
            }
            case ENDED -> {}
        }
    }

    /** A message that waits for an absent client is removed when it has expired. */
    void awaitExpiryOf(ApplicationMessage message) {
        absence.awaitExpiryOf(message);
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
        if (member != null && sink == null && !hasEnded()) {
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

    /** The session stays, as one of a client that has just gone. */
    void stay() {
        if (phase == SessionPhase.DEPARTING) {
            become(SessionPhase.ABSENT);
            absence.begin(false, -1);
            weighFlows();
        }
        goOn();
    }

    /** Before the session goes to another node: its groups stay here. */
    void leaveGroups() {
        if (member != null) {
            member.giveBackAll();
        }
    }

    /** The session is safe on another node and is forgotten here. */
    void leave() {
        if (phase == SessionPhase.DEPARTING) {
            withdraw();
            leftGroups();
            if (outbound != null) {
                outbound.forget();
            }
            if (record != null) {
                record.forget();
            }
            removed();
            resources.observer().sessionEnded(clientId, false);
        }
        goOn();
    }

    /** The session has come from another node; its deadlines go on until its client is here. */
    void awaitReturn() {
        if (record != null) {
            awaitClient();
        } else if (phase == SessionPhase.ABSENT) {
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
        withdraw();
        leftGroups();
        removed();
    }

    /** Whether the session could be ended to make room for another one of its user. The answer may be out of date.*/
    @AnyThread
    boolean isDispensable() {
        return phase == SessionPhase.ABSENT;
    }

    /** Ends the session to make room, unless its client is connected or about to be. Returns whether it has ended. */
    boolean expireIfOffline() {
        if (phase == SessionPhase.ABSENT) {
            absence.expire();
        }
        return hasEnded();
    }

    /**
     * Ends the session and its connection, as an administrator asks for.
     *
     * @param reason the reason code of the DISCONNECT
     */
    public void terminate(ReasonCode reason) {
        assert owner.executor().inEventLoop();
        PacketSink current = loseConnection();
        if (current != null) {
            current.disconnect(reason);
        }
        absence.willDue();
        end(false);
    }

    /** Takes the session out of the registry and the index. */
    void end(boolean expired) {
        assert owner.executor().inEventLoop();
        if (hasEnded()) {
            return;
        }
        withdraw();
        if (member != null) {
            member.giveBackAll();
        }
        leftGroups();
        if (outbound != null) {
            outbound.end();
        }
        if (record != null) {
            record.end();
        }
        removed();
        resources.observer().sessionEnded(clientId, expired);
    }

    /** Nothing is routed to the session any more, and nothing of it counts. */
    private void withdraw() {
        charge(-heapBytes);
        become(SessionPhase.ENDED);
        absence.cancel();
        subscriptions.forEach(subscription ->
                resources.router().index().remove(this, subscription.filter(), subscription.shareName()));
    }

    private void leftGroups() {
        if (member != null) {
            member.left();
        }
    }

    /** The client can have another session. */
    private void removed() {
        subscriptions.clear();
        registry.remove(this);
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
            outbound.window().check(check);
        }
        registry.recheck(this);
    }

    @Override
    @AnyThread
    public String toString() {
        return "Session[" + clientId + ']';
    }
}
