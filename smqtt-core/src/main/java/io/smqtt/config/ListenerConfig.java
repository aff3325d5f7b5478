// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A bound port with its options: {@code smqtt.listeners.<name>.*}.
 *
 * @param type straight on TCP, or in WebSocket frames; a new name needs it
 * @param host the address to bind to; 0.0.0.0 for all of IPv4, :: for all
 * @param port the port; 0 for any free one
 * @param path the path of a WebSocket listener
 * @param maxConnections connections of this listener; more are closed when they are accepted
 * @param connectTimeout how long a client has from the accepted socket to the complete CONNECT, handshakes included
 * @param maxPacketBytes the largest packet from a client of this listener; 0 for limits.max-packet-bytes
 * @param backlog connections that the operating system keeps before they are accepted; it has a limit of its own
 * @param tls makes it TLS or WSS; null for a listener without TLS
 * @param proxyProtocol whether every connection begins with a PROXY protocol header, version 1 or 2
 * @param trustedProxies networks such as 10.0.0.0/8 that may send the header; connections from elsewhere are closed
 * @param allowedOrigins values of the Origin header that a WebSocket listener takes, * for all; empty for the host that the
 *     request asks. A request without the header is taken
 * @param sync what an acknowledgement to a publisher on this listener waits for; broker for storage.sync
 */
