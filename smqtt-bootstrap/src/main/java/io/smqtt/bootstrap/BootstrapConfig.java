// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of settings of the former smqtt, for programs that were written for it. What becomes of each is said in
 * docs/migration.md. A value of null is as if it had not been set.
 *
 * @deprecated describe the broker by {@link io.smqtt.config.BrokerConfig}
 */
@Deprecated(since = "0.1.0")
public final class BootstrapConfig {

    private BootstrapConfig() {}

    /** Settings of one block. Immutable. */
    public abstract static class Block {

        private final Map<String, String> settings;

        private Block(BlockBuilder<?> builder) {
            settings = Map.copyOf(builder.settings);
        }

        final Map<String, String> settings() {
            return settings;
        }
    }

    /**
     * Collects settings. Not safe for several threads.
     *
     * @param <B> the builder itself
     */
    public abstract static class BlockBuilder<B extends BlockBuilder<B>> {

        private final Map<String, String> settings = new LinkedHashMap<>();
        private final String prefix;

        private BlockBuilder(String prefix) {
            this.prefix = prefix;
        }

        @SuppressWarnings("unchecked")
        final B set(String key, @Nullable Object value) {
            if (value != null) {
                settings.put("smqtt." + prefix + "." + key, value.toString());
            }
            return (B) this;
        }
    }

    /** Certificate and key. */
    public static final class SslContext {

        private final @Nullable String crt;
        private final @Nullable String key;
        private final boolean enable;

        /**
         * TLS with two files.
         *
         * @param crt the certificate chain, PEM
         * @param key the private key, PEM
         */
        public SslContext(@Nullable String crt, @Nullable String key) {
            this(crt, key, true);
        }

        /**
         * TLS, or none.
         *
         * @param crt the certificate chain, PEM
         * @param key the private key, PEM
         * @param enable false for no TLS
         */
        public SslContext(@Nullable String crt, @Nullable String key, boolean enable) {
            this.crt = crt;
            this.key = key;
            this.enable = enable;
        }
    }

    /** MQTT over TCP. */
    public static final class TcpConfig extends Block {

        private TcpConfig(Builder builder) {
            super(builder);
        }

        /** {@return a builder without settings} */
        public static Builder builder() {
            return new Builder();
        }

        /** Collects settings. */
        public static final class Builder extends BlockBuilder<Builder> {

            private Builder() {
                super("tcp");
            }

            /** {@return this, with the port set to the argument} */
            public Builder port(@Nullable Integer value) {
                return set("port", value);
            }

            /** {@return this, with the only user set to the argument} */
            public Builder username(@Nullable String value) {
                return set("username", value);
            }

            /** {@return this, with the password of the only user set to the argument} */
            public Builder password(@Nullable String value) {
                return set("password", value);
            }

            /** {@return this; bytes are not logged} */
            public Builder wiretap(@Nullable Boolean value) {
                return set("wiretap", value);
            }

            /** {@return this; threads are not settings of this broker} */
            public Builder bossThreadSize(@Nullable Integer value) {
                return set("bossThreadSize", value);
            }

            /** {@return this; threads are not settings of this broker} */
            public Builder workThreadSize(@Nullable Integer value) {
                return set("workThreadSize", value);
            }

            /** {@return this; threads are not settings of this broker} */
            public Builder businessThreadSize(@Nullable Integer value) {
                return set("businessThreadSize", value);
            }

            /** {@return this; there is no such queue} */
            public Builder businessQueueSize(@Nullable Integer value) {
                return set("businessQueueSize", value);
            }

            /** {@return this, with the largest packet set to the argument, in bytes} */
            public Builder messageMaxSize(@Nullable Integer value) {
                return set("messageMaxSize", value);
            }

            /** {@return this; writing goes on as soon as the socket takes more} */
            public Builder lowWaterMark(@Nullable Integer value) {
                return set("lowWaterMark", value);
            }

            /** {@return this, with the bytes that may wait for a socket set to the argument} */
            public Builder highWaterMark(@Nullable Integer value) {
                return set("highWaterMark", value);
            }

            /** {@return this, with TLS as the argument says} */
            public Builder ssl(@Nullable SslContext value) {
                return value == null
                        ? this
                        : set("ssl.enable", value.enable)
                                .set("ssl.crt", value.crt)
                                .set("ssl.key", value.key);
            }

            /** {@return the settings} */
            public TcpConfig build() {
                return new TcpConfig(this);
            }
        }
    }

    /** The management port. */
    public static final class HttpConfig extends Block {

        private HttpConfig(Builder builder) {
            super(builder);
        }

        /** {@return a builder without settings} */
        public static Builder builder() {
            return new Builder();
        }

        /** Collects settings. */
        public static final class Builder extends BlockBuilder<Builder> {

            private Builder() {
                super("http");
            }

            /** {@return this, with a management port if the argument is true} */
            public Builder enable(boolean value) {
                return set("enable", value);
            }

            /** {@return this, with the port set to the argument; 60000 if it is not set} */
            public Builder port(@Nullable Integer value) {
                return set("port", value);
            }

            /** {@return this; requests are not logged} */
            public Builder accessLog(boolean value) {
                return set("accessLog", value);
            }

            /** {@return the settings} */
            public HttpConfig build() {
                return new HttpConfig(this);
            }
        }
    }

    /** MQTT over WebSocket. */
    public static final class WebsocketConfig extends Block {

        private WebsocketConfig(Builder builder) {
            super(builder);
        }

        /** {@return a builder without settings} */
        public static Builder builder() {
            return new Builder();
        }

        /** Collects settings. */
        public static final class Builder extends BlockBuilder<Builder> {

            private Builder() {
                super("ws");
            }

            /** {@return this, with a WebSocket listener if the argument is true} */
            public Builder enable(boolean value) {
                return set("enable", value);
            }

            /** {@return this, with the port set to the argument; 8999 if it is not set} */
            public Builder port(@Nullable Integer value) {
                return set("port", value);
            }

            /** {@return this, with the path set to the argument} */
            public Builder path(@Nullable String value) {
                return set("path", value);
            }

            /** {@return the settings} */
            public WebsocketConfig build() {
                return new WebsocketConfig(this);
            }
        }
    }

    /** The nodes of a cluster. */
    public static final class ClusterConfig extends Block {

        private ClusterConfig(Builder builder) {
            super(builder);
        }

        /** {@return a builder without settings} */
        public static Builder builder() {
            return new Builder();
        }

        /** Collects settings. */
        public static final class Builder extends BlockBuilder<Builder> {

            private Builder() {
                super("cluster");
            }

            /** {@return this, with a cluster if the argument is true} */
            public Builder enable(boolean value) {
                return set("enable", value);
            }

            /** {@return this, with the addresses of nodes, host:port, separated by commas} */
            public Builder url(@Nullable String value) {
                return set("url", value);
            }

            /** {@return this, with the port on which other nodes reach this one} */
            public Builder port(@Nullable Integer value) {
                return set("port", value);
            }

            /** {@return this, with the name of this node} */
            public Builder node(@Nullable String value) {
                return set("node", value);
            }

            /** {@return this; secrets keep clusters apart} */
            public Builder namespace(@Nullable String value) {
                return set("namespace", value);
            }

            /** {@return the settings} */
            public ClusterConfig build() {
                return new ClusterConfig(this);
            }
        }
    }
}
