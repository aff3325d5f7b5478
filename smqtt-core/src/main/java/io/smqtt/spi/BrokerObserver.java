// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.List;

/**
 * Sees what the broker does. Metrics are one implementation. Every method may be called on any event loop, often at the
 * same time (those of the store on its own thread), and must neither block nor throw; the per-message ones take primitives so that watching allocates nothing.
 *
 * <h2>How the account is read</h2>
 *
 * A <em>delivery</em> is one message bound for one subscriber. Each comes about once and ends once:
 *
 * <pre>
 * came about: the matches of {@link #messageReceived} + {@link #retainedMatched} + {@link #messageRedispatched}
 *             + {@link #messageMovedHere} + {@link #messageRepeated}
 * ended:      {@link #messageDelivered} + {@link #messageDropped} + {@link #messageElsewhere}
 * </pre>
 *
 * In a cluster each node has an account of its own, and another node is one subscriber, to which a message is delivered when
 * that node has taken it over. So the account over all nodes is the sum of theirs. {@link #messageMovedHere} and
 * {@link #messageElsewhere} are the two sides of a session's move; what the first has more than the second, and all of
 * {@link #messageRepeated}, are copies that came about because one node did not hear what the other had.
 *
 * What came about and has not ended waits in a queue or is on its way between event loops; when nothing is on its way,
 * the two differ by exactly the messages that the sessions' queues hold. {@link #messageQueued} is a step on the way, not
 * an end: a queued message is counted as delivered or dropped later. A message that is sent again with the DUP flag was
 * delivered once. What becomes of it after that is no part of the account: if it is given up without an acknowledgement,
 * {@link #messageAbandoned} tells.
 */
public interface BrokerObserver {

    /** Sees nothing. */
    BrokerObserver NONE = new BrokerObserver() {};

    /**
     * Several observers as one.
     *
     * @param observers called in this order
     * @return the only one, if there is one
     */
    static BrokerObserver of(List<BrokerObserver> observers) {
        return switch (observers.size()) {
            case 0 -> NONE;
            case 1 -> observers.get(0);
            default -> new ObserverChain(observers);
        };
    }

    /**
     * Tells whether this observer is to be told of messages one by one; one of several that is not costs them nothing. Asked
     * once.
     *
     * @return false if all methods whose names begin with {@code message}, and {@link #retainedMatched},
     *     {@link #queueTimed} and {@link #deliveryTimed}, do nothing
     */
    default boolean watchesMessages() {
        return true;
    }

    /**
     * A transport connection was accepted.
     *
     * @param listener the listener's name
     */
    default void connectionOpened(String listener) {}

    /**
     * A transport connection ended.
     *
     * @param listener the listener's name
     * @param reason why
     */
    default void connectionClosed(String listener, ReasonCode reason) {}

    /**
     * A connection was refused before its CONNECT was complete: when it was accepted, because of a limit, or later, because
     * of what it sent first or to make room for others; the latter was told by {@link #connectionOpened} and will be by
     * {@link #connectionClosed}.
     *
     * @param listener the listener's name
     * @param reason the configuration key of the limit that refused it, or a word of {@link ConnectionRefusals}
     */
    default void connectionRefused(String listener, String reason) {}

    /**
     * A client's CONNECT was accepted.
     *
     * @param client the client
     * @param sessionPresent whether a session was resumed
     */
    default void clientConnected(ClientIdentity client, boolean sessionPresent) {}

    /**
     * A connected client is gone.
     *
     * @param client the client
     * @param reason why
     */
    default void clientDisconnected(ClientIdentity client, ReasonCode reason) {}

    /**
     * A client's CONNECT was refused.
     *
     * @param refusal who it was, as far as is known, and why
     */
    default void connectRefused(ConnectRefusal refusal) {}

    /**
     * The number of logins that wait for their password to be checked has changed. Any thread; under a lock that logins
     * share, so it must return at once.
     *
     * @param waiting how many wait now
     */
    default void passwordsWaiting(int waiting) {}

