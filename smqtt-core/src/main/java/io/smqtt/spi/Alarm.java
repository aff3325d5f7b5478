// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A condition that an operator should know of, such as a disk that is nearly full. Immutable.
 *
 * @param name the condition, and after a slash what it concerns if that can be more than one: {@code disk_low},
 *     {@code peer_gone/node-2}. Usable as the end of a topic name
 * @param severity how urgent it is
 * @param message one sentence for people, in English; it can have the names of files and nodes, and no secrets
 * @param since when it began
 * @param until when it ended; null while it lasts
 */
public record Alarm(
        String name,
        Severity severity,
        String message,
        Instant since,
        @Nullable Instant until) {

    /**
     * Checks the components.
     *
     * @throws NullPointerException if one is null, apart from {@code until}
     */
    public Alarm {
        Objects.requireNonNull(name);
        Objects.requireNonNull(severity);
        Objects.requireNonNull(message);
        Objects.requireNonNull(since);
    }

    /**
     * Whether the condition lasts.
     *
     * @return false if it has ended
     */
    public boolean isActive() {
        return until == null;
    }

    /** The urgency of an alarm. */
    public enum Severity {
        /** Something will fail if nobody acts. */
        WARNING,
        /** Something fails. */
        CRITICAL
    }
}
