// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;

/**
 * Observes messages one by one: the account of deliveries, and samples of how long they take. The methods take primitives and
 * constants, so that observing allocates nothing.
 *
 * <h2>How the account is read</h2>
 *
 * A <em>delivery</em> is one message bound for one subscriber. Each comes about once and ends once:
 *
 * <pre>
 * came about: the matches of {@link #messageReceived} + {@link #deliveriesAdded}
 * ended:      {@link #messageDelivered} + {@link #messageDropped} + {@link #messageElsewhere}
 * </pre>
 *
 * In a cluster each node has an account of its own, and another node is one subscriber, to which a message is delivered when
 * that node has taken it over. So the account over all nodes is the sum of theirs. {@link DeliverySource#MOVED_HERE} and
 * {@link #messageElsewhere} are the two sides of a session's move; what the first has more than the second, and all of
 * {@link DeliverySource#REPEATED}, are copies that came about because one node did not hear what the other had.
 *
 * What came about and has not ended waits in a queue or is on its way between event loops; when nothing is on its way,
 * the two differ by exactly the messages that the sessions' queues hold. {@link #messageQueued} is a step on the way, not
 * an end: a queued message is counted as delivered or dropped later. A message that is sent again with the DUP flag was
 * delivered once. What becomes of it after that is no part of the account: if it is given up without an acknowledgement,
 * {@link #messageAbandoned} tells.
 */
public non-sealed interface MessageObserver extends Observer {

    /**
     * A message was accepted from a publisher.
     *
     * @param qos its quality of service
     * @param payloadBytes the length of its payload
     * @param matches how many deliveries it makes: one for each matching subscriber, whatever the number of its
     *     overlapping subscriptions, and one for each matching group of a shared subscription
     */
    default void messageReceived(QoS qos, int payloadBytes, int matches) {}

    /**
     * A message of a publisher was not accepted and goes to nobody: not allowed, not in the declared format, stopped by an
     * interceptor, or above a quota. It was not told by {@link #messageReceived}.
     *
     * @param qos its quality of service
     * @param reason why; a publisher of MQTT 5.0 is told the same at QoS 1 and 2
     */
    default void messageRefused(QoS qos, ReasonCode reason) {}

    /**
     * Deliveries came about other than by a message of a publisher: one for each message.
     *
     * @param source why
     * @param count how many messages
     */
    default void deliveriesAdded(DeliverySource source, int count) {}

    /**
     * Deliveries ended on this node, and the messages are not lost.
     *
     * @param reason who has them
     * @param count how many messages
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
     * A message was handed to all its subscribers. Told of one in 1,024 messages of each event loop.
     *
     * @param nanos how long finding and handing it to them took: those of the same event loop have written it
     */
    default void messageRouted(long nanos) {}

    /**
     * A message that had to wait in the queue of a session has left it, to be written. Told for every subscriber of one in
     * 1,024 messages; not of those that the store has read back.
     *
     * @param nanos how long that was after the broker accepted it
     */
    default void queueTimed(long nanos) {}

    /**
     * A message was written to a connection. Told for every subscriber of one in 1,024 messages; not of those that the
     * store has read back.
     *
     * @param nanos how long that was after the broker accepted it, the time in queues included
     */
    default void deliveryTimed(long nanos) {}

    /**
     * A message was queued for a subscriber; the end of its delivery is told later.
     *
     * @param qos the delivery's quality of service
     * @param footprintBytes what it counts against the byte limit
     */
    default void messageQueued(QoS qos, int footprintBytes) {}

    /**
     * A message did not reach a subscriber: it was never written to it.
     *
     * @param reason why
     * @param count how many messages
     */
    default void messageDropped(DropReason reason, int count) {}

    /**
     * A QoS 1 or 2 message that was delivered is given up although the subscriber did not acknowledge it, or refused it.
     *
     * @param reason why
     * @param count how many messages
     */
    default void messageAbandoned(DropReason reason, int count) {}
}
