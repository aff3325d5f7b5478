// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;

/** Something that happened to a client, for {@link Broker#events()}. */
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
     * A client is gone.
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
     * A session has ended.
     *
     * @param clientId the client
     * @param expired whether its expiry interval ran out
     */
    record SessionEnded(String clientId, boolean expired) implements BrokerEvent {}
}
