// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Sessions without a connection: {@code smqtt.session.*}.
 *
 * @param maxExpiry the longest session expiry interval that is granted
 * @param defaultExpiry how long a session without clean session lives before MQTT 5.0; max-expiry where that is
 *     shorter
 * @param queueQos0 whether QoS 0 messages are queued for an offline client
 * @param dropPolicy which message goes when a queue is full
 * @param bindToUser whether a session can be resumed only by the user who began it
 */
public record SessionConfig(
        @ConfigDoc(
                value = "maximum Session Expiry Interval; a longer one is reduced to it",
                min = "0s",
                max = "4294967295s")
        Duration maxExpiry,

        @ConfigDoc(
                value =
                        "session expiry of clients before MQTT 5.0 that connect without Clean Session; a shorter max-expiry "
                                + "wins",
                min = "0s",
                max = "4294967295s")
        Duration defaultExpiry,

        @ConfigDoc("whether QoS 0 messages are queued for offline clients")
        boolean queueQos0,

        @ConfigDoc("which message is dropped when a queue is full")
        DropPolicy dropPolicy,

        @ConfigDoc("whether a session can be resumed only by the user who created it")
        boolean bindToUser) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public SessionConfig {
        Check.range("session.max-expiry", maxExpiry, Duration.ZERO, Duration.ofSeconds(4_294_967_295L));
        Check.range("session.default-expiry", defaultExpiry, Duration.ZERO, Duration.ofSeconds(4_294_967_295L));
        Check.present("session.drop-policy", dropPolicy);
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
        return new SessionConfig(Duration.ofDays(1), Duration.ofDays(1), false, DropPolicy.NEWEST, true);
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

    /** Collects values for a new {@link SessionConfig}. Not safe for several threads. */
    public static final class Builder {

        private Duration maxExpiry;
        private Duration defaultExpiry;
        private boolean queueQos0;
        private DropPolicy dropPolicy;
        private boolean bindToUser;

        private Builder(SessionConfig from) {
            maxExpiry = from.maxExpiry;
            defaultExpiry = from.defaultExpiry;
            queueQos0 = from.queueQos0;
            dropPolicy = from.dropPolicy;
            bindToUser = from.bindToUser;
        }

        /** {@return this, with {@link SessionConfig#maxExpiry()} set to the argument} */
        public Builder maxExpiry(Duration value) {
            maxExpiry = value;
            return this;
        }

        /** {@return this, with {@link SessionConfig#defaultExpiry()} set to the argument} */
        public Builder defaultExpiry(Duration value) {
            defaultExpiry = value;
            return this;
        }

        /** {@return this, with {@link SessionConfig#queueQos0()} set to the argument} */
        public Builder queueQos0(boolean value) {
            queueQos0 = value;
            return this;
        }

        /** {@return this, with {@link SessionConfig#dropPolicy()} set to the argument} */
        public Builder dropPolicy(DropPolicy value) {
            dropPolicy = value;
            return this;
        }

        /** {@return this, with {@link SessionConfig#bindToUser()} set to the argument} */
        public Builder bindToUser(boolean value) {
            bindToUser = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public SessionConfig build() {
            return new SessionConfig(maxExpiry, defaultExpiry, queueQos0, dropPolicy, bindToUser);
        }
    }
}
