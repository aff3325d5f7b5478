// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A listener: a bound port with its options: {@code smqtt.listeners.<name>.*}.
 *
 * @param type the transport: MQTT over TCP, or over WebSocket. A new listener name needs it
 * @param host the address to bind to; 0.0.0.0 for all IPv4 addresses, :: for all addresses
 * @param port the port; 0 for any free port
 * @param path the path of a WebSocket listener
 * @param maxConnections maximum number of connections of this listener; further ones are closed at once
 * @param connectTimeout maximum time from accepting a connection to its complete CONNECT, handshakes included
 * @param maxPacketBytes maximum size of a packet from a client of this listener; 0 for limits.max-packet-bytes
 * @param backlog length of the queue of connections that wait to be accepted; the operating system limits it, too
 * @param tls TLS or WSS; null for a listener without TLS
 * @param proxyProtocol whether every connection begins with a PROXY protocol header, version 1 or 2
 * @param trustedProxies networks such as 10.0.0.0/8 that may send the header; connections from elsewhere are closed
 * @param allowedOrigins values of the Origin header that a WebSocket listener accepts, such as
 *     https://app.example.com, or {@code *} for all; empty for the listener's own host only. Requests without Origin,
 *     which programs send, are always accepted
 * @param maxConnectRate maximum number of new connections per second; 0 for no limit. Past it no connection is accepted
 *     for a while; further ones wait in the queue of the operating system
 * @param maxConnectBurst number of connections that may come at once after a pause; 0 for those of a second
 * @param maxPublishRate maximum number of messages per second that are read from all clients of this listener; 0 for
 *     no limit
 * @param maxPublishBurst number of messages that may come at once after a pause; 0 for those of a second
 * @param maxBytesRate maximum number of bytes per second that are read from all clients of this listener; 0 for no
 *     limit
 * @param maxBytesBurst number of bytes that may come at once after a pause; 0 for those of a second
 * @param sync what an acknowledgement to a publisher on this listener waits for; broker for storage.sync
 */
@ConfigBlock("listeners.<name>")
public record ListenerConfig(
        @Setting(required = true, shown = "by name") Type type,
        @Setting("0.0.0.0") String host,

        @Setting(required = true, min = "0", max = "65535", shown = "tcp 1883, ws 8083")
        int port,

        @Setting("/mqtt") String path,

        @Setting(value = "1000000", min = "1", max = "100000000")
        int maxConnections,

        @Setting(value = "5s", min = "1ms", max = "1h") Duration connectTimeout,
        @Setting(value = "0", min = "0", max = "268435460") int maxPacketBytes,
        @Setting(value = "4096", min = "1", max = "65535") int backlog,
        @Nullable TlsConfig tls,
        @Setting("false") boolean proxyProtocol,
        List<String> trustedProxies,
        List<String> allowedOrigins,
        @Setting(value = "0", min = "0", max = "1000000") int maxConnectRate,
        @Setting(value = "0", min = "0", max = "1000000") int maxConnectBurst,
        @Setting(value = "0", min = "0", max = "100000000") int maxPublishRate,
        @Setting(value = "0", min = "0", max = "100000000") int maxPublishBurst,
        @Setting(value = "0", min = "0", max = "1TiB") long maxBytesRate,
        @Setting(value = "0", min = "0", max = "1TiB") long maxBytesBurst,
        @Setting("broker") Sync sync) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public ListenerConfig {
        Check.host("listeners.<name>.host", host);
        Check.that(
                path.startsWith("/") && path.chars().noneMatch(c -> c <= ' ' || c == '?' || c == '#' || c >= 0x7f),
                "listeners.<name>.path",
                "must begin with / and hold no space, ? or #");
        trustedProxies = List.copyOf(trustedProxies);
        allowedOrigins = List.copyOf(allowedOrigins);
        for (String network : trustedProxies) {
            Check.network("listeners.<name>.trusted-proxies", network);
        }
        Check.that(
                !proxyProtocol || !trustedProxies.isEmpty(),
                "listeners.<name>.trusted-proxies",
                "must name the proxies if proxy-protocol is true");
    }

    /** The durability that an acknowledgement waits for. */
    public enum Sync {
        /** As set by storage.sync. */
        BROKER,
        /** The data is on stable storage. */
        SYNC,
        /** The operating system has the data. */
        ASYNC,
        /** Nothing. */
        NONE
    }

    /** The transport of a listener. */
    public enum Type {
        /** Plain TCP. */
        TCP,
        /** WebSocket. */
        WS
    }

    /**
     * Creates a TCP listener with defaults.
     *
     * @param port the port; 0 for any free port
     * @return the configuration
     */
    public static ListenerConfig tcp(int port) {
        return of(Type.TCP, port);
    }

    /**
     * Creates a WebSocket listener with defaults.
     *
     * @param port the port; 0 for any free port
     * @return the configuration
     */
    public static ListenerConfig ws(int port) {
        return of(Type.WS, port);
    }

    /**
     * Creates a listener with the defaults of its type.
     *
     * @param type the transport
     * @return the configuration, with port 1883 for TCP and 8083 for WebSocket
     */
    public static ListenerConfig of(Type type) {
        return of(type, type == Type.TCP ? 1883 : 8083);
    }

    private static ListenerConfig of(Type type, int port) {
        return new ListenerConfigBuilder().type(type).port(port).build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public ListenerConfigBuilder toBuilder() {
        return new ListenerConfigBuilder(this);
    }
}
