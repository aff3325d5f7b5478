// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.handler.ssl.SslContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The target of connections.
 *
 * @param hosts names or addresses, used in turns
 * @param port the port of all of them
 * @param version 3, 4 or 5 as in the CONNECT packet
 * @param userName the user name of every client; may have the placeholders of {@link TopicPattern}
 * @param password the password of every client
 * @param cleanStart whether clients connect with Clean Start
 * @param sessionExpirySeconds Session Expiry Interval of MQTT 5 clients
 * @param keepAliveSeconds 0 for none
 * @param topicAliases Topic Alias Maximum of MQTT 5 clients, and how many aliases a publisher uses at most; 0 for none
 * @param tls the TLS context, or null for plain connections
 * @param webSocketPath the path of WebSocket connections, or null for plain ones
 * @param sourceAddresses local addresses, used in turns; empty for the system's choice
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
        int topicAliases,
        @Nullable SslContext tls,
        @Nullable String webSocketPath,
        List<String> sourceAddresses) {

    /** The same target with persistent sessions or not. */
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
                topicAliases,
                tls,
                webSocketPath,
                sourceAddresses);
    }

    /** The same way of connecting, to another broker. */
    Target at(String host, int otherPort) {
        return new Target(
                List.of(host),
                otherPort,
                version,
                userName,
                password,
                cleanStart,
                sessionExpirySeconds,
                keepAliveSeconds,
                topicAliases,
                tls,
                webSocketPath,
                sourceAddresses);
    }

    /** The text for display. */
    String display() {
        String scheme = webSocketPath == null ? tls == null ? "mqtt" : "mqtts" : tls == null ? "ws" : "wss";
        return scheme + "://" + String.join(",", hosts) + ":" + port + (webSocketPath == null ? "" : webSocketPath);
    }
}
