// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.topic.TopicName;

/**
 * Takes the operations of one event loop. Operations are gathered and become visible to the store's thread with {@link
 * #flush}, which the broker calls at the end of each pass of the loop. An operation is safe when the {@link
 * BrokerStore.CommitListener} has been told of its position. All operations of one flush become safe together or not at
 * all. Not thread-safe. No method blocks.
 */
@OnEventLoop
public interface StoreWriter {

    /**
     * Writes the header of a session, or writes it anew.
     *
     * @param session the header
     */
    void putSession(StoredSession session);

    /**
     * Forgets a session with everything that belongs to it.
     *
     * @param session its number
     * @param clientId its client identifier
     */
    void removeSession(long session, String clientId);

    /**
     * Writes a subscription, or writes it anew.
     *
     * @param session the session's number
     * @param subscription the subscription
     */
    void putSubscription(long session, StoredSubscription subscription);

    /**
     * Forgets a subscription.
     *
     * @param session the session's number
     * @param clientFilter the filter as the client gave it, {@code $share/…} included
     */
    void removeSubscription(long session, String clientFilter);

    /**
     * Appends a message to what waits for a session. A message that is submitted for several sessions one after the other
     * is stored once.
     *
     * @param session the session's number
     * @param message how the message waits
     */
    void putMessage(long session, StoredMessage message);

    /**
     * Writes how far the delivery of a message is.
     *
     * @param session the session's number
     * @param sequence the message's sequence number in the session
     * @param delivery its state
     */
    void putDelivery(long session, long sequence, StoredDelivery delivery);

    /**
     * Forgets a message: it was acknowledged or dropped. If it has not been committed yet it is never written.
     *
     * @param session the session's number
     * @param sequence the message's sequence number in the session
     */
    void removeMessage(long session, long sequence);

    /**
     * Forgets a message that another session gets in the same flush. Unlike {@link #removeMessage}, which a store may make
     * good later, this happens with the rest of its flush or not at all.
     *
     * @param session the session's number
     * @param sequence the message's sequence number in the session
     */
    default void removeHandedOver(long session, long sequence) {
        removeMessage(session, sequence);
    }

    /**
     * Remembers that a QoS 2 message of the client was routed [MQTT-4.3.3-10].
     *
     * @param session the session's number
     * @param packetId 1 to 65,535
     */
    void putReceived(long session, int packetId);

    /**
     * Forgets it, at PUBREL.
     *
     * @param session the session's number
     * @param packetId 1 to 65,535
     */
    void removeReceived(long session, int packetId);

    /**
     * Writes the retained message of a topic, in the place of the one before.
     *
     * @param message the message
     */
    void putRetained(ApplicationMessage message);

    /**
     * Forgets the retained message of a topic.
     *
     * @param topic the topic
     */
    void removeRetained(TopicName topic);

    /**
     * Asks for stable storage: what was submitted since the last flush must survive a power loss before it is called
     * safe. Without it, surviving the end of the process is enough.
     */
    void requireSync();

    /**
     * The position of the last operation.
     *
     * @return a number that grows with every operation; 0 at first
     */
    long position();

    /** Hands what was gathered to the store's thread. Does nothing if there is nothing. */
    void flush();

    /**
     * Whether so much waits for the disk that publishers are to be slowed. Operations are still taken.
     *
     * @return true while the bound in bytes is passed
     */
    boolean isOverloaded();
}
