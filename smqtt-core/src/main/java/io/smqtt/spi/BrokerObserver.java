// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Sees what the broker does. Metrics are one implementation. Every method may be called on any event loop, often at the
 * same time, and must neither block nor throw; the per-message ones take primitives so that watching allocates nothing.
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
     * A connection was refused before a handler saw it.
     *
     * @param listener the listener's name
     * @param limit the configuration key of the limit that refused it
     */
    default void connectionRefused(String listener, String limit) {}

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
     * @param listener the listener's name
     * @param clientId the client identifier, or null if it was not readable
     * @param reason the reason code of the CONNACK
     */
    default void connectRefused(String listener, @Nullable String clientId, ReasonCode reason) {}

    /**
     * A client was replaced by a newer connection with the same client identifier.
     *
     * @param clientId the client identifier
     */
    default void sessionTakenOver(String clientId) {}

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
     * @param matches how many subscribers it was handed to
     */
    default void messageReceived(QoS qos, int payloadBytes, int matches) {}

    /**
     * A message was written to a subscriber.
     *
     * @param qos the delivery's quality of service
     * @param payloadBytes the length of its payload
     */
    default void messageDelivered(QoS qos, int payloadBytes) {}

    /**
     * A message was queued for a subscriber.
     *
     * @param qos the delivery's quality of service
     * @param footprintBytes what it counts against the byte limit
     */
    default void messageQueued(QoS qos, int footprintBytes) {}

    /**
     * A message did not reach a subscriber.
     *
     * @param reason why
     * @param count how many messages
     */
    default void messageDropped(DropReason reason, int count) {}

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
}
