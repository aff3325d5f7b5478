// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** An event about a client, see {@link Broker#events()}. Later versions may add kinds. */
public sealed interface BrokerEvent {

    /**
     * The client concerned.
     *
     * @return a client identifier
     */
    String clientId();

    /**
     * A client has connected.
     *
     * @param client the client
     * @param sessionPresent whether it resumed a session
     */
    record Connected(ClientIdentity client, boolean sessionPresent) implements BrokerEvent {
        @Override
        public String clientId() {
            return client.clientId();
        }
    }

    /**
     * A client has disconnected.
     *
     * @param client the client
     * @param reason why
     */
    record Disconnected(ClientIdentity client, ReasonCode reason) implements BrokerEvent {
        @Override
        public String clientId() {
            return client.clientId();
        }
    }

    /**
     * A subscription was made or replaced.
     *
     * @param clientId the client
     * @param filter the filter as the client wrote it
     */
    record Subscribed(String clientId, String filter) implements BrokerEvent {}

    /**
     * A subscription has ended.
     *
     * @param clientId the client
     * @param filter the filter as the client wrote it
     */
    record Unsubscribed(String clientId, String filter) implements BrokerEvent {}

    /**
     * A CONNECT was refused.
     *
     * @param clientId the client identifier as the client sent it; empty if it was not readable
     * @param userName the user, verified or not; null if there is none or it was not readable
     * @param remoteAddress the client's own address, also behind a trusted proxy
     * @param listener the name of the listener
     * @param reason the reason code of the CONNACK
     */
    record ConnectRefused(
            String clientId,
            @Nullable String userName,
            InetSocketAddress remoteAddress,
            String listener,
            ReasonCode reason)
            implements BrokerEvent {}

    /**
     * A session has begun. Consumers in this process have sessions too.
     *
     * @param clientId the client
     */
    record SessionCreated(String clientId) implements BrokerEvent {}

    /**
     * A connected client was replaced by a newer connection with its client identifier.
     *
     * @param clientId the client
     */
    record TakenOver(String clientId) implements BrokerEvent {}

    /**
     * A will was published.
     *
     * @param clientId whose will
     */
    record WillPublished(String clientId) implements BrokerEvent {}

    /**
     * A session has ended.
     *
     * @param clientId the client
     * @param expired whether its expiry interval ran out
     */
    record SessionEnded(String clientId, boolean expired) implements BrokerEvent {}
}
