// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;

/**
 * Records the state changes of messages in the {@link InFlightWindow}. For a session in memory this does nothing ({@link
 * #UNSTORED}). If a method returns false, the delivery continues when the store has committed the change: {@link
 * OutboundFlow#stored} or {@link OutboundFlow#released} is called then.
 */
@OnEventLoop
class DeliveryJournal {

    /** The journal of all sessions in memory. */
    static final DeliveryJournal UNSTORED = new DeliveryJournal();

    /**
     * Records that a message which did not wait is in the window.
     *
     * @param ticket held until the message is committed or acknowledged
     * @return whether it may be sent now
     */
    boolean begin(long sequence, QoS qos, RouteTicket ticket) {
        return true;
    }

    /**
     * Records that a message of the {@link Backlog} is in the window.
     *
     * @param number its number in the backlog
     * @return whether it may be sent now
     */
    boolean place(long sequence, long number, QoS qos) {
        return true;
    }

    /**
     * Records that a message from the queue of a shared group is in the window.
     *
     * @return whether it may be sent now
     */
    boolean takeOver(long sequence, GroupMessage entry, QoS qos) {
        return true;
    }

    /**
     * Records a PUBREC; the content of the message is discarded.
     *
     * @return whether the PUBREL may be sent now
     */
    boolean received(long sequence) {
        return true;
    }

    /**
     * Records that a message is about to leave the window.
     *
     * @return whether the session had stored it; false if its shared group had, or it was not stored
     */
    boolean end(long sequence) {
        return false;
    }

    /**
     * Stores a QoS 1 message in flight whose shared group has ended.
     *
     * @return false if that is not possible: the session is in memory, or earlier messages wait
     */
    boolean keep(long sequence) {
        return false;
    }

    /**
     * Returns a message that the session has stored to its shared group.
     *
     * @return false if the session has not stored it
     */
    boolean giveBack(long sequence, ApplicationMessage message, MessageGroup group) {
        return false;
    }

    /** Called when the client has disconnected. */
    void detach() {}
}
