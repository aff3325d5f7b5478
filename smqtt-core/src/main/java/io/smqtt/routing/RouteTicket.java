// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;

/**
 * Delays the acknowledgement to a publisher until all holders have released the ticket. Without a store or a relay nothing holds
 * it; a store or a relay holds it until the message is safe there.
 */
public interface RouteTicket {

    /** A ticket without effect: for QoS 0, and for messages of the broker itself. */
    RouteTicket NONE = new RouteTicket() {
        @Override
        public void hold() {
            // no effect
        }

        @Override
        public void release(boolean success) {
            // no effect
        }
    };

    /** Delays the acknowledgement until {@link #release} has been called as often as this method. */
    @AnyThread
    void hold();

    /**
     * A {@link #hold} for a delivery to another node. That node may store the message even if the publisher gets a refusal.
     */
    @AnyThread
    default void holdElsewhere() {
        hold();
    }

    /**
     * Releases one hold.
     *
     * @param success false if the message could not be stored: the publisher gets no positive acknowledgement
     */
    @AnyThread
    void release(boolean success);

    /**
     * Returns the ticket to hold. The router calls this for a subscriber that may hold tickets, so that a ticket with a cost is created
     * only then. On the publisher's event loop, during routing.
     *
     * @return this ticket, or the actual one
     */
    default RouteTicket claim() {
        return this;
    }

    /**
     * Whether the publisher waits for stores.
     *
     * @return false if a store need not hold the ticket
     */
    @AnyThread
    default boolean waitsForStore() {
        return true;
    }

    /**
     * Whether the publisher waits for stable storage.
     *
     * @return false if surviving the end of the process suffices
     */
    @AnyThread
    default boolean wantsStable() {
        return false;
    }

    /**
     * Adds an operation to the commit of the message. It is stored together with the operations of all other subscribers and the
     * publisher's own record of the message, or not at all: a QoS 2 message that is sent again after a crash must be known
     * completely or not at all [MQTT-4.3.3-10]. Only while the ticket is held or the message is being routed.
     *
     * @param operation submitted after routing, on the publisher's event loop
     * @return false if the publisher keeps no record: the subscriber must submit the operation itself
     */
    @AnyThread
    default boolean join(JointOperation operation) {
        return false;
    }

    /**
     * Whether the publisher is the embedding application. Never changes.
     *
     * @return false for a client, and for a relay
     */
    @AnyThread
    default boolean isOfApplication() {
        return false;
    }

    /**
     * Whether the publisher may wait until a consumer has room for its message. Never changes.
     *
     * @return false for a relay, because all of its other messages would wait, too
     */
    @AnyThread
    default boolean mayBeSlowed() {
        return true;
    }

    /**
     * Asks the publisher to wait with a message for which there is no room now. A publisher waits if it cannot be told of a refusal: MQTT 3.1.1 has no
     * negative acknowledgement. Then little is read from it until the ticket is released. Only while the ticket is held; asked again, it says whether
     * the publisher still waits.
     *
     * @return false if the message is to be refused, by {@link #release}
     */
    @AnyThread
    default boolean waitsForRoom() {
        return false;
    }

    /**
     * Whether the message is routed once more if this broker ends without having acknowledged it: a relay sends it again. A stored session
     * then remembers that it has taken it.
     *
     * @return false for a publisher that knows the message by its packet identifier, and below QoS 2
     */
    @AnyThread
    default boolean mayComeAgain() {
        return false;
    }

    /**
     * Whether the message may have been routed before this broker was started.
     *
     * @return true if a session must check whether it has taken the message
     */
    @AnyThread
    default boolean mayHaveCome() {
        return false;
    }

    /**
     * Whether the message comes before those that a session holds back since this node has adopted it: it was parked for its node before. Never changes.
     *
     * @return true if such a session takes it at once
     */
    @AnyThread
    default boolean comesFirst() {
        return false;
    }

    /** Reports that a delivery of the message was queued. Called during routing, or while the ticket is held; most tickets ignore it. */
    default void queued() {}

    /**
     * Reports that a delivery of the message was dropped. Called during routing, or while the ticket is held; most tickets ignore it.
     *
     * @param reason the reason
     */
    default void dropped(DropReason reason) {}
}
