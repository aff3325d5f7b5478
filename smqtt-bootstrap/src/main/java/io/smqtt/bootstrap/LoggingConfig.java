// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigDoc;

/**
 * What is logged and how: {@code smqtt.logging.*}.
 *
 * @param level the least important level of the broker's own messages that is written
 * @param libraryLevel the same for the libraries that the broker is built on
 * @param format lines for people, or one JSON object per line
 */
record LoggingConfig(
        @ConfigDoc("the least important level of the broker's own messages that is written")
        Level level,

        @ConfigDoc("the same for the libraries that the broker is built on")
        Level libraryLevel,

        @ConfigDoc("lines for people, or one JSON object per line; also SMQTT_LOG_FORMAT")
        Format format) {

    static LoggingConfig defaults() {
        return new LoggingConfig(Level.INFO, Level.WARN, Format.TEXT);
    }

    /** How much is written. */
    enum Level {
        TRACE,
        DEBUG,
        INFO,
        WARN,
        ERROR,
        OFF
    }

    /** What a line looks like. */
    enum Format {
        TEXT,
        JSON
    }
}
