// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * A receiver of messages: a session, an in-process consumer, or a relay, which represents subscribers elsewhere. The router knows only this
 * interface.
 */
public interface Subscriber {

    /**
     * The name of the subscriber, unique in its broker.
     *
     * @return the client identifier of a session
     */
    String id();

    /**
     * The client of the subscriber.
     *
     * @return the identity of the connected, or last connected, client; null if the subscriber is no session
     */
    @AnyThread
    default @Nullable ClientIdentity client() {
        return null;
    }

    /**
     * The event loop that owns this subscriber now.
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
     * @param ticket delays the publisher's acknowledgement; a subscriber that must store or forward the message first calls
     *     {@link RouteTicket#hold()} during this call
     */
    void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket);

    /**
     * Takes a message that was routed to this subscriber's previous event loop and passed on from there. It comes before messages that
     * were routed to the present one.
     *
     * @param message the message
     * @param subscription the subscription that matched, or several merged into one
     * @param ticket delays the publisher's acknowledgement
     */
    default void deliverPassedOn(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        deliver(message, subscription, ticket);
    }

    /**
     * Whether a shared group may select this member now. May be out of date.
     *
     * @return true if messages reach a connected client
     */
    @AnyThread
    boolean isOnline();

    /**
     * The number of unacknowledged messages. For the least-in-flight strategy; may be out of date.
     *
     * @return messages
     */
    @AnyThread
    int inFlightCount();

    /**
     * Whether the subscriber has room for one more message that could also be kept elsewhere. May be out of date.
     *
     * @return false if its queue is more than half full
     */
    @AnyThread
    default boolean hasRoom() {
        return true;
    }

    /**
     * Whether the subscriber outlives its connection, so that messages are kept for it while it cannot be reached. Never changes.
     *
     * @return false for a session that ends with its connection
     */
    @AnyThread
    default boolean isDurable() {
        return false;
    }

    /**
     * Whether the subscriber may hold tickets. Never changes.
     *
     * @return false if {@link #deliver} has completely handled the message when it returns
     */
    @AnyThread
    default boolean mayHold() {
        return true;
    }

    /**
     * Whether the subscriber gets only messages that were published to this node. Its subscriptions are not announced to other nodes.
     * Never changes.
     *
     * @return false for a subscriber that gets messages of all nodes
     */
    @AnyThread
    default boolean isLocalOnly() {
        return false;
    }

    /**
     * Whether the subscriber takes the messages of a topic to which it has subscribed. One that shares the topics of its filters with others
     * takes only its part of them, see {@link SubscriptionIndex#topicsAreShared}. Never changes.
     *
     * @param topic a topic that a filter of the subscriber matches
     * @return false if another subscriber takes them
     */
    @AnyThread
    default boolean takes(TopicName topic) {
        return true;
    }

    /**
     * Whether the subscriber retains payloads as long as it holds their messages ({@link io.smqtt.message.Payload#retain()}). Never changes.
     *
     * @return false for a subscriber that gets only payloads on the heap
     */
    @AnyThread
    default boolean retainsPayloads() {
        return false;
    }

    /**
     * The destination of a relay. A message that came by a relay, or that a relay could not take, is not given to relays again. Never
     * changes.
     *
     * @return a name; null for a subscriber that is no relay
     */
    @AnyThread
    default @Nullable String relaysTo() {
        return null;
    }

    /**
     * Whether the subscriber represents others elsewhere. Never changes.
     *
     * @return false for a subscriber that takes messages for itself
     */
    @AnyThread
    default boolean isRelay() {
        return relaysTo() != null;
    }
}
