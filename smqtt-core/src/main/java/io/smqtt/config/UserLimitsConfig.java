// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/**
 * Limits on all clients of one user together, on one node: {@code smqtt.limits.user.*}. Clients without a user name are not limited by them.
 *
 * @param maxPublishRate maximum number of messages per second that are read from all clients of a user; 0 for no
 *     limit
 * @param maxPublishBurst number of messages that may come at once after a pause; 0 for those of a second
 * @param maxBytesRate maximum number of bytes per second that are read from all clients of a user; 0 for no limit
 * @param maxBytesBurst number of bytes that may come at once after a pause; 0 for those of a second
 */
@ConfigBlock("limits.user")
public record UserLimitsConfig(
        @Setting(value = "0", min = "0", max = "100000000") int maxPublishRate,
        @Setting(value = "0", min = "0", max = "100000000") int maxPublishBurst,
        @Setting(value = "0", min = "0", max = "1TiB") long maxBytesRate,
        @Setting(value = "0", min = "0", max = "1TiB") long maxBytesBurst) {

    /**
     * The defaults.
     *
     * @return no limits
     */
    public static UserLimitsConfig defaults() {
        return new UserLimitsConfigBuilder().build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public UserLimitsConfigBuilder toBuilder() {
        return new UserLimitsConfigBuilder(this);
    }
}
