// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigBlock;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.Setting;

/**
 * Level and format of the log: {@code smqtt.logging.*}.
 *
 * @param level the log level of the broker
 * @param libraryLevel the log level of libraries
 * @param format plain lines, or one JSON object per line; also SMQTT_LOG_FORMAT
 */
@ConfigBlock("logging")
record LoggingConfig(
        @Setting("info") Level level,
        @Setting("warn") Level libraryLevel,
        @Setting("text") Format format) {

    static LoggingConfig defaults() {
        return ConfigSchema.defaults(LoggingConfig.class);
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
