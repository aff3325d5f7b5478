// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.QoS;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.Session;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The ticket of a message during routing. It becomes a pending acknowledgement when a subscriber or the store claims it. A message
 * that no subscriber holds is acknowledged at once and costs nothing. Reused for each message.
 */
@OnEventLoop
final class TicketOffer implements RouteTicket {

    private @Nullable Connection connection;
    private int packetId;
    private QoS qos = QoS.AT_MOST_ONCE;
    private AcknowledgementOrder.@Nullable Pending pending;

    TicketOffer of(Connection publisher, int id, QoS level) {
        connection = publisher;
        packetId = id;
        qos = level;
        return this;
    }

    void clear() {
        connection = null;
        pending = null;
    }

    /** The acknowledgement of the ticket; null if no subscriber claimed it. */
    AcknowledgementOrder.@Nullable Pending pending() {
        return pending;
    }

    @Override
    public AcknowledgementOrder.Pending claim() {
        AcknowledgementOrder.Pending made = pending;
        if (made == null) {
            Connection publisher = connection;
            if (publisher == null) {
                throw new IllegalStateException("the message was routed");
            }
            made = publisher.acknowledgements().expectRouted(packetId, qos);
            pending = made;
            if (qos == QoS.EXACTLY_ONCE) {
                Session session = publisher.session();
                session.inbound().receivedUnsettled(packetId, made);
            }
        }
        return made;
    }

    @Override
    public void hold() {
        claim().hold();
    }

    @Override
    public void release(boolean success) {
        claim().release(success);
    }

    @Override
    public boolean waitsForStore() {
        return claim().waitsForStore();
    }

    @Override
    public boolean wantsStable() {
        return claim().wantsStable();
    }

    @Override
    public boolean join(JointOperation operation) {
        return claim().join(operation);
    }
}
