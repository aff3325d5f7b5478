// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;

/**
 * Observes each message: the account of deliveries, and samples of their duration. The methods take primitives and
 * constants, so that observing allocates nothing.
 *
 * <h2>How the account is read</h2>
 *
 * A <em>delivery</em> is one message bound for one subscriber. Each begins once and ends once:
 *
 * <pre>
 * begun: the matches of {@link #messageReceived} + {@link #deliveriesAdded}
 * ended:      {@link #messageDelivered} + {@link #messageDropped} + {@link #messageElsewhere}
 * </pre>
 *
 * In a cluster each node has its own account, and another node is one subscriber, to which a message is delivered when that node has
 * accepted it. So the account over all nodes is the sum of theirs. {@link DeliverySource#MOVED_HERE} and
 * {@link #messageElsewhere} are the two sides of a session's move. The amount by which the first exceeds the second, and all of {@link
 * DeliverySource#REPEATED}, are copies that were made because one node did not know the state of the other.
 *
 * A delivery that has begun and not ended waits in a queue or is in flight between event loops. When none is in flight, the two differ by
 * exactly the messages in the queues of sessions. {@link #messageQueued} is an intermediate step: a queued message is counted as delivered
 * or dropped later. A message that is sent again with the DUP flag was delivered once. Later events are not part of the account: if it is
 * abandoned without an acknowledgement, {@link #messageAbandoned} is called.
 */
public non-sealed interface MessageObserver extends Observer {

    /**
     * A message was accepted from a publisher.
     *
     * @param qos its quality of service
     * @param payloadBytes the length of its payload
     * @param matches the number of its deliveries: one for each matching subscriber, whatever the number of its overlapping subscriptions,
     *     and one for each matching group of a shared subscription
     */
    default void messageReceived(QoS qos, int payloadBytes, int matches) {}

    /**
     * A message of a publisher was refused and has no deliveries: not allowed, not in the declared format, refused by an interceptor, or
     * above a quota. {@link #messageReceived} is not called for it.
     *
     * @param qos its quality of service
     * @param reason the reason; a publisher of MQTT 5.0 gets the same at QoS 1 and 2
     */
    default void messageRefused(QoS qos, ReasonCode reason) {}

    /**
     * Deliveries have begun without a publisher's message: one for each message.
     *
     * @param source the cause
     * @param count the number of messages
     */
    default void deliveriesAdded(DeliverySource source, int count) {}

    /**
     * Deliveries ended on this node, and the messages are not lost.
     *
     * @param reason the reason
     * @param count the number of messages
     */
    default void messageElsewhere(Elsewhere reason, int count) {}

    /**
     * A message was written to a subscriber for the first time, or handed to a consumer in this process.
     *
     * @param qos the delivery's quality of service
     * @param payloadBytes the length of its payload
     */
    default void messageDelivered(QoS qos, int payloadBytes) {}

    /**
     * A message was passed to all its subscribers. Called for one in 1,024 messages of each event loop.
     *
     * @param nanos the time to find the subscribers and to pass it to them; those of the same event loop have written it
     */
    default void messageRouted(long nanos) {}

    /**
     * A queued message has left the queue of a session, to be written. Called for every subscriber of one in 1,024 messages; not for
     * messages read from the store.
     *
     * @param nanos the time since the broker accepted it
     */
    default void queueTimed(long nanos) {}

    /**
     * A message was written to a connection. Called for every subscriber of one in 1,024 messages; not for messages read from the store.
     *
     * @param nanos the time since the broker accepted it, the time in queues included
     */
    default void deliveryTimed(long nanos) {}

    /**
     * A message was queued for a subscriber; the end of its delivery is reported later.
     *
     * @param qos the delivery's quality of service
     * @param footprintBytes its bytes in the byte limit
     */
    default void messageQueued(QoS qos, int footprintBytes) {}

    /**
     * A message did not reach a subscriber: it was never written to it.
     *
     * @param reason the reason
     * @param count the number of messages
     */
    default void messageDropped(DropReason reason, int count) {}

    /**
     * A delivered QoS 1 or 2 message is abandoned: the subscriber did not acknowledge it, or refused it.
     *
     * @param reason the reason
     * @param count the number of messages
     */
    default void messageAbandoned(DropReason reason, int count) {}
}
