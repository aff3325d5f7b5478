// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.codec.ConnectPacket;
import io.smqtt.spi.EnhancedAuthenticator.Exchange;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * An authentication by AUTH packets under way (MQTT 5.0, section 4.12).
 *
 * @param method the authentication method of the CONNECT
 * @param exchange the state of the exchange; null between two of them
 * @param connect the CONNECT that waits for it; null when a connected client authenticates again
 * @param clientId the client identifier
 */
@OnEventLoop
record Authenticating(
        String method,
        @Nullable Exchange exchange,
        @Nullable ConnectPacket connect,
        String clientId) {}
