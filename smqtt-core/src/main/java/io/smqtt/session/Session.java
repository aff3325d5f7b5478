// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static io.smqtt.session.AcknowledgementOutcome.UNKNOWN;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
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
    private final SessionSubscriptions subscriptions = new SessionSubscriptions(this);
    private final SessionCharge charge = new SessionCharge(this);
    private final SessionLife life;
    private final SessionAbsence absence;
    private @Nullable OutboundFlow outbound;
    private @Nullable InboundFlow inbound;

    /** What holds back messages that come; null as long as all are taken at once. */
    private @Nullable SessionIntake intake;

    private final long key;
    private @Nullable SharedMember member;
    private final @Nullable ConsumerPressure pressure;
    private final @Nullable SessionRecord record;
    private final boolean durable;

    /** Who is connected, or was when the client was last connected. */
    private volatile ClientIdentity client;

    Session(SessionResources resources, SessionRegistry registry, SessionRequest request) {
        this.resources = resources;
        this.registry = registry;
        this.client = request.client();
        this.clientId = client.clientId();
        this.key = TakenMessages.newKey();
        this.owner = request.loop();
        this.life = new SessionLife(this, registry, SessionPhase.OPENING, request.cleanStart());
        this.pressure =
                ConsumerPressure.of(clientId, resources.limits(), owner, resources.router(), resources.budget());
        this.absence = new SessionAbsence(this, resources, registry, request.expirySeconds());
        this.durable = request.expirySeconds() > 0;
        Stores stores = resources.stores();
        this.record = stores == null || request.expirySeconds() == 0
                ? null
                : new SessionRecord(this, resources, stores, stores.store().newSession(), SessionRecord.NOTHING_WAITS);
    }

    /** A session that was found in the store, or one that comes from another node and is not stored. */
    Session(
            SessionResources resources,
            SessionRegistry registry,
            RoutingLoop owner,
            ClientIdentity client,
            long expirySeconds,
            @Nullable StoredSession stored,
            StoredQueue waiting) {
        this.resources = resources;
        this.registry = registry;
        this.client = client;
        this.clientId = client.clientId();
        this.key = TakenMessages.newKey();
        this.owner = owner;
        this.life = new SessionLife(this, registry, SessionPhase.ABSENT, false);
        this.pressure =
                ConsumerPressure.of(clientId, resources.limits(), owner, resources.router(), resources.budget());
        this.absence = new SessionAbsence(this, resources, registry, expirySeconds);
        this.durable = true;
        Stores stores = resources.stores();
        if (stored == null || stores == null) {
            this.record = null;
        } else {
            absence.recovered(stored.will());
            this.record = new SessionRecord(this, resources, stores, stored.number(), waiting);
            record.recovered(stored);
        }
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
        return life.sink() != null;
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
        return life.phase() != SessionPhase.MOVING && owner.executor().inEventLoop();
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
        return life.phase() == SessionPhase.ENDED;
    }

    /**
     * Runs a task on the session's event loop, also if the session moves to another one meanwhile.
     *
     * @param task what is to be done
     */
    @AnyThread
    public void execute(Runnable task) {
        life.execute(task);
    }

    // --- its parts

    SessionResources resources() {
        return resources;
    }

    SessionRegistry registry() {
        return registry;
    }

    /** The phase and the connection. */
    @AnyThread
    SessionLife life() {
        return life;
    }

    /** What happens while the client is away. */
    SessionAbsence absence() {
        return absence;
    }

    /** What the session holds. */
    @AnyThread
    SessionCharge charge() {
        return charge;
    }

    /**
     * The subscriptions.
     *
     * @return for the session's event loop; the size is out of date elsewhere
     */
    @AnyThread
    public SessionSubscriptions subscriptions() {
        return subscriptions;
    }

    /** The session is another event loop's from now on. */
    void owner(RoutingLoop target) {
        owner = target;
    }

    /** The session is this client's from now on. */
    void client(ClientIdentity newClient) {
        ClientIdentity before = client;
        client = newClient;
        charge.clientChanged(before, newClient);
    }

    // --- messages to the client

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        if (intake == null) {
            take(message, subscription, ticket);
        } else {
            intake.deliver(message, subscription, ticket);
        }
    }

    @Override
    public void deliverPassedOn(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        if (intake == null) {
            take(message, subscription, ticket);
        } else {
            intake.deliverPassedOn(message, subscription, ticket);
        }
    }

    /** What holds back messages that come, and knows those that another node has taken. */
    SessionIntake intake() {
        if (intake == null) {
            intake = new SessionIntake(this);
        }
        return intake;
    }

    /** It may be needed no more. */
    void intakeChanged() {
        if (intake != null && intake.isIdle()) {
            intake = null;
        }
    }

    /** Takes a message now. */
    void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        boolean over = hasEnded();
        if (subscription.shareName() != null && (over || !isOnline())) {
            registry.groups().add(owner, message, subscription, ticket); // it is for others, or waits in their queue
        } else if (over) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, 1);
        } else {
            registry.remember(this, message, subscription);
            outbound().deliver(message, subscription, ticket);
            absence.awaitExpiryOf(message);
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
            PacketSink current = life.sink();
            if (current == null) {
                charge.addFlows();
            } else {
                flow.attach(current, life.check());
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
        if (member != null && isOnline()) {
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
        return outbound == null ? UNKNOWN : taken(outbound.window().acknowledged(packetId, reason));
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
        return outbound == null ? UNKNOWN : taken(outbound.window().received(packetId, reason));
    }

    /**
     * A PUBCOMP.
     *
     * @param packetId the packet identifier
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubComp(int packetId) {
        assert owner.executor().inEventLoop();
        return outbound == null ? UNKNOWN : taken(outbound.window().completed(packetId));
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
        if (inbound == null) {
            inbound = new InboundFlow(record);
        }
        return inbound;
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

    // --- figures

    /**
     * Tells whether the client is gone and its will waits for the will delay interval.
     *
     * @return exact on the session's event loop
     */
    public boolean delaysWill() {
        return absence.delaysWill();
    }

    /**
     * Holds the will that waits for the will delay interval: another node is asked to take the session over, and only one of them may publish
     * the will. It does not become due before {@link #inheritWill}.
     *
     * @return the will with the rest of its delay; null if there is none
     */
    public @Nullable Will holdWill() {
        assert owner.executor().inEventLoop();
        return absence.holdWill();
    }

    /**
     * Sets the will of an absent client whose session has come from another node. If the session has a will, it is held no more. Does nothing
     * if the client is connected.
     *
     * @param will the will, which becomes due after its delay
     */
    public void inheritWill(Will will) {
        assert owner.executor().inEventLoop();
        absence.inherit(will);
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

    /**
     * The connection is gone. Does nothing if the session has another one by now.
     *
     * @param from the connection
     * @param publishWill whether the will is to be published [MQTT-3.1.2-8]
     * @param newExpirySeconds the session expiry interval of the DISCONNECT, or -1
     */
    public void connectionEnded(PacketSink from, boolean publishWill, long newExpirySeconds) {
        assert owner.executor().inEventLoop();
        life.connectionEnded(from, publishWill, newExpirySeconds);
    }

    // --- shared groups

    /** The session as a member of shared groups. */
    SharedMember member() {
        if (member == null) {
            member = new SharedMember(this, registry.groups());
        }
        return member;
    }

    /** The same; null if it never was one. */
    @Nullable
    SharedMember memberOrNull() {
        return member;
    }

    /** What waits for its shared groups is asked for, if there is room. */
    void gatherMore() {
        if (member != null) {
            member.gatherMore();
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
        return life.claimClock();
    }

    /**
     * This node has claimed the client identifier.
     *
     * @param clock the cluster's clock
     */
    @AnyThread
    public void claimClock(long clock) {
        life.claimClock(clock);
    }

    @Nullable
    InboundFlow inboundOrNull() {
        return inbound;
    }

    // --- the end

    /**
     * Ends the session and its connection, as an administrator asks for.
     *
     * @param reason the reason code of the DISCONNECT
     */
    public void terminate(ReasonCode reason) {
        assert owner.executor().inEventLoop();
        life.terminate(reason);
    }

    /**
     * The connection of the client, if it is connected. Use it on the session's event loop only; elsewhere the answer may be out of date.
     *
     * @return null if the client is offline
     */
    @AnyThread
    public @Nullable PacketSink sink() {
        return life.sink();
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
        life.reauthenticated(newClient);
    }

    @Override
    @AnyThread
    public String toString() {
        return "Session[" + clientId + ']';
    }
}
