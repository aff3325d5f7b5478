// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;

/**
 * Delays the acknowledgement to a publisher until all holders of the ticket have released it. In memory nothing holds it; a
 * durable store or a peer node does until its part has reached safety.
 */
public interface RouteTicket {

    /** A ticket nobody waits for: QoS 0, or a message of the broker itself. */
    RouteTicket NONE = new RouteTicket() {
        @Override
        public void hold() {
            // nobody waits
        }

        @Override
        public void release(boolean success) {
            // nobody waits
        }
    };

    /** Delays the acknowledgement until {@link #release} is called as often. */
    @AnyThread
    void hold();

    /**
     * Gives up one hold.
     *
     * @param success false if the message could not be kept: the publisher gets no positive acknowledgement
     */
    @AnyThread
    void release(boolean success);

    /**
     * The ticket to hold, called by the router for a subscriber that may hold it. A ticket that costs something is made
     * only now. On the publisher's event loop, during routing.
     *
     * @return this ticket, or the one that it stands for
     */
    default RouteTicket claim() {
        return this;
    }

    /**
     * Tells whether the publisher waits for stores at all.
     *
     * @return false if a store need not hold the ticket
     */
    @AnyThread
    default boolean waitsForStore() {
        return true;
    }

    /**
     * Tells whether only stable storage is safe enough.
     *
     * @return false if surviving the end of the process is enough
     */
    @AnyThread
    default boolean wantsStable() {
        return false;
    }

    /**
     * Offers an operation that must become safe together with those of all other subscribers and with the publisher's own
     * record of the message, or not at all: a QoS 2 message that comes again after a crash must then be either known
     * completely or not at all [MQTT-4.3.3-10]. While the ticket is held or being routed.
     *
     * @param operation is submitted when all subscribers have been asked, on the publisher's event loop
     * @return false if the publisher keeps no record: the subscriber submits it by itself
     */
    @AnyThread
    default boolean join(JointOperation operation) {
        return false;
    }

    /**
     * Tells whether the publisher is the embedding application. Never changes.
     *
     * @return false for a client, and for a peer
     */
    @AnyThread
    default boolean isOfApplication() {
        return false;
    }

    /**
     * Tells whether the publisher may be kept waiting until a consumer has room for its message. Never changes.
     *
     * @return false for a peer, because whatever else it sends would wait as well
     */
    @AnyThread
    default boolean mayBeSlowed() {
        return true;
    }

    /** A delivery of the message waits in a queue. Told at once, or while the ticket is held; most tickets do not care. */
    default void queued() {}

    /**
     * A delivery of the message was dropped. Told at once, or while the ticket is held; most tickets do not care.
     *
     * @param reason why
     */
    default void dropped(DropReason reason) {}
}
