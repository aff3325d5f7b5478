// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.config.ConfigBlock;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.Setting;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Keys of the starter beside those of the broker. Immutable.
 *
 * @param enabled false switches the broker off: none of its beans exist
 * @param spring the application around the broker
 * @param legacy compatibility with programs for the former smqtt
 * @param management the API and the dashboard within the application
 */
@ConfigBlock("")
public record SpringSettings(@Setting("true") boolean enabled, Embedded spring, Legacy legacy, Management management) {

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

    /**
     * The API and the dashboard within the application. Immutable.
     *
     * @param embedded where they are, and who may use them
     */
    @ConfigBlock("management")
    public record Management(EmbeddedManagement embedded) {}

    /**
     * Where the API and the dashboard are within the application. Immutable.
     *
     * @param path the path in the application, such as {@code /smqtt}: the dashboard is at {@code /smqtt/dashboard/}, the API at
     *     {@code /smqtt/api/v5}. Without it there are none; it needs Spring MVC or WebFlux
     * @param roles which users of the application may use them
     */
    @ConfigBlock("management.embedded")
    public record EmbeddedManagement(@Nullable String path, Roles roles) {

        private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+");

        /**
         * Checks the path.
         *
         * @throws ConfigurationException if it is none
         */
        public EmbeddedManagement {
            if (path != null && !PATH.matcher(path).matches()) {
                throw new ConfigurationException(
                        "management.embedded.path",
                        "must begin with a slash and not end with one, such as /smqtt, but is " + path);
            }
        }
    }

    /**
     * The authorities in Spring Security that give a role of the API; users without any of them are refused. Immutable.
     *
     * @param administrator authorities of administrators, such as {@code ROLE_ADMIN}
     * @param operator authorities of operators
     * @param viewer authorities of viewers
     * @param publisher authorities of those who may publish, and nothing else
     */
    @ConfigBlock("management.embedded.roles")
    public record Roles(
            List<String> administrator, List<String> operator, List<String> viewer, List<String> publisher) {

        /** Copies the lists. */
        public Roles {
            administrator = List.copyOf(administrator);
            operator = List.copyOf(operator);
            viewer = List.copyOf(viewer);
            publisher = List.copyOf(publisher);
        }
    }
}
