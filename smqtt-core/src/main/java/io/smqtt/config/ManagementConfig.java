// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The port for metrics, health and control: {@code smqtt.management.*}.
 *
 * @param host the address to bind to; any other than loopback needs a token
 * @param port the port; 0 for any free one
 * @param tokenFile the file that holds the bearer token; without one metrics and the nodes of the cluster are free on
 *     loopback, and the rest needs the token that the broker makes in its data directory
 * @param tls makes the port speak HTTPS; null for HTTP
 * @param enabled whether there are metrics, a management port and status topics
 * @param sysInterval how often the topics below $SYS/broker are written, at least 100 ms; 0 for never
 * @param otlp where metrics are sent as OpenTelemetry wants them, or null
 * @param influx where metrics are sent as InfluxDB wants them, or null
 * @param tracing where traces are sent, also without metrics; null for none
 */
public record ManagementConfig(
        @ConfigDoc("the address to bind to. An address that is not loopback needs `token-file`, and should have `tls`")
        String host,

        @ConfigDoc(
                value =
                        "the port; 0 for any free port. It accepts 64 connections at a time, and closes a connection that "
                                + "sends no complete request within 10 s",
                min = "0",
                max = "65535")
        int port,

        @ConfigDoc("the file with the bearer token, at least 16 characters. Without it every local user can read the "
                + "metrics and the list of cluster nodes; other requests need the token in the file `management.token` "
                + "of the data directory")
        @Nullable
        Path tokenFile,

        @Nullable ManagementTlsConfig tls,

        @ConfigDoc("false switches off metrics, the management port and the topics below `$SYS`")
        boolean enabled,

        @ConfigDoc(
                value = "interval at which the topics below `$SYS/broker` are published, at least 100ms; 0s for never",
                min = "0s",
                max = "1d")
        Duration sysInterval,

        @Nullable OtlpConfig otlp,

        @Nullable InfluxConfig influx,

        @Nullable TracingConfig tracing) {

    private static final Duration SHORTEST = Duration.ofMillis(100); // a set of values costs 0.2 ms of a core

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public ManagementConfig {
        Check.present("management.host", host);
        Check.range("management.port", port, 0, 65_535);
        Check.host("management.host", host);
        Check.range("management.sys-interval", sysInterval, Duration.ZERO, Duration.ofDays(1));
        Check.that(
                sysInterval.isZero() || sysInterval.compareTo(SHORTEST) >= 0,
                "management.sys-interval",
                "must be 0s or at least " + ConfigText.format(SHORTEST) + ", but is " + ConfigText.format(sysInterval));
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ManagementConfig defaults() {
        return new ManagementConfig("127.0.0.1", 18_083, null, null, true, Duration.ofSeconds(10), null, null, null);
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link ManagementConfig}. Not safe for several threads. */
    public static final class Builder {

        private String host;
        private int port;
        private @Nullable Path tokenFile;
        private @Nullable ManagementTlsConfig tls;
        private boolean enabled;
        private Duration sysInterval;
        private @Nullable OtlpConfig otlp;
        private @Nullable InfluxConfig influx;
        private @Nullable TracingConfig tracing;

        private Builder(ManagementConfig from) {
            host = from.host;
            port = from.port;
            tokenFile = from.tokenFile;
            tls = from.tls;
            enabled = from.enabled;
            sysInterval = from.sysInterval;
            otlp = from.otlp;
            influx = from.influx;
            tracing = from.tracing;
        }

        /** {@return this, with {@link ManagementConfig#host()} set to the argument} */
        public Builder host(String value) {
            host = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#port()} set to the argument} */
        public Builder port(int value) {
            port = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#tokenFile()} set to the argument} */
        public Builder tokenFile(@Nullable Path value) {
            tokenFile = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#tls()} set to the argument} */
        public Builder tls(@Nullable ManagementTlsConfig value) {
            tls = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#enabled()} set to the argument} */
        public Builder enabled(boolean value) {
            enabled = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#sysInterval()} set to the argument} */
        public Builder sysInterval(Duration value) {
            sysInterval = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#otlp()} set to the argument} */
        public Builder otlp(@Nullable OtlpConfig value) {
            otlp = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#influx()} set to the argument} */
        public Builder influx(@Nullable InfluxConfig value) {
            influx = value;
            return this;
        }

        /** {@return this, with {@link ManagementConfig#tracing()} set to the argument} */
        public Builder tracing(@Nullable TracingConfig value) {
            tracing = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public ManagementConfig build() {
            return new ManagementConfig(host, port, tokenFile, tls, enabled, sysInterval, otlp, influx, tracing);
        }
    }
}