public record ListenerConfig(
        @ConfigDoc(
                value = "the transport: MQTT over TCP, or over WebSocket. A new listener name needs it",
                shown = "by name")
        Type type,

        @ConfigDoc("the address to bind to; 0.0.0.0 for all IPv4 addresses, :: for all addresses")
        String host,

        @ConfigDoc(value = "the port; 0 for any free port", min = "0", max = "65535", shown = "tcp 1883, ws 8083")
        int port,

        @ConfigDoc("the path of a WebSocket listener") String path,

        @ConfigDoc(
                value = "maximum number of connections of this listener; further ones are closed at once",
                min = "1",
                max = "100000000")
        int maxConnections,

        @ConfigDoc(
                value = "maximum time from accepting a connection to its complete CONNECT, handshakes included",
                min = "1ms",
                max = "1h")
        Duration connectTimeout,

        @ConfigDoc(
                value = "maximum size of a packet from a client of this listener; 0 for limits.max-packet-bytes",
                min = "0",
                max = "268435460")
        int maxPacketBytes,

        @ConfigDoc(
                value =
                        "length of the queue of connections that wait to be accepted; the operating system limits it, too",
                min = "1",
                max = "65535")
        int backlog,

        @ConfigDoc("TLS or WSS; null for a listener without TLS") @Nullable
        TlsConfig tls,

        @ConfigDoc("whether every connection begins with a PROXY protocol header, version 1 or 2")
        boolean proxyProtocol,

        @ConfigDoc("networks such as 10.0.0.0/8 that may send the header; connections from elsewhere are " + "closed")
        List<String> trustedProxies,

        @ConfigDoc("values of the Origin header that a WebSocket listener accepts, such as https://app.example.com, or "
                + "`*` for all; empty for the listener's own host only. Requests without Origin, which programs send, "
                + "are always accepted")
        List<String> allowedOrigins,

        @ConfigDoc("what an acknowledgement to a publisher on this listener waits for; broker for storage.sync")
        Sync sync) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public ListenerConfig {
        Check.present("listeners.<name>.type", type);
        Check.present("listeners.<name>.host", host);
        Check.range("listeners.<name>.port", port, 0, 65_535);
        Check.present("listeners.<name>.path", path);
        Check.range("listeners.<name>.max-connections", maxConnections, 1, 100_000_000);
        Check.range("listeners.<name>.connect-timeout", connectTimeout, Duration.ofMillis(1), Duration.ofHours(1));
        Check.range("listeners.<name>.max-packet-bytes", maxPacketBytes, 0, 268_435_460);
        Check.range("listeners.<name>.backlog", backlog, 1, 65_535);
        Check.present("listeners.<name>.trusted-proxies", trustedProxies);
        Check.present("listeners.<name>.allowed-origins", allowedOrigins);
        Check.present("listeners.<name>.sync", sync);
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
                "must name the proxies where proxy-protocol is on");
    }

    /** The durability that an acknowledgement waits for. */
    public enum Sync {
        /** What storage.sync says. */
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
        return of(Type.TCP, port);
    }

    /**
     * A WebSocket listener with defaults.
     *
     * @param port the port; 0 for any free one
     * @return the configuration
     */
    public static ListenerConfig ws(int port) {
        return of(Type.WS, port);
    }

    /**
     * A listener with the defaults of its type.
     *
     * @param type how packets are carried
     * @return the configuration, with port 1883 for TCP and 8083 for WebSocket
     */
    public static ListenerConfig of(Type type) {
        return of(type, type == Type.TCP ? 1883 : 8083);
    }

    private static ListenerConfig of(Type type, int port) {
        return new ListenerConfig(
                type,
                "0.0.0.0",
                port,
                "/mqtt",
                1_000_000,
                Duration.ofSeconds(5),
                0,
                4_096,
                null,
                false,
                List.of(),
                List.of(),
                Sync.BROKER);
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link ListenerConfig}. Not safe for several threads. */
    public static final class Builder {

        private Type type;
        private String host;
        private int port;
        private String path;
        private int maxConnections;
        private Duration connectTimeout;
        private int maxPacketBytes;
        private int backlog;
        private @Nullable TlsConfig tls;
        private boolean proxyProtocol;
        private List<String> trustedProxies;
        private List<String> allowedOrigins;
        private Sync sync;

        private Builder(ListenerConfig from) {
            type = from.type;
            host = from.host;
            port = from.port;
            path = from.path;
            maxConnections = from.maxConnections;
            connectTimeout = from.connectTimeout;
            maxPacketBytes = from.maxPacketBytes;
            backlog = from.backlog;
            tls = from.tls;
            proxyProtocol = from.proxyProtocol;
            trustedProxies = from.trustedProxies;
            allowedOrigins = from.allowedOrigins;
            sync = from.sync;
        }

        /** {@return this, with {@link ListenerConfig#type()} set to the argument} */
        public Builder type(Type value) {
            type = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#host()} set to the argument} */
        public Builder host(String value) {
            host = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#port()} set to the argument} */
        public Builder port(int value) {
            port = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#path()} set to the argument} */
        public Builder path(String value) {
            path = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#maxConnections()} set to the argument} */
        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#connectTimeout()} set to the argument} */
        public Builder connectTimeout(Duration value) {
            connectTimeout = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#maxPacketBytes()} set to the argument} */
        public Builder maxPacketBytes(int value) {
            maxPacketBytes = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#backlog()} set to the argument} */
        public Builder backlog(int value) {
            backlog = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#tls()} set to the argument} */
        public Builder tls(@Nullable TlsConfig value) {
            tls = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#proxyProtocol()} set to the argument} */
        public Builder proxyProtocol(boolean value) {
            proxyProtocol = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#trustedProxies()} set to the argument} */
        public Builder trustedProxies(List<String> value) {
            trustedProxies = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#allowedOrigins()} set to the argument} */
        public Builder allowedOrigins(List<String> value) {
            allowedOrigins = value;
            return this;
        }

        /** {@return this, with {@link ListenerConfig#sync()} set to the argument} */
        public Builder sync(Sync value) {
            sync = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public ListenerConfig build() {
            return new ListenerConfig(
                    type,
                    host,
                    port,
                    path,
                    maxConnections,
                    connectTimeout,
                    maxPacketBytes,
                    backlog,
                    tls,
                    proxyProtocol,
                    trustedProxies,
                    allowedOrigins,
                    sync);
        }
    }
}
