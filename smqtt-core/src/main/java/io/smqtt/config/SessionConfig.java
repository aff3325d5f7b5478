// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Sessions without a connection: {@code smqtt.session.*}.
 *
 * @param maxExpiry maximum Session Expiry Interval; a longer one is reduced to it
 * @param defaultExpiry session expiry of clients before MQTT 5.0 that connect without Clean Session; a shorter
 *     max-expiry wins
 * @param queueQos0 whether QoS 0 messages are queued for offline clients
 * @param dropPolicy which message is dropped when a queue is full
 * @param bindToUser whether a session can be resumed only by the user who created it
 */
@ConfigBlock("session")
public record SessionConfig(
        @Setting(value = "1d", min = "0s", max = "4294967295s")
        Duration maxExpiry,

        @Setting(value = "1d", min = "0s", max = "4294967295s")
        Duration defaultExpiry,

        @Setting("false") boolean queueQos0,
        @Setting("newest") DropPolicy dropPolicy,
        @Setting("true") boolean bindToUser) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public SessionConfig {
        if (defaultExpiry.compareTo(maxExpiry) > 0) {
            defaultExpiry = maxExpiry;
        }
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static SessionConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static SessionConfigBuilder builder() {
        return new SessionConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public SessionConfigBuilder toBuilder() {
        return new SessionConfigBuilder(this);
    }
}
