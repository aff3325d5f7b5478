// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigDoc;

/**
 * Level and format of the log: {@code smqtt.logging.*}.
 *
 * @param level the least important level of the broker's own messages that is written
 * @param libraryLevel the same for the libraries that the broker is built on
 * @param format lines for people, or one JSON object per line
 */
record LoggingConfig(
        @ConfigDoc("the log level of the broker") Level level,

        @ConfigDoc("the log level of libraries") Level libraryLevel,

        @ConfigDoc("plain lines, or one JSON object per line; also SMQTT_LOG_FORMAT")
        Format format) {

    static LoggingConfig defaults() {
        return new LoggingConfig(Level.INFO, Level.WARN, Format.TEXT);
    }

    /** The log level. */
    enum Level {
        TRACE,
        DEBUG,
        INFO,
        WARN,
        ERROR,
        OFF
    }

    /** The format of a log line. */
    enum Format {
        TEXT,
        JSON
    }
}
