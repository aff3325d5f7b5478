// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The phase and the connection of a session, and how both change. Called by claims ({@link SessionClaims}), connections and
 * deadlines ({@link SessionAbsence}).
 */
@OnEventLoop
final class SessionLife {

    private final Session session;
    private final Session.Listener listener;
    private volatile SessionPhase phase;

    /** Claims and tasks that wait for the end of the phase. */
    private @Nullable List<Runnable> waiting;

    private volatile long claimClock;
    private volatile long cleanClock;

    /** Whether it began with a clean start whose time is not known yet. */
    private boolean beginsClean;

    /** Whether the client has connected since the session is in this process: its identity is that of a connection. */
    private boolean identified;

    // valid for the connection
    private volatile @Nullable PacketSink sink;
    private @Nullable DeliveryCheck check;

    SessionLife(Session session, Session.Listener listener, SessionPhase first) {
        this.session = session;
        this.listener = listener;
        this.phase = first;
    }

    // --- the phase

    @AnyThread
    SessionPhase phase() {
        return phase;
    }

    /** Changes to another phase, by the table of {@link SessionPhase}. */
    void become(SessionPhase next) {
        if (!phase.followers().contains(next)) {
            throw unexpected(next);
        }
        phase = next;
        assert next.allows(sink != null) : next;
    }

    private IllegalStateException unexpected(SessionPhase next) {
        return new IllegalStateException(session + " is " + phase + " and cannot become " + next);
    }

    /** Ends a transitional phase: connected or absent. */
    void settle() {
        become(sink == null ? SessionPhase.ABSENT : SessionPhase.CONNECTED);
    }

    /** Queues a task for {@link #runWaiting}. */
    void afterwards(Runnable task) {
        if (waiting == null) {
            waiting = new ArrayList<>(1);
        }
        waiting.add(task);
    }

    /** Runs the claims and tasks that waited for the end of the phase. */
    void runWaiting() {
        List<Runnable> tasks = waiting;
        waiting = null;
        if (tasks != null) {
            tasks.forEach(Runnable::run);
        }
    }

    /** See {@link Session#execute}. */
    @AnyThread
    void execute(Runnable task) {
        RoutingLoop current = session.owner();
        current.executor().execute(() -> {
            if (session.owner() != current) {
                execute(task);
            } else if (phase == SessionPhase.MOVING) {
                afterwards(() -> execute(task));
            } else {
                task.run();
            }
        });
    }

    // --- the connection

    /** The connection; null if the client is offline. Exact on the session's event loop. */
    @AnyThread
    @Nullable
    PacketSink sink() {
        return sink;
    }

    /**
     * Whether the identity of the client is complete. A session from the store or from another node has neither grants nor an
     * address until its client connects: access rules cannot decide before.
     */
    boolean isIdentified() {
        return identified;
    }

    /** The check of deliveries to the client; null if all are allowed. */
    @Nullable
    DeliveryCheck check() {
        return check;
    }

    /** Records the creation of the session on this node. */
    void created() {
        session.resources().observer().sessionCreated(session.id());
    }

    /** Attaches a connection of this event loop, with the expiry interval and the will of its CONNECT. */
    void attach(PacketSink connection, ClientIdentity client, long expirySeconds, @Nullable Will will) {
        session.absence().attached(client, expirySeconds, will);
        ClientIdentity previous = session.client();
        session.client(client);
        identified = true;
        listener.clientChanged(session, previous);
        check = DeliveryCheck.of(session.resources().authorizer(), client);
        sink = connection;
        switch (phase) {
            case OPENING, ABSENT, RESUMING -> become(SessionPhase.CONNECTED);
            case MOVING -> {} // until the move ends
            case CONNECTED, DEPARTING, ENDED -> throw unexpected(SessionPhase.CONNECTED);
        }
        session.charge().addFlows();
        OutboundFlow outbound = session.outboundOrNull();
        SessionRecord record = session.record();
        if (outbound != null) {
            outbound.attach(connection, check);
        } else if (record != null && !record.queue().isEmpty()) {
            session.outbound(); // what waits in the store
        }
    }

