// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigDoc;
import io.smqtt.config.ConfigurationException;
import java.time.Duration;

/**
 * What the starter adds to the keys of the broker. Immutable.
 *
 * @param enabled whether there is a broker at all
 * @param spring what concerns the application around the broker
 * @param legacy what programs written for the former smqtt expect
 */
public record SpringSettings(
        @ConfigDoc("false for an application without the broker: none of its beans are there")
        boolean enabled,

        @ConfigDoc("what concerns the application around the broker")
        Embedded spring,

        @ConfigDoc("what programs written for the former smqtt expect")
        Legacy legacy) {

    static SpringSettings defaults() {
        return new SpringSettings(true, new Embedded(Duration.ofSeconds(10), 16, false, 8, 1_000), new Legacy(false));
    }

    /**
     * What concerns the application around the broker. Immutable.
     *
     * @param stopTimeout how long clients and listener methods have at a stop
     * @param listenerThreads threads that call listener methods
     * @param security whether the authentication manager decides who may connect
     * @param authenticationThreads threads that call it
     * @param authenticationQueue clients that wait for one of them
     */
    public record Embedded(
            @ConfigDoc(
                    value = "how long clients have to take what was written, and listener methods to end, when the "
                            + "application stops; shorter than spring.lifecycle.timeout-per-shutdown-phase",
                    min = "0s",
                    max = "1h")
            Duration stopTimeout,

            @ConfigDoc(value = "threads that call the methods with @MqttListener, at most", min = "1", max = "10000")
            int listenerThreads,

            @ConfigDoc("whether the AuthenticationManager of Spring Security decides on clients with a user name")
            boolean security,

            @ConfigDoc(value = "threads that wait for the AuthenticationManager, at most", min = "1", max = "10000")
            int authenticationThreads,

            @ConfigDoc(
                    value = "clients that wait for one of these threads; more are refused as server busy",
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
     * What programs written for the former smqtt expect. Immutable.
     *
     * @param eventTopics whether its topics of connects and disconnects are written
     */
    public record Legacy(
            @ConfigDoc(
                    "whether `$event/connect` and `$event/close` are written, as the former smqtt did; to read them takes a "
                            + "rule of the ACL file, or the role admin")
            boolean eventTopics) {}
}
