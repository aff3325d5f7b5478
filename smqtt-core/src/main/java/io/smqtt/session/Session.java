// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static io.smqtt.session.AcknowledgementOutcome.UNKNOWN;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RetainedCursor;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.Elsewhere;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.SharedFilter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state that a client and the broker share beyond one network connection (MQTT 5.0, section 4.1). A session is owned by
 * the event loop of its current or last connection; all methods run there unless they say otherwise. It changes event loops
 * only in a takeover ({@link SessionClaims}). Its {@link SessionPhase} determines what is possible.
 */
@OnEventLoop
public final class Session extends SessionContext {

    private final SessionResources resources;
    private final SessionServices services;
    private final String clientId;
    private volatile RoutingLoop owner;

    // valid for the session
    private final SessionSubscriptions subscriptions = new SessionSubscriptions(this);
    private final SessionCharge charge = new SessionCharge(this);
    private final SessionLife life;
    private final SessionAbsence absence;
    private @Nullable OutboundFlow outbound;
    private @Nullable InboundFlow inbound;
    private @Nullable SessionIntake intake; // null while all messages are taken at once
    private final long key = TakenMessages.newKey();
    private @Nullable SharedMember member;
    private final @Nullable ConsumerPressure pressure;
    private final @Nullable SessionRecord record;
    private final boolean durable;

    /** The identity of the connected, or last connected, client. */
    private volatile ClientIdentity client;

    /** Is notified of sessions, on their event loops. */
    interface Listener {

        /** The client of a session has another identity, perhaps of another user. */
        void clientChanged(Session session, ClientIdentity previous);

        /** The session has ended, or has left this node: its client can have another one. */
        void ended(Session session);
    }

    /**
     * Creates a session.
     *
     * @param first OPENING if it is new for a client of this node, else ABSENT
     * @param stores the store; null without one
     * @param number its number in the store; 0 if it is not stored
     * @param waiting the messages that wait in the store
     */
    Session(
            SessionServices services,
            Listener listener,
            RoutingLoop owner,
            ClientIdentity client,
            long expirySeconds,
            SessionPhase first,
            @Nullable Stores stores,
            long number,
            StoredQueue waiting) {
        super(services.resources().shareOf(client.clientId()));
        this.resources = services.resources().of(client.clientId());
        this.services = services;
        this.client = client;
        this.clientId = client.clientId();
        this.owner = owner;
        this.life = new SessionLife(this, listener, first);
        this.pressure =
                ConsumerPressure.of(clientId, resources.limits(), owner, resources.router(), resources.budget());
        this.absence = new SessionAbsence(this, services, expirySeconds);
        this.durable = expirySeconds > 0 || first == SessionPhase.ABSENT;
        this.record = stores == null || number == 0
                ? null
                : new SessionRecord(this, subscriptions, resources, stores, number, waiting);
    }

