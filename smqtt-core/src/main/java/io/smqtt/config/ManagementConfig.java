// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The port for metrics, health and control: {@code smqtt.management.*}.
 *
 * @param host the address to bind to; keep it on loopback unless a proxy with TLS is in front
 * @param port the port; 0 for any free one. Nothing listens on it until the metrics module is present
 * @param tokenFile the file that holds the bearer token; without one a token is made in the data directory
 */
public record ManagementConfig(
        @ConfigDoc("the address to bind to; keep it on loopback unless a proxy with TLS is in front")
        String host,

        @ConfigDoc(
                value = "the port; 0 for any free one. Nothing listens on it until the metrics module is " + "present",
                min = "0",
                max = "65535")
        int port,

        @ConfigDoc("the file that holds the bearer token; without one a token is made in the data " + "directory")
        @Nullable
        Path tokenFile) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public ManagementConfig {
        Check.present("management.host", host);
        Check.range("management.port", port, 0, 65_535);
        Check.host("management.host", host);
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ManagementConfig defaults() {
        return new ManagementConfig("127.0.0.1", 18_083, null);
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

        private Builder(ManagementConfig from) {
            host = from.host;
            port = from.port;
            tokenFile = from.tokenFile;
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

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public ManagementConfig build() {
            return new ManagementConfig(host, port, tokenFile);
        }
    }
}
