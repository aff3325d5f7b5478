// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * How sessions live on without a connection: {@code smqtt.session.*}.
 *
 * @param maxExpiry the longest session expiry interval that is granted
 * @param defaultExpiry the expiry of a session without clean session before MQTT 5.0, at most max-expiry
 * @param queueQos0 whether QoS 0 messages are queued for an offline client
 * @param dropPolicy which message goes when a queue is full
 * @param bindToUser whether a session can be resumed only by the user who began it
 */
public record SessionConfig(
        Duration maxExpiry,
        Duration defaultExpiry,
        boolean queueQos0,
        DropPolicy dropPolicy,
        boolean bindToUser) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static SessionConfig defaults() {
        return new SessionConfig(
                Duration.ofDays(1),
                Duration.ofDays(1),
                false,
                DropPolicy.NEWEST,
                true);
    }
}
