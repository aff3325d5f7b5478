// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.Deadline;
import io.smqtt.session.InboundFlow;
import io.smqtt.session.Session;
import io.smqtt.session.StoreLoop;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Keeps acknowledgements to a publisher in the order of its messages, in whatever order a store or a peer completes them
 * [MQTT-4.6.0-2] [MQTT-4.6.0-3].
 */
@OnEventLoop
final class AcknowledgementOrder {

    /** Acknowledgements that may wait while one of them waits for room: as many as common clients have in flight, so that these can still ping. */
    private static final int MOST_WHILE_HELD_BACK = 20;

    private static final long LONGEST_PAUSE_MILLIS = 60_000;

    private final Connection connection;
    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private final ArrayDeque<Pending> unstored = new ArrayDeque<>();
    private int atLeastOnce;
    private int haltedAt;
    private int heldBack;
    private @Nullable Pause pause;

    AcknowledgementOrder(Connection connection) {
        this.connection = connection;
    }

    /** Number of QoS 1 messages that wait; the session counts those of QoS 2 until their PUBREL. */
    int atLeastOnce() {
        return atLeastOnce;
    }

    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** Stops decoding while this many acknowledgements wait: the client meets TCP back-pressure. */
    void halt(int maximum) {
        int most = heldBack == 0 ? maximum : Math.min(maximum, MOST_WHILE_HELD_BACK);
        if (haltedAt == 0 && pending.size() >= most) {
            haltedAt = most;
            connection.await();
        }
        if (haltedAt > 0 && heldBack > 0 && pause == null) {
            pause = new Pause();
            connection.loop().wheel().arm(pause, LONGEST_PAUSE_MILLIS);
        }
    }

    /** Ends the connection of a client that was not read from for too long: whether it is still there is not known. */
    private final class Pause extends Deadline {

        @Override
        protected void expired() {
            pause = null;
            if (haltedAt > 0 && heldBack > 0) {
                connection.disconnect(ReasonCode.QUOTA_EXCEEDED);
            }
        }
    }

    /** Resumes decoding; in a later pass, because this may be called in the middle of decoding. */
    private void proceed() {
        if (haltedAt > 0 && pending.size() < haltedAt) {
            haltedAt = 0;
            if (pause != null) {
                pause.cancel();
                pause = null;
            }
            connection.answerLater();
        }
    }

    /** Creates the ticket of a message whose answer keeps its turn; it is held until {@link Pending#routed}. */
    Pending expect(int packetId, QoS qos) {
        return add(new Pending(packetId, qos, false, false));
    }

    /** Creates the ticket of a QoS 2 message that was routed on another connection, and is not settled. */
    Pending expectSettled(int packetId) {
        Pending next = expect(packetId, QoS.EXACTLY_ONCE);
        next.isElsewhere = true;
        return next;
    }

    /** Creates the ticket of a message that is about to be routed; it is held until {@link Pending#routed}. */
    Pending expectRouted(int packetId, QoS qos) {
        boolean recorded = qos == QoS.EXACTLY_ONCE
                && connection.loop().store() != null
                && connection.session().isStored();
        boolean joint = recorded && connection.waitsForStore();
        Pending next = add(new Pending(packetId, qos, recorded, joint));
        if (joint) {
            unstored.add(next);
        }
        return next;
    }

    private Pending add(Pending next) {
        pending.add(next);
        if (next.qos == QoS.AT_LEAST_ONCE) {
            atLeastOnce++;
        }
        return next;
    }

    /** Stores QoS 2 messages that have been routed, in the order of their arrival. */
    private void storeRouted() {
        Pending first = unstored.peek();
        while (first != null && first.isRouted) {
            unstored.remove();
            first.store();
            first = unstored.peek();
        }
    }

    private void sendFinished() {
        Pending first = pending.peek();
        while (first != null && first.finished && !connection.isClosing()) {
            pending.remove();
            if (first.qos == QoS.AT_LEAST_ONCE) {
                atLeastOnce--;
            }
            first.send();
            first = pending.peek();
        }
        proceed();
    }

    /** One acknowledgement. Any thread may hold and release it. */
    final class Pending extends HandedBack.Item implements TicketOffer.RoutedTicket {

        private final int packetId;
        private final QoS qos;
        private final boolean recorded;
        private final boolean joint;
        private final AtomicInteger holds = new AtomicInteger(1);
        private volatile boolean failed;
        private volatile boolean waits;
        private ReasonCode reason = ReasonCode.SUCCESS;
        private @Nullable String reasonString;
        private boolean isRouted;
        private boolean finished;
        private boolean isHeldBack;

        /** Whether another node may have the message, whatever becomes of it here. */
        private boolean isElsewhere;

        /** Whether the refusal cannot be sent: the packet identifier has no new number in the store. */
        private boolean isUnanswered;

        /** Operations of subscribers; guarded by this. */
        private @Nullable List<JointOperation> operations;

        private Pending(int packetId, QoS qos, boolean recorded, boolean joint) {
            this.packetId = packetId;
            this.qos = qos;
            this.recorded = recorded;
            this.joint = joint;
        }