    /**
     * A login is refused, and will be told later, because its address has sent many wrong passwords. Any thread.
     */
    default void refusalDelayed() {}

    /**
     * An interceptor threw, gave no answer or none in time; what it was asked about was refused.
     *
     * @param packet what it was asked about: connect, publish, subscribe or unsubscribe
     */
    default void interceptorFailed(String packet) {}

    /**
     * A client was replaced by a newer connection with the same client identifier.
     *
     * @param clientId the client identifier
     */
    default void sessionTakenOver(String clientId) {}

    /**
     * A client is disconnected because it reads too slowly.
     *
     * @param listener the listener's name
     */
    default void clientTooSlow(String listener) {}

    /**
     * A session began.
     *
     * @param clientId the client identifier
     */
    default void sessionCreated(String clientId) {}

    /**
     * A session ended.
     *
     * @param clientId the client identifier
     * @param expired whether its expiry interval ran out
     */
    default void sessionEnded(String clientId, boolean expired) {}

    /**
     * A client or a filter was refused because of the bytes that sessions may hold.
     *
     * @param limit the configuration key of the limit
     */
    default void sessionRefused(String limit) {}

    /**
     * A subscription was made or replaced.
     *
     * @param clientId the client identifier
     * @param filter the filter as the client wrote it
     * @param isNew whether there was none for the filter
     */
    default void subscribed(String clientId, String filter, boolean isNew) {}

    /**
     * A subscription ended.
     *
     * @param clientId the client identifier
     * @param filter the filter as the client wrote it
     */
    default void unsubscribed(String clientId, String filter) {}

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
     * Retained messages were selected for a new subscription: one delivery each.
     *
     * @param count how many messages
     */
    default void retainedMatched(int count) {}

    /**
     * Messages of a shared subscription that one member was sent and did not acknowledge go to other members: one more
     * delivery each.
     *
     * @param count how many messages
     */
    default void messageRedispatched(int count) {}

    /**
     * Messages came here with a session from another node: one delivery each.
     *
     * @param count how many messages
     */
    default void messageMovedHere(int count) {}

    /**
     * Messages are delivered once more than they matched, because it is not known whether they arrived where they were sent
     * first: one delivery each.
     *
     * @param count how many messages
     */
    default void messageRepeated(int count) {}

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

    /**
     * A will was published.
     *
     * @param clientId whose will
     */
    default void willPublished(String clientId) {}

    /**
     * The retained messages changed.
     *
     * @param count how many there are
     * @param bytes what they hold
     */
    default void retainedChanged(long count, long bytes) {}

    /**
     * A message was not retained because of the limits of the retained messages; what its topic had stays. The message
     * itself still goes to its subscribers unless its publisher is told {@link ReasonCode#QUOTA_EXCEEDED}.
     *
     * @param count how many retained messages there are
     * @param bytes what they hold
     */
    default void retainedRefused(long count, long bytes) {}

    /**
     * The store made a batch of operations safe, or could not. Told by the store's own thread, which the next batch waits for.
     *
     * @param operations how many operations, 1 or more
     * @param bytes what they held while they waited
     * @param nanos how long it took, the wait for stable storage included; 0 if the store did not even try
     * @param kept whether they are safe; false if it failed
     */
    default void storeCommitted(int operations, long bytes, long nanos, boolean kept) {}

    /**
     * The store's own thread begins a round of work, or has ended it: it writes a batch, waits for stable storage, measures.
     * A round that has begun and does not end is a disk that hangs. Not told while there is nothing to do.
     *
     * @param working true at the beginning, false at the end
     */
    default void storeWorking(boolean working) {}

    /**
     * How the store is. Told about once a second, by the store's own thread.
     *
     * @param figures of this moment
     */
    default void storeMeasured(StoreFigures figures) {}
}
