// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigDoc;
import io.smqtt.config.ConfigurationException;
import java.time.Duration;

/**
 * Configuration of the program, beside that of the broker.
 *
 * @param logging what is logged and how
 * @param legacy what programs written for the former smqtt expect
 * @param shutdownTimeout how long a graceful stop may take
 */
record ProgramConfig(
        LoggingConfig logging,

        LegacyConfig legacy,

        @ConfigDoc(
                value =
                        "maximum time of a graceful stop, after which connections are closed; a second signal closes them at "
                                + "once",
                min = "0s",
                max = "1h")
        Duration shutdownTimeout) {

    ProgramConfig {
        if (shutdownTimeout.isNegative() || shutdownTimeout.compareTo(Duration.ofHours(1)) > 0) {
            throw new ConfigurationException("shutdown-timeout", "must be 0s to 1h, but is " + shutdownTimeout);
        }
    }

    static ProgramConfig defaults() {
        return new ProgramConfig(LoggingConfig.defaults(), LegacyConfig.NONE, Duration.ofSeconds(10));
    }
}
