// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ConnectPacket;
import io.smqtt.spi.EnhancedAuthenticator.Exchange;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * An enhanced authentication in progress (MQTT 5.0, section 4.12).
 *
 * @param method the authentication method of the CONNECT
 * @param exchange the state of the exchange; null between two exchanges
 * @param connect the CONNECT that is being authenticated; null for a re-authentication
 * @param clientId the client identifier
 */
@OnEventLoop
record Authenticating(
        String method,
        @Nullable Exchange exchange,
        @Nullable ConnectPacket connect,
        String clientId) {}
