// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Notified of the decisions of authentication and authorization. An event loop has one only while its notifications are awaited, see
 * {@link ConnectionLoop#decisions(DecisionListener)}. Never gets a password.
 */
@OnEventLoop
public interface DecisionListener {

    /**
     * A client was authenticated, or refused, at its CONNECT or by AUTH.
     *
     * @param clientId the client identifier, assigned by the broker if the client sent none
     * @param userName the authenticated user, or the user name that a refused client sent; null if there is none
     * @param address the address of the client, also behind a trusted proxy
     * @param listener the name of its listener
     * @param answer the decision
     */
    void authenticated(
            String clientId,
            @Nullable String userName,
            InetSocketAddress address,
            String listener,
            Authentication answer);

    /**
     * An action of a client was allowed or denied.
     *
     * @param client the client
     * @param action {@link AccessAction#PUBLISH} or {@link AccessAction#SUBSCRIBE}
     * @param topic a topic name, or a topic filter without {@code $share/name/}
     * @param qos the QoS of the message or the will, or the requested maximum of a subscription
     * @param retain the retain flag of the message or the will
     * @param decision the decision
     * @param cached whether the decision on the last message of the client applies again
     */
    void authorized(
            ClientIdentity client,
            AccessAction action,
            String topic,
            QoS qos,
            boolean retain,
            AccessDecision decision,
            boolean cached);
}
