// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.AnyThread;
import org.jspecify.annotations.Nullable;

/** A receiver of messages: a session, a peer node, an in-process consumer, a rule. The router knows no other word. */
public interface Subscriber {

    /**
     * Who this is, unique among the subscribers of a broker.
     *
     * @return the client identifier of a session
     */
    String id();

    /**
     * The event loop that owns this subscriber at the moment.
     *
     * @return null if {@link #deliver} may be called on any event loop
     */
    @Nullable
    RoutingLoop owner();

    /**
     * Takes a message. Called on the owner's event loop, or on the publisher's if there is no owner.
     *
     * @param message the message
     * @param subscription the subscription that matched, or several merged into one
     * @param ticket what the publisher's acknowledgement waits for; a subscriber that must store or forward first calls
     *     {@link RouteTicket#hold()} during this call
     */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket);

    /**
     * Takes a message that was routed to this subscriber's previous loop and passed on from there, so that it comes
     * before whatever was routed here directly.
     *
     * @param message the message
     * @param subscription the subscription that matched, or several merged into one
     * @param ticket what the publisher's acknowledgement waits for
     */
    default void deliverForwarded(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        deliver(message, subscription, ticket);
    }

    /**
     * Tells whether a shared subscription may pick this member now. The answer may be out of date.
     *
     * @return true if messages reach a connected client
     */
    @AnyThread
    boolean isOnline();

    /**
     * How many messages wait for an acknowledgement. For the least-in-flight strategy; may be out of date.
     *
     * @return messages
     */
    @AnyThread
    int inFlightCount();

    /**
     * Tells whether the subscriber can keep one more message that could stay where it is. The answer may be out of date.
     *
     * @return false if its queue is more than half full
     */
    @AnyThread
    default boolean hasRoom() {
        return true;
    }

    /**
     * Tells whether the subscriber is on this node.
     *
     * @return false for a peer
     */
    @AnyThread
    default boolean isLocal() {
        return true;
    }

    /**
     * Tells whether the subscriber outlives its connection, so that messages are kept for it while it cannot be reached. Never changes.
     *
     * @return false for a session that ends with its connection
     */
    @AnyThread
    default boolean isDurable() {
        return false;
    }

    /**
     * Tells whether the subscriber may hold tickets. Never changes.
     *
     * @return false if {@link #deliver} takes a message for good when it returns
     */
    @AnyThread
    default boolean mayHold() {
        return true;
    }

    /**
     * The node of the cluster that this subscriber stands for. Never changes.
     *
     * @return null for a subscriber of this node
     */
    @AnyThread
    default @Nullable String node() {
        return null;
    }
}
