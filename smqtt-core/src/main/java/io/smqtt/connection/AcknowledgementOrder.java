// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.Session;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Acknowledgements to a publisher that wait for a store or a peer. They leave in the order in which the messages came,
 * whatever the order in which these finish [MQTT-4.6.0-2] [MQTT-4.6.0-3]. On the connection's event loop.
 */
final class AcknowledgementOrder {

    private final Connection connection;
    private final ArrayDeque<Pending> pending = new ArrayDeque<>();
    private int atLeastOnce;

    AcknowledgementOrder(Connection connection) {
        this.connection = connection;
    }

    /** How many QoS 1 messages wait; those of QoS 2 are counted by the session until their PUBREL. */
    int atLeastOnce() {
        return atLeastOnce;
    }

    boolean isEmpty() {
        return pending.isEmpty();
    }

    /** The ticket for a message that is about to be routed; it is held until {@link Pending#routed}. */
    Pending expect(int packetId, QoS qos) {
        Pending next = new Pending(packetId, qos);
        pending.add(next);
        if (qos == QoS.AT_LEAST_ONCE) {
            atLeastOnce++;
        }
        return next;
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
    }

    /** One acknowledgement. The holds may be taken and given up on any thread. */
    final class Pending implements RouteTicket {

        private final int packetId;
        private final QoS qos;
        private final AtomicInteger holds = new AtomicInteger(1);
        private volatile boolean failed;
        private ReasonCode reason = ReasonCode.SUCCESS;
        private boolean finished;

        private Pending(int packetId, QoS qos) {
            this.packetId = packetId;
            this.qos = qos;
        }

        boolean isOf(Connection other) {
            return connection == other;
        }

        @Override
        public void hold() {
            holds.incrementAndGet();
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
                    connection.loop().routing().executor().execute(this::finish);
                }
            }
        }

        /** The message was handed to everybody. */
        void routed(ReasonCode outcome) {
            reason = outcome;
            release(true);
        }

        private void finish() {
            finished = true;
            if (qos == QoS.EXACTLY_ONCE) { // also if the connection is gone by now
                settle(connection.session());
            }
            sendFinished();
        }

        /** Tells the session, which may have moved meanwhile. */
        private void settle(Session session) {
            if (session.owner() == connection.loop().routing()) {
                session.inbound().settled(packetId, this, !failed);
            } else {
                session.execute(() -> session.inbound().settled(packetId, this, !failed));
            }
        }

        private void send() {
            if (failed && !connection.isV5()) {
                connection.disconnect(ReasonCode.QUOTA_EXCEEDED); // there is no negative acknowledgement
            } else if (qos == QoS.AT_LEAST_ONCE) {
                connection.pubAck(packetId, failed ? ReasonCode.QUOTA_EXCEEDED : reason);
            } else {
                connection.pubRec(packetId, failed ? ReasonCode.QUOTA_EXCEEDED : reason);
            }
        }
    }
}
