// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.thread.OnEventLoop;

/**
 * Records the steps of messages in the {@link InFlightWindow}: nothing of a session in memory, whose messages are {@link
 * #UNSTORED}. A step that answers false goes on when the store has it: {@link OutboundFlow#stored} is called then.
 */
@OnEventLoop
sealed class DeliveryJournal permits StoredJournal {

    /** The journal of all sessions in memory. */
    static final DeliveryJournal UNSTORED = new DeliveryJournal();

    /**
     * A message that did not wait has its place in the window.
     *
     * @param ticket held until the message is safe or acknowledged
     * @return whether it may be sent now
     */
    boolean begin(long sequence, QoS qos, RouteTicket ticket) {
        return true;
    }

    /**
     * A message of the {@link Backlog} has its place in the window.
     *
     * @param number its number there
     * @return whether it may be sent now
     */
    boolean place(long sequence, long number, QoS qos) {
        return true;
    }

    /**
     * A message that waited in the queue of a shared group has its place in the window.
     *
     * @return whether it may be sent now
     */
    boolean takeOver(long sequence, GroupMessage entry, QoS qos) {
        return true;
    }

    /**
     * A PUBREC has come, and the content of the message is gone.
     *
     * @return whether the PUBREL may be sent now
     */
    boolean received(long sequence) {
        return true;
    }

    /**
     * A message is about to leave the window.
     *
     * @return whether the session had stored it, rather than its shared group or nobody
     */
    boolean end(long sequence) {
        return false;
    }

    /**
     * Stores a QoS 1 message in flight whose shared group is no more.
     *
     * @return false if that is not possible: the session is in memory, or others wait before it
     */
    boolean keep(long sequence) {
        return false;
    }

    /**
     * Gives a message back to its shared group that the session has stored.
     *
     * @return false if the session has not stored it
     */
    boolean giveBack(long sequence, ApplicationMessage message, GroupQueue group) {
        return false;
    }

    /** The client is gone. */
    void detach() {}
}
