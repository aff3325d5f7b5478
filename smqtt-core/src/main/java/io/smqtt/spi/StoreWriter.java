// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.topic.TopicName;

/**
 * Accepts the operations of one thread: that of an event loop, or of the cluster's loop. Operations are collected and become visible to the
 * store's thread with {@link #flush}, which the broker calls at the end of each iteration of the loop. An operation is committed when the {@link BrokerStore.CommitListener} has
 * been called with its position. All operations of one flush are committed together or not at all. Not thread-safe. No method blocks.
 */
public interface StoreWriter {

    /**
     * Writes or replaces the header of a session.
     *
     * @param session the header
     */
    void putSession(StoredSession session);

    /**
     * Removes a session with all its data.
     *
     * @param session its number
     * @param clientId its client identifier
     */
    void removeSession(long session, String clientId);

    /**
     * Writes or replaces a subscription.
     *
     * @param session the session's number
     * @param subscription the subscription
     */
    void putSubscription(long session, StoredSubscription subscription);

    /**
     * Removes a subscription.
     *
     * @param session the session's number
     * @param clientFilter the filter as the client gave it, {@code $share/…} included
     */
    void removeSubscription(long session, String clientFilter);

    /**
     * Appends a message to the queue of a session. A message that is submitted for several sessions in succession is stored once.
     *
     * @param session the session's number
     * @param message the queued message
     */
    void putMessage(long session, StoredMessage message);

    /**
     * Writes the delivery state of a message.
     *
     * @param session the session's number
     * @param sequence the message's sequence number in the session
     * @param delivery its state
     */
    void putDelivery(long session, long sequence, StoredDelivery delivery);

    /**
     * Removes a message that was acknowledged or dropped. If it is not yet committed it is never written.
     *
     * @param session the session's number
     * @param sequence the message's sequence number in the session
     */
    void removeMessage(long session, long sequence);

    /**
     * Removes a message that another session gets in the same flush. Unlike {@link #removeMessage}, which a store may retry later, this is
     * committed with the rest of its flush or not at all.
     *
     * @param session the session's number
     * @param sequence the message's sequence number in the session
     */
    default void removeHandedOver(long session, long sequence) {
        removeMessage(session, sequence);
    }

    /**
     * Records that a QoS 2 message of the client was routed [MQTT-4.3.3-10].
     *
     * @param session the session's number
     * @param packetId 1 to 65,535
     */
    void putReceived(long session, int packetId);

    /**
     * Removes that record, at PUBREL.
     *
     * @param session the session's number
     * @param packetId 1 to 65,535
     */
    void removeReceived(long session, int packetId);

    /**
     * Replaces that record by the identifier of the next message that gets the packet identifier. So a message that a node forwards before it
     * has stored anything of it is the same message when its client sends it again. {@link #putReceived} and {@link #removeReceived} remove it. A
     * store without such rows removes the record.
     *
     * @param session the session's number
     * @param packetId 1 to 65,535; 0 for the number from which those of all packet identifiers without a row are derived
     * @param number the identifier, not 0
     */
    default void putReleased(long session, int packetId, long number) {
        removeReceived(session, packetId);
    }

    /**
     * Writes or replaces the retained message of a topic.
     *
     * @param message the message
     */
    void putRetained(ApplicationMessage message);

    /**
     * Writes or replaces the retained message of a topic, with its version in the cluster. A store without versions stores the message
     * alone: then other nodes count as newer after a restart.
     *
     * @param message the message
     * @param version its version
     */
    default void putRetained(ApplicationMessage message, RetainedVersion version) {
        putRetained(message);
    }

    /**
     * Removes the retained message of a topic, and its version and the record of its removal if there are any.
     *
     * @param topic the topic
     */
    void removeRetained(TopicName topic);

    /**
     * Replaces the retained message of a topic by a record of its removal. A store without versions removes the message.
     *
     * @param topic the topic
     * @param version the version of the removal in the cluster
     */
    default void putRetainedRemoval(TopicName topic, RetainedVersion version) {
        removeRetained(topic);
    }

    /**
     * Writes or replaces a note: a few bytes that a part of the broker finds again at the next start. A store without notes ignores it.
     *
     * @param name the name of the note
     * @param note its content, not changed after this call
     */
    default void putNote(String name, byte[] note) {}

    /**
     * Requests a sync: operations since the last flush must survive a power loss before they count as committed. Without it they must
     * survive only the end of the process.
     */
    void requireSync();

    /**
     * The position of the last operation.
     *
     * @return a number that increases with every operation; initially 0
     */
    long position();

    /** Passes the collected operations to the store's thread. Does nothing without operations. */
    void flush();

    /**
     * Whether so many bytes wait for the disk that publishers must be slowed. Operations are still accepted.
     *
     * @return true while the limit is exceeded
     */
    boolean isOverloaded();
}
