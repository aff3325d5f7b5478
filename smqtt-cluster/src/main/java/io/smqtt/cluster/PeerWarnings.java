// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.log.LogLimiter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.event.Level;
import org.slf4j.helpers.MessageFormatter;

/** Logs warnings about what peers send: one a minute for each kind and peer, and a limited number in total. */
@OnClusterLoop
final class PeerWarnings {

    private static final int WARNINGS_PER_MINUTE = 10;

    private final Logger log;
    private final LogLimiter limiter;

    PeerWarnings(Logger log) {
        this.log = log;
        this.limiter = new LogLimiter(log, Level.WARN, 1, WARNINGS_PER_MINUTE);
    }

    /**
     * Logs a warning, unless there are too many.
     *
     * @param format a text with two places
     * @param first the peer; counted separately for each
     * @param second a detail; not counted separately
     */
    void warn(String format, Object first, @Nullable Object second) {
        if (limiter.allows(MessageFormatter.format(format, first, "…").getMessage())) {
            log.warn(format, first, second);
        }
    }
}
