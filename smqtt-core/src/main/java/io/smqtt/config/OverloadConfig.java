// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;

/**
 * Protection against overload: {@code smqtt.overload.*}. Immutable.
 *
 * @param enabled whether the broker takes less work while it is overloaded
 * @param maxLoopLag the delay of due tasks on an event loop above which the broker is overloaded; the greatest within a second counts. {@code
 *     never} to leave it out of account
 * @param maxHeapPercent share of the heap for old objects in use after a collection above which the broker is overloaded; 0 to leave it out of account
 * @param maxDirectPercent share of the memory outside of the heap above which the broker is overloaded; 0 to leave it out of account
 * @param riseTime time for which one of them must be exceeded before the level rises by one
 * @param fallTime time for which all of them must be well below their threshold before the level falls by one
 */
@ConfigBlock("overload")
public record OverloadConfig(
        @Setting("true") boolean enabled,

        @Setting(value = "2s", min = "0s", max = "1h", zero = "never")
        Duration maxLoopLag,

        @Setting(value = "85", min = "0", max = "99") int maxHeapPercent,
        @Setting(value = "85", min = "0", max = "99") int maxDirectPercent,

        @Setting(value = "2s", min = "100ms", max = "1h") Duration riseTime,

        @Setting(value = "5s", min = "100ms", max = "1h") Duration fallTime) {

    /**
     * The defaults.
     *
     * @return protection with thresholds that a working broker does not reach
     */
    public static OverloadConfig defaults() {
        return new OverloadConfigBuilder().build();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public OverloadConfigBuilder toBuilder() {
        return new OverloadConfigBuilder(this);
    }
}