        boolean isOf(Connection other) {
            return connection == other;
        }

        @Override
        public void hold() {
            holds.incrementAndGet();
        }

        @Override
        public void holdElsewhere() {
            isElsewhere = true;
            hold();
        }

        @Override
        public void release(boolean success) {
            if (!success) {
                failed = true;
            }
            if (holds.decrementAndGet() == 0) {
                if (connection.loop().inEventLoop()) {
                    finish();
                } else {
                    connection.loop().handedBack().add(this);
                }
            }
        }

        @Override
        public void routed(ReasonCode outcome) {
            routed(outcome, null);
        }

        @Override
        public void refused(ReasonCode outcome, @Nullable String text) {
            isElsewhere = true;
            failed = true;
            routed(outcome, text);
        }

        /** Completes routing, or a refusal with a reason string. */
        void routed(ReasonCode outcome, @Nullable String text) {
            reason = outcome;
            reasonString = text;
            release(true);
        }

        @Override
        public boolean waitsForStore() {
            return connection.waitsForStore();
        }

        @Override
        public boolean wantsStable() {
            return connection.wantsStable();
        }

        /**
         * Without its connection a QoS 2 message continues to wait: when the client sends it again, it is the same message. Not if its session
         * moves to another node, which would acknowledge it, or has ended. A message that sessions of this node store together does not wait,
         * because their later messages would, too.
         */
        @Override
        public boolean waitsForRoom() {
            if (connection.isV5()
                    || !operations().isEmpty()
                    || !connection.context().channel().isActive()
                            && (qos == QoS.AT_LEAST_ONCE || connection.session().isLeaving())) {
                return false;
            }
            if (!waits) {
                waits = true; // twice does no harm
                connection.loop().routing().executor().execute(this::holdBack);
            }
            return true;
        }

        private void holdBack() {
            if (!finished && !isHeldBack && !connection.isClosing()) {
                isHeldBack = true;
                heldBack++;
                halt(MOST_WHILE_HELD_BACK);
            }
        }

        @Override
        public boolean join(JointOperation operation) {
            if (joint) {
                synchronized (this) {
                    if (operations == null) {
                        operations = new ArrayList<>();
                    }
                    operations.add(operation);
                }
            }
            return joint;
        }

        private synchronized List<JointOperation> operations() {
            return operations == null ? List.of() : operations;
        }

        /** Submits all operations at once; all subscribers have the message and have added their operations. */
        private void store() {
            StoreLoop store = connection.loop().store();
            if (failed || store == null) {
                complete();
                return;
            }
            holds.set(1);
            connection.session().inbound().store(store, packetId, operations(), this);
            release(true);
        }

        @Override
        void handedBack() {
            finish();
        }

        private void finish() {
            if (joint && !isRouted) {
                isRouted = true;
                storeRouted();
            } else {
                complete();
            }
        }

        private void complete() {
            heldBack -= isHeldBack ? 1 : 0;
            StoreLoop store = connection.loop().store();
            if (recorded && !joint && !failed && store != null) { // the acknowledgement does not wait for the write
                connection.session().inbound().store(store, packetId, List.of(), RouteTicket.NONE);
            }
            for (JointOperation operation : operations()) {
                operation.settled(!failed);
            }
            if (qos == QoS.EXACTLY_ONCE && failed && hasAnswer()) {
                renumber(connection.session().inbound());
            } else {
                answer();
            }
        }

        /** Whether the client is about to get a reason for the refusal, which ends the exchange. */
        private boolean hasAnswer() {
            return connection.isV5()
                    && !connection.isClosing()
                    && connection.session().owner() == connection.loop().routing();
        }

        /** The packet identifier may be used for another message after the answer: it gets another number before, in the store if another node knows this one. */
        private void renumber(InboundFlow inbound) {
            boolean awaited = isElsewhere && connection.waitsForStore();
            inbound.renumber(packetId, awaited, connection.wantsStable(), kept -> {
                isUnanswered = !kept;
                answer();
            });
        }

        private void answer() {
            finished = true;
            if (qos == QoS.EXACTLY_ONCE) { // also if the connection has ended
                settle(connection.session());
            }
            sendFinished();
        }

        /** Passes the outcome to the session, which may have moved in the meantime. */
        private void settle(Session session) {
            if (session.owner() == connection.loop().routing()) {
                session.inbound().settled(packetId, this, !failed);
            } else {
                session.execute(() -> session.inbound().settled(packetId, this, !failed));
            }
        }

        private void send() {
            boolean replaced = failed && !reason.isError();
            ReasonCode sent = replaced ? ReasonCode.QUOTA_EXCEEDED : reason;
            String text = replaced ? null : reasonString;
            if (isUnanswered || (failed && !connection.isV5())) {
                connection.disconnect(ReasonCode.QUOTA_EXCEEDED); // there is no negative acknowledgement
            } else if (qos == QoS.AT_LEAST_ONCE) {
                connection.output().pubAck(packetId, sent, text);
            } else {
                connection.output().pubRec(packetId, sent, text);
            }
        }
    }
}
