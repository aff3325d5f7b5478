// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigBlock;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.Setting;
import io.smqtt.migrate.legacy.LegacyConfig;
import java.time.Duration;

/**
 * Configuration of the program, beside that of the broker.
 *
 * @param logging what is logged and how
 * @param legacy what programs written for the former smqtt expect
 * @param shutdownTimeout maximum time of a graceful stop, after which connections are closed; a second signal
 *     closes them at once
 */
@ConfigBlock("")
record ProgramConfig(
        LoggingConfig logging,
        LegacyConfig legacy,
        @Setting(value = "10s", min = "0s", max = "1h") Duration shutdownTimeout) {

    static ProgramConfig defaults() {
        return ConfigSchema.defaults(ProgramConfig.class);
    }
}
