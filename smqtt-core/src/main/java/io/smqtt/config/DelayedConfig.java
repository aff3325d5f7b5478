// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Messages that are published later, to {@code $delayed/SECONDS/TOPIC}: {@code smqtt.delayed.*}. Immutable.
 *
 * @param enabled whether clients may delay messages; otherwise such a topic is one like any other. Messages that are stored already are
 *     published nevertheless
 * @param maxMessages maximum number of waiting messages; above it new ones are refused (0x97)
 * @param maxBytes maximum size of waiting messages, which are in memory also with a store; above it new ones are refused (0x97)
 * @param maxMessagesPerClient maximum number of waiting messages of one publisher; above it its new ones are refused (0x97)
 * @param maxDelay the longest delay; a longer one is refused (0x90)
 */
@ConfigBlock("delayed")
public record DelayedConfig(
        @Setting("true") boolean enabled,

        @Setting(value = "100000", min = "1", max = "100000000")
        int maxMessages,

        @Setting(value = "64MiB", min = "1KiB", max = "1024TiB")
        long maxBytes,

        @Setting(value = "10000", min = "1", max = "100000000")
        int maxMessagesPerClient,

        @Setting(value = "4294967s", min = "1s", max = "42949669s")
        Duration maxDelay) {

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static DelayedConfig defaults() {
        return new DelayedConfigBuilder().build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public DelayedConfigBuilder toBuilder() {
        return new DelayedConfigBuilder(this);
    }
}