    /** Restores the header that was found in the store. At the start, or before the session is registered. */
    void recovered(StoredSession stored) {
        absence.recovered(stored.will());
        if (record != null) {
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

    @Override
    @AnyThread
    public boolean retainsPayloads() {
        return record == null && pressure == null;
    }

    /** {@return the back-pressure of an in-process consumer; null if the session belongs to a client; never changes} */
    @AnyThread
    public @Nullable ConsumerPressure pressure() {
        return pressure;
    }

    @Override
    @AnyThread
    LimitsConfig limits() {
        return pressure == null ? resources.limits() : pressure.limits();
    }

    @Override
    @AnyThread
    public boolean isStored() {
        return record != null;
    }

    /** {@return the node whose store has the session, if this node has adopted it: it moves when its client connects; otherwise null} */
    @AnyThread
    public @Nullable String home() {
        return record == null ? null : record.home();
    }

    @Override
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

    @Override
    @AnyThread
    public ClientIdentity client() {
        return client;
    }

    @Override
    @AnyThread
    public boolean hasEnded() {
        return life.phase() == SessionPhase.ENDED;
    }

    /**
     * Whether it has ended, or is about to move to another node: what its client sends again is then another message.
     *
     * @return false again if it stays
     */
    @AnyThread
    public boolean isLeaving() {
        SessionPhase now = life.phase();
        return now == SessionPhase.DEPARTING || now == SessionPhase.ENDED;
    }

    @Override
    @AnyThread
    public void execute(Runnable task) {
        life.execute(task);
    }

    // --- its parts

    SessionResources resources() {
        return resources;
    }

    /** The phase and the connection. */
    @AnyThread
    SessionLife life() {
        return life;
    }

    /** {@return the will of the client, and the deadlines while it is offline} */
    @AnyThread
    public SessionAbsence absence() {
        return absence;
    }

    /** The memory that the session is charged with. */
    @AnyThread
    SessionCharge charge() {
        return charge;
    }

    /** {@return the subscriptions, to be used on the session's event loop; elsewhere the size may be out of date} */
    @AnyThread
    public SessionSubscriptions subscriptions() {
        return subscriptions;
    }

    /** Whether a user may take over the session, with its client identifier. That of a bridge is closed to all clients, and its user may change. */
    @AnyThread
    boolean mayBeClaimedBy(@Nullable String userName) {
        return !resources.config().bindToUser()
                || InProcess.isClosedToClients(clientId)
                || Objects.equals(userName, client.userName());
    }

    /** Assigns the session to another event loop. */
    void owner(RoutingLoop target) {
        owner = target;
    }

    /** Replaces the identity of the client. */
    void client(ClientIdentity newClient) {
        ClientIdentity before = client;
        client = newClient;
        charge.clientChanged(before, newClient);
    }

    // --- messages to the client

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        if (wasTaken(message, subscription, ticket)) {
            return;
        }
        if (intake == null) {
            take(message, subscription, ticket);
        } else {
            intake.deliver(message.onHeap(), subscription, ticket);
        }
    }

    @Override
    public void deliverPassedOn(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        assert owner.executor().inEventLoop();
        if (wasTaken(message, subscription, ticket)) {
            return;
        }
        if (intake == null) {
            take(message, subscription, ticket);
        } else {
            intake.deliverPassedOn(message.onHeap(), subscription, ticket);
        }
    }

    /** Whether a message is left out, because the session has it already. */
    private boolean wasTaken(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        boolean had = RepeatedMessages.had(record, services.history(), key, message, subscription, ticket);
        if (had) {
            resources.observer().messageElsewhere(Elsewhere.DUPLICATE, 1);
        }
        return had;
    }

    /** The intake, which holds back messages and skips those that another node has taken. */
    SessionIntake intake() {
        if (intake == null) {
            intake = new SessionIntake(resources, pressure, this::take, this::intakeChanged);
        }
        return intake;
    }

    /** Discards the intake if it is no longer needed. */
    private void intakeChanged() {
        if (intake != null && intake.isIdle()) {
            intake = null;
        }
    }

    /** Takes a message now. */
    void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        boolean over = hasEnded();
        if (subscription.shareName() != null && (over || !isOnline())) {
            queueInGroup(message.onHeap(), subscription, ticket); // other members or the group's queue take it
        } else if (over) {
            resources.observer().messageDropped(DropReason.SESSION_ENDED, 1);
            TracedQueue.dropped(message, subscription, DropReason.SESSION_ENDED);
        } else {
            outbound().deliver(message, subscription, ticket);
            remember(message, subscription);
            absence.awaitExpiryOf(message);
        }
    }

    /** Records a message that the session takes, so that duplicates from other nodes are recognized. */
    void remember(ApplicationMessage message, Subscription subscription) {
        services.history().took(owner, key, message, subscription, expirySeconds() > 0);
    }

    @Override
    @AnyThread
    long key() {
        return key;
    }

    /** The outbound flow; null if nothing was ever sent. */
    @AnyThread
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

    /** Starts or resumes sending: after CONNACK and SUBACK, and when the socket becomes writable again. */
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
     * Processes a PUBACK.
     *
     * @param packetId the packet identifier
     * @param reason the reason code; an error ends the message too
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubAck(int packetId, ReasonCode reason) {
        assert owner.executor().inEventLoop();
        return outbound == null ? UNKNOWN : taken(outbound.window().acknowledged(packetId, reason));
    }

    /**
     * Processes a PUBREC; the PUBREL follows unless the reason is an error.
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
     * Processes a PUBCOMP.
     *
     * @param packetId the packet identifier
     * @return whether a message awaits it
     */
    public AcknowledgementOutcome onPubComp(int packetId) {
        assert owner.executor().inEventLoop();
        return outbound == null ? UNKNOWN : taken(outbound.window().completed(packetId));
    }

