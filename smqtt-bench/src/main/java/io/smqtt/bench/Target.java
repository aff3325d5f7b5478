// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.handler.ssl.SslContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where and how clients connect.
 *
 * @param hosts names or addresses, taken in turns
 * @param port the port of all of them
 * @param version 3, 4 or 5 as in the CONNECT packet
 * @param userName of every client; may have the placeholders of {@link TopicPattern}
 * @param password of every client
 * @param cleanStart whether sessions begin anew
 * @param sessionExpirySeconds how long an MQTT 5 session outlives its connection
 * @param keepAliveSeconds 0 for none
 * @param tls the TLS context, or null for plain connections
 * @param webSocketPath the path of WebSocket connections, or null for plain ones
 * @param sourceAddresses local addresses, taken in turns; empty to leave it to the system
 */
record Target(
        List<String> hosts,
        int port,
        int version,
        @Nullable String userName,
        @Nullable String password,
        boolean cleanStart,
        long sessionExpirySeconds,
        int keepAliveSeconds,
        @Nullable SslContext tls,
        @Nullable String webSocketPath,
        List<String> sourceAddresses) {

    /** The same, for sessions that are kept or not. */
    Target withSession(boolean clean, long expirySeconds) {
        return new Target(
                hosts,
                port,
                version,
                userName,
                password,
                clean,
                expirySeconds,
                keepAliveSeconds,
                tls,
                webSocketPath,
                sourceAddresses);
    }

    /** For people. */
    String display() {
        String scheme = webSocketPath == null ? tls == null ? "mqtt" : "mqtts" : tls == null ? "ws" : "wss";
        return scheme + "://" + String.join(",", hosts) + ":" + port + (webSocketPath == null ? "" : webSocketPath);
    }
}
