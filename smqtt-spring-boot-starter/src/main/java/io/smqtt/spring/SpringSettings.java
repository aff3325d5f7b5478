// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigDoc;
import io.smqtt.config.ConfigurationException;
import java.time.Duration;

/**
 * Keys of the starter beside those of the broker. Immutable.
 *
 * @param enabled whether there is a broker at all
 * @param spring what concerns the application around the broker
 * @param legacy what programs written for the former smqtt expect
 */
public record SpringSettings(
        @ConfigDoc("false switches the broker off: none of its beans exist")
        boolean enabled,

        @ConfigDoc("the application around the broker") Embedded spring,

        @ConfigDoc("compatibility with programs for the former smqtt")
        Legacy legacy) {

    static SpringSettings defaults() {
        return new SpringSettings(true, new Embedded(Duration.ofSeconds(10), 16, false, 8, 1_000), new Legacy(false));
    }

    /**
     * Settings of the application around the broker. Immutable.
     *
     * @param stopTimeout how long clients and listener methods have at a stop
     * @param listenerThreads threads that call listener methods
     * @param security whether the authentication manager decides who may connect
     * @param authenticationThreads threads that call it
     * @param authenticationQueue clients that wait for one of them
     */
    public record Embedded(
            @ConfigDoc(
                    value =
                            "maximum time of a graceful stop, for clients to read pending data and for listener methods to "
                                    + "return; shorter than spring.lifecycle.timeout-per-shutdown-phase",
                    min = "0s",
                    max = "1h")
            Duration stopTimeout,

            @ConfigDoc(
                    value = "maximum number of threads that call methods with @MqttListener",
                    min = "1",
                    max = "10000")
            int listenerThreads,

            @ConfigDoc("whether the AuthenticationManager of Spring Security authenticates clients with a user name")
            boolean security,

            @ConfigDoc(
                    value = "maximum number of threads that wait for the AuthenticationManager",
                    min = "1",
                    max = "10000")
            int authenticationThreads,

            @ConfigDoc(
                    value =
                            "maximum number of clients that wait for one of these threads; further ones are refused as server "
                                    + "busy",
                    min = "1",
                    max = "1000000")
            int authenticationQueue) {

        /**
         * Checks the values.
         *
         * @throws ConfigurationException if one is out of its range
         */
        public Embedded {
            if (stopTimeout.isNegative() || stopTimeout.compareTo(Duration.ofHours(1)) > 0) {
                throw new ConfigurationException("spring.stop-timeout", "must be from 0s to 1h");
            }
            range("spring.listener-threads", listenerThreads, 10_000);
            range("spring.authentication-threads", authenticationThreads, 10_000);
            range("spring.authentication-queue", authenticationQueue, 1_000_000);
        }

        private static void range(String key, int value, int most) {
            if (value < 1 || value > most) {
                throw new ConfigurationException(key, "must be from 1 to " + most);
            }
        }
    }

    /**
     * Compatibility with programs written for the former smqtt. Immutable.
     *
     * @param eventTopics whether its topics of connects and disconnects are written
     */
    public record Legacy(
            @ConfigDoc(
                    "whether `$event/connect` and `$event/close` are published, as by the former smqtt. Subscribers need "
                            + "a rule of the ACL file, or the role admin")
            boolean eventTopics) {}
}
