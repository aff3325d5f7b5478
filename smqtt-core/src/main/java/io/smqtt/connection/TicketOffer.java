// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.JointOperation;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The ticket of a message during routing. It becomes a pending acknowledgement when a subscriber or the store claims it. A message
 * that no subscriber holds is acknowledged at once and costs nothing. Reused for each message.
 */
@OnEventLoop
final class TicketOffer implements RouteTicket {

    /** The connection of the publisher. */
    interface Publisher {

        /** Creates the ticket of a message that is being routed; it is held until {@link RoutedTicket#routed}. */
        RoutedTicket ticket(int packetId, QoS qos);
    }

    /** A ticket that is held until its message has been routed. */
    interface RoutedTicket extends RouteTicket {

        /** Completes routing. */
        void routed(ReasonCode outcome);

        /**
         * Refuses a message that was not routed, and perhaps was before: its client has sent it again. In place of {@link #routed}.
         *
         * @param reason an error
         */
        void refused(ReasonCode reason, @Nullable String reasonString);
    }

    private @Nullable Publisher publisher;
    private int packetId;
    private QoS qos = QoS.AT_MOST_ONCE;
    private @Nullable RoutedTicket ticket;

    TicketOffer of(Publisher connection, int id, QoS level) {
        publisher = connection;
        packetId = id;
        qos = level;
        return this;
    }

    void clear() {
        publisher = null;
        ticket = null;
    }

    /** The ticket; null if no subscriber claimed it. */
    @Nullable
    RoutedTicket ticket() {
        return ticket;
    }

    @Override
    public RoutedTicket claim() {
        RoutedTicket claimed = ticket;
        if (claimed == null) {
            if (publisher == null) {
                throw new IllegalStateException("the message was routed");
            }
            claimed = publisher.ticket(packetId, qos);
            ticket = claimed;
        }
        return claimed;
    }

    @Override
    public void hold() {
        claim().hold();
    }

    @Override
    public void holdElsewhere() {
        claim().holdElsewhere();
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
    public boolean waitsForRoom() {
        return claim().waitsForRoom();
    }

    @Override
    public boolean join(JointOperation operation) {
        return claim().join(operation);
    }
}
