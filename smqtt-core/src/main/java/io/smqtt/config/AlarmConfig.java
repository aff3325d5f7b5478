// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Alarms: {@code smqtt.management.alarms.*}. Immutable.
 *
 * @param webhook the URL that gets a POST with JSON when an alarm begins, and when it ends
 * @param webhookToken sent to the webhook as bearer token
 * @param minFreeDiskBytes free space in the file system of the store below which there is an alarm; 0 for no alarm
 * @param limitPercent share of a limit from which on there is an alarm
 * @param certificateExpiry time before the end of a certificate from which on there is an alarm; never, or 0s, for no
 *     alarm
 */
@ConfigBlock("alarms")
public record AlarmConfig(
        @Nullable String webhook,
        @Setting(secret = true) @Nullable String webhookToken,
        @Setting(value = "1GiB", min = "0", max = "1TiB") long minFreeDiskBytes,
        @Setting(value = "80", min = "1", max = "100") int limitPercent,

        @Setting(value = "14d", min = "0s", max = "365d", zero = "never")
        Duration certificateExpiry) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public AlarmConfig {
        if (webhook != null) {
            Check.httpUrl("alarms.webhook", webhook);
        }
        Check.that(webhookToken == null || webhook != null, "alarms.webhook-token", "needs alarms.webhook");
        if (webhookToken != null) {
            Check.plainText("alarms.webhook-token", webhookToken);
        }
    }

    /**
     * The defaults.
     *
     * @return alarms without a webhook
     */
    public static AlarmConfig defaults() {
        return new AlarmConfigBuilder().build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public AlarmConfigBuilder toBuilder() {
        return new AlarmConfigBuilder(this);
    }
}