    /** Updates the client's access rights after a reauthentication. */
    void reauthenticated(ClientIdentity newClient) {
        session.client(newClient);
        SessionRecord record = session.record();
        if (record != null) {
            record.reauthenticated(newClient);
        }
        check = DeliveryCheck.of(session.resources().authorizer(), newClient);
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null) {
            outbound.window().check(check);
        }
        session.subscriptions().recheck();
    }

    /** Ends the current connection, if any, because another one takes over, here or on another node. */
    void endConnection(boolean sessionEnds) {
        PacketSink old = loseConnection();
        if (old != null) {
            session.resources().observer().sessionTakenOver(session.id());
            old.disconnect(ReasonCode.SESSION_TAKEN_OVER); // [MQTT-3.1.4-3]
        }
        session.absence().claimed(old != null, sessionEnds);
    }

    /** Detaches the connection. Returns it, or null if there was none. */
    private @Nullable PacketSink loseConnection() {
        PacketSink old = sink;
        if (old == null) {
            return null;
        }
        sink = null;
        switch (phase) {
            case CONNECTED -> become(SessionPhase.ABSENT);
            case RESUMING, MOVING -> {} // until the phase ends
            case OPENING, ABSENT, DEPARTING, ENDED -> throw unexpected(SessionPhase.ABSENT);
        }
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null) {
            outbound.detach();
        }
        SharedMember member = session.memberOrNull();
        if (member != null) {
            member.detached();
        }
        return old;
    }

    /** See {@link Session#connectionEnded}. */
    void connectionEnded(PacketSink from, boolean publishWill, long newExpirySeconds) {
        if (sink == from) {
            loseConnection();
            beginAbsence(publishWill, newExpirySeconds);
        }
    }

    private void beginAbsence(boolean publishWill, long newExpirySeconds) {
        session.absence().begin(publishWill, newExpirySeconds);
        session.charge().addFlows();
    }

    // --- between event loops

    /** Moves the session to another event loop; messages routed here are passed on to it. */
    void moveTo(RoutingLoop target) {
        become(SessionPhase.MOVING);
        session.owner(target);
    }

    /** Completes the move: all messages that were passed on have arrived. */
    void settleMove() {
        if (phase == SessionPhase.MOVING) { // it may have ended during the move
            settle();
        }
    }

    // --- between nodes

    /** The time when this node claimed the client identifier, by the cluster's clock; 0 if the session was found in the store. */
    @AnyThread
    long claimClock() {
        return claimClock;
    }

    /** Records that this node has claimed the client identifier. */
    @AnyThread
    void claimClock(long clock) {
        claimClock = clock;
        if (beginsClean) {
            beginsClean = false;
            cleanClock = clock;
        }
    }

    /** Records that the session begins with a clean start, whose time is not known yet. */
    @AnyThread
    void beginsClean() {
        beginsClean = true;
    }

    /** The time of the clean start that began the session, by the cluster's clock; 0 if none. */
    @AnyThread
    long cleanClock() {
        return cleanClock;
    }

    @AnyThread
    void cleanClock(long clock) {
        cleanClock = clock;
    }

    /** Cancels the departure: the session stays with its client offline. */
    void stay() {
        if (phase == SessionPhase.DEPARTING) {
            become(SessionPhase.ABSENT);
            beginAbsence(false, -1);
        }
        runWaiting();
    }

    /** Completes the departure: the other node has committed the session, which is forgotten here. */
    void leave() {
        if (phase == SessionPhase.DEPARTING) {
            forget(SessionRecord::forget);
        }
        runWaiting();
    }

    /** Another node serves the session and its rows: its client is disconnected, and has no session here. Messages for it are refused by the store. */
    void lose() {
        if (phase == SessionPhase.ENDED) {
            return;
        }
        PacketSink current = loseConnection();
        if (current != null) { // a consumer in the process takes a stop for its regular end, but the broker runs on
            boolean inProcess = InProcess.isReserved(session.id());
            current.disconnect(inProcess ? ReasonCode.SERVER_UNAVAILABLE : ReasonCode.SERVER_SHUTTING_DOWN);
        }
        session.absence().cancel(); // the other node has the deadlines
        session.subscriptions().releaseExclusive();
        listener.ended(session);
        session.resources().observer().sessionEnded(session.id(), false);
        runWaiting();
    }

    /** Forgets the session, whose rows another node serves; its client is disconnected. */
    void letGo() {
        if (phase == SessionPhase.ENDED) {
            return;
        }
        PacketSink current = loseConnection();
        if (current != null) {
            current.disconnect(ReasonCode.SERVER_SHUTTING_DOWN);
        }
        SharedMember member = session.memberOrNull();
        if (member != null) {
            member.keepQueues(); // members on its node may pull
        }
        forget(SessionRecord::leaveRows);
        runWaiting();
    }

    /** Takes the session out of this node, which does not end it. */
    private void forget(Consumer<SessionRecord> rows) {
        withdraw();
        leaveGroups();
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null) {
            outbound.forget();
        }
        SessionRecord record = session.record();
        if (record != null) {
            rows.accept(record);
        }
        remove();
        session.resources().observer().sessionEnded(session.id(), false);
    }

    /** Resumes the deadlines of a session that has come from another node, until its client connects. */
    void awaitReturn() {
        if (session.isStored()) {
            awaitClient();
        } else if (phase == SessionPhase.ABSENT) {
            beginAbsence(false, -1);
        }
    }

    /** Resumes the deadlines of a recovered session without a client, by the store's clock. */
    void awaitClient() {
        SessionRecord record = session.record();
        switch (phase) {
            case OPENING, RESUMING, MOVING, DEPARTING -> // its client may be refused
                afterwards(() -> session.execute(this::awaitClient));
            case CONNECTED, ABSENT -> {
                if (record != null) {
                    session.absence().resumeDeadlines(record);
                    session.charge().addFlows();
                }
            }
            case ENDED -> {}
        }
    }

    // --- the end

    /** Removes a recovered session that does not fit from memory; it stays in the store. At the start. */
    void leaveOut() {
        withdraw();
        leaveGroups();
        remove();
    }

    /** Ends the session to make room, unless its client is connected or about to be. Returns whether it has ended. */
    boolean expireIfOffline() {
        if (phase == SessionPhase.ABSENT) {
            session.absence().expire();
        }
        return phase == SessionPhase.ENDED;
    }

    /** See {@link Session#terminate}. */
    void terminate(ReasonCode reason) {
        PacketSink current = loseConnection();
        if (current != null) {
            current.disconnect(reason);
        }
        session.absence().willDue();
        end(false);
    }

    /** Ends the session, unless it has ended. */
    void end(boolean expired) {
        assert session.owner().executor().inEventLoop();
        if (phase == SessionPhase.ENDED) {
            return;
        }
        withdraw();
        SharedMember member = session.memberOrNull();
        if (member != null) {
            member.giveBackAll();
        }
        leaveGroups();
        OutboundFlow outbound = session.outboundOrNull();
        if (outbound != null) {
            outbound.end();
        }
        SessionRecord record = session.record();
        if (record != null) {
            record.end();
        }
        remove();
        session.resources().observer().sessionEnded(session.id(), expired);
    }

    /** Stops routing to the session and releases its charges. */
    private void withdraw() {
        session.charge().release();
        become(SessionPhase.ENDED);
        session.absence().cancel();
        session.subscriptions().leaveIndex();
    }

    private void leaveGroups() {
        SharedMember member = session.memberOrNull();
        if (member != null) {
            member.leaveGroups();
        }
    }

    /** Removes the session: the client can have another one. */
    private void remove() {
        session.subscriptions().clear();
        listener.ended(session);
    }
}
