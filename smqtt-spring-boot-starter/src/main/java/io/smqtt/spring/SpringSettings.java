// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigBlock;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.Setting;
import java.time.Duration;

/**
 * Keys of the starter beside those of the broker. Immutable.
 *
 * @param enabled false switches the broker off: none of its beans exist
 * @param spring the application around the broker
 * @param legacy compatibility with programs for the former smqtt
 */
@ConfigBlock("")
public record SpringSettings(@Setting("true") boolean enabled, Embedded spring, Legacy legacy) {

    static SpringSettings defaults() {
        return ConfigSchema.defaults(SpringSettings.class);
    }

    /**
     * Settings of the application around the broker. Immutable.
     *
     * @param stopTimeout maximum time of a graceful stop, for clients to read pending data and for listener methods
     *     to return; shorter than spring.lifecycle.timeout-per-shutdown-phase
     * @param listenerThreads maximum number of threads that call methods with @MqttListener
     * @param security whether the AuthenticationManager of Spring Security authenticates clients with a user name
     * @param authenticationThreads maximum number of threads that wait for the AuthenticationManager
     * @param authenticationQueue maximum number of clients that wait for one of these threads; further ones are
     *     refused as server busy
     */
    @ConfigBlock("spring")
    public record Embedded(
            @Setting(value = "10s", min = "0s", max = "1h") Duration stopTimeout,
            @Setting(value = "16", min = "1", max = "10000") int listenerThreads,
            @Setting("false") boolean security,
            @Setting(value = "8", min = "1", max = "10000") int authenticationThreads,

            @Setting(value = "1000", min = "1", max = "1000000")
            int authenticationQueue) {}

    /**
     * Compatibility with programs written for the former smqtt. Immutable.
     *
     * @param eventTopics whether {@code $event/connect} and {@code $event/close} are published, as by the former
     *     smqtt. Subscribers need a rule of the ACL file, or the role admin
     */
    @ConfigBlock("legacy")
    public record Legacy(@Setting("false") boolean eventTopics) {}
}
