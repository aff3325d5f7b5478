// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A bound port with its options: {@code smqtt.listeners.<name>.*}.
 *
 * @param type TCP or WebSocket
 * @param host the address to bind to; 0.0.0.0 and :: for all
 * @param port the port; 0 for any free one
 * @param path the path of a WebSocket listener
 * @param maxConnections connections of this listener
 * @param connectTimeout how long a client has, from the accepted socket to the complete CONNECT, handshakes included
 * @param maxPacketBytes the largest packet from a client, in bytes; 0 for {@link LimitsConfig#maxPacketBytes()}
 * @param backlog connections that the operating system keeps before they are accepted
 * @param tls null for a listener without TLS
 * @param proxyProtocol whether every connection begins with a PROXY protocol header
 * @param trustedProxies networks such as 10.0.0.0/8 whose PROXY protocol header is believed
 * @param allowedOrigins values of the Origin header that a WebSocket listener takes; empty for all
 */
public record ListenerConfig(
        Type type,
        String host,
        int port,
        String path,
        int maxConnections,
        Duration connectTimeout,
        int maxPacketBytes,
        int backlog,
        @Nullable TlsConfig tls,
        boolean proxyProtocol,
        List<String> trustedProxies,
        List<String> allowedOrigins) {

    /** How packets are carried. */
    public enum Type {
        /** Straight on TCP. */
        TCP,
        /** In WebSocket frames. */
        WS
    }

    /**
     * A TCP listener with defaults.
     *
     * @param port the port; 0 for any free one
     * @return the configuration
     */
    public static ListenerConfig tcp(int port) {
        return new ListenerConfig(
                Type.TCP, "0.0.0.0", port, "/mqtt", 1_000_000, Duration.ofSeconds(5), 0, 4_096, null, false, List.of(),
                List.of());
    }

    /**
     * A WebSocket listener with defaults.
     *
     * @param port the port; 0 for any free one
     * @return the configuration
     */
    public static ListenerConfig ws(int port) {
        return new ListenerConfig(
                Type.WS, "0.0.0.0", port, "/mqtt", 1_000_000, Duration.ofSeconds(5), 0, 4_096, null, false, List.of(),
                List.of());
    }
}