    private AcknowledgementOutcome taken(AcknowledgementOutcome outcome) {
        if (member != null) {
            member.gatherMore();
        }
        return outcome;
    }

    // --- messages from the client

    /** {@return the receiver's half of QoS 2} */
    public InboundFlow inbound() {
        if (inbound == null) {
            inbound = new InboundFlow(record);
        }
        return inbound;
    }

    /**
     * Calls back when all changes up to now are committed: at once for a session that is not stored.
     *
     * @param callback receives the outcome
     */
    public void afterCommit(CommitCallback callback) {
        if (record == null) {
            callback.committed(true);
        } else {
            record.await(callback);
        }
    }

    // --- figures

    /** {@return the number of messages that wait for the client, exact on the session's event loop} */
    @AnyThread
    public int queuedCount() {
        OutboundFlow flow = outbound;
        int stored = record == null ? 0 : record.queue().size();
        return flow == null ? stored : flow.queuedCount();
    }

    /** {@return the footprint of the messages that wait for the client, in bytes as counted by the limits, exact on the session's event loop} */
    public long queuedBytes() {
        OutboundFlow flow = outbound;
        long stored = record == null ? 0 : record.queue().bytes();
        return flow == null ? stored : flow.queuedBytes();
    }

    // --- lifecycle

    /**
     * Handles the end of a connection. Does nothing if the session has another connection by now.
     *
     * @param from the connection
     * @param publishWill whether the will is to be published [MQTT-3.1.2-8]
     * @param newExpirySeconds the session expiry interval of the DISCONNECT, or -1
     */
    public void connectionEnded(PacketSink from, boolean publishWill, long newExpirySeconds) {
        assert owner.executor().inEventLoop();
        life.connectionEnded(from, publishWill, newExpirySeconds);
    }

    /**
     * Ends the session and its connection, on an administrator's request.
     *
     * @param reason the reason code of the DISCONNECT
     */
    public void terminate(ReasonCode reason) {
        assert owner.executor().inEventLoop();
        life.terminate(reason);
    }

    // --- shared groups

    /** The session as a member of shared groups. */
    SharedMember member() {
        if (member == null) {
            member = new SharedMember(this, services.groups());
        }
        return member;
    }

    /** The session as a member of shared groups; null if it never was one. */
    @Nullable
    SharedMember memberOrNull() {
        return member;
    }

    @Override
    void deliveriesChanged() {
        if (member != null) {
            member.deliveriesChanged();
        }
    }

    @Override
    @Nullable
    MessageGroup groupOf(Subscription subscription) {
        return member().queueOf(subscription);
    }

    @Override
    void queueInGroup(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        services.groups().add(owner, message, subscription, ticket);
    }

    @Override
    void requeue(ApplicationMessage message, SharedFilter group) {
        services.groups().requeue(owner, group, message, RouteTicket.NONE);
    }

    @Override
    void pausePulls(StoreLoop loop) {
        member().pause(loop);
    }

    @Override
    @AnyThread
    void giveBackWhileAbsent() {
        execute(() -> member().giveBackWhileAbsent());
    }

    @Override
    @AnyThread
    public boolean hasRoom() {
        return queuedCount() * 2L < limits().maxQueuedMessages();
    }

    // --- between nodes

    /** {@return when this node claimed the client identifier, by the cluster's clock; 0 if the session was found in the store} */
    @AnyThread
    public long claimClock() {
        return life.claimClock();
    }

    /**
     * Records that this node has claimed the client identifier.
     *
     * @param clock a time of the cluster's clock
     */
    @AnyThread
    public void claimClock(long clock) {
        life.claimClock(clock);
    }

    /** {@return the receiver's half of QoS 2; null if the client has sent no QoS 2 message} */
    public @Nullable InboundFlow inboundOrNull() {
        return inbound;
    }

    /**
     * The client's connection. Use it on the session's event loop only; elsewhere the answer may be out of date.
     *
     * @return null if the client is offline
     */
    @AnyThread
    public @Nullable PacketSink sink() {
        return life.sink();
    }

    /** {@return the session expiry interval in force, in seconds; 0 if the session ends with the connection} */
    public long expirySeconds() {
        return absence.expirySeconds();
    }

    /**
     * Replaces the client's identity after a reauthentication.
     *
     * @param newClient an identity with the same client identifier
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
