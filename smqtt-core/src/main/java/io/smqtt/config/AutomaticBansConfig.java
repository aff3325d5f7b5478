// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;

/**
 * Bans that the broker makes by itself: {@code smqtt.access.bans.*}. They are made on all nodes, and can be ended by the API. Immutable.
 *
 * @param maxDisconnects number of disconnects of one client identifier within the window after which it is banned; 0 for
 *     never. Takeovers, and disconnects by an administrator or by the end of the broker, are not counted
 * @param disconnectWindow the window in which disconnects are counted
 * @param disconnectBan how long such a client identifier is banned
 * @param maxRefusedLogins number of refused logins (0x86, 0x87) from one address (IPv6: a /64 network) within the window
 *     after which it is banned; 0 for never. Loopback addresses are never banned
 * @param refusedLoginWindow the window in which refused logins are counted
 * @param refusedLoginBan how long such an address is banned
 * @param never networks such as 10.0.0.0/8 that are never banned, nor the client identifiers of clients there
 */
@ConfigBlock("access.bans")
public record AutomaticBansConfig(
        @Setting(value = "0", min = "0", max = "1000000") int maxDisconnects,
        @Setting(value = "1m", min = "1s", max = "1d") Duration disconnectWindow,
        @Setting(value = "5m", min = "1s", max = "365d") Duration disconnectBan,
        @Setting(value = "0", min = "0", max = "1000000") int maxRefusedLogins,
        @Setting(value = "1m", min = "1s", max = "1d") Duration refusedLoginWindow,
        @Setting(value = "5m", min = "1s", max = "365d") Duration refusedLoginBan,
        List<String> never) {

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if one of the networks is none
     */
    public AutomaticBansConfig {
        never = List.copyOf(never);
        for (String network : never) {
            Check.network("access.bans.never", network);
        }
    }

    /**
     * Whether the broker bans anybody by itself.
     *
     * @return false by default
     */
    public boolean isOn() {
        return maxDisconnects > 0 || maxRefusedLogins > 0;
    }

    /**
     * The defaults.
     *
     * @return no bans
     */
    public static AutomaticBansConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static AutomaticBansConfigBuilder builder() {
        return new AutomaticBansConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public AutomaticBansConfigBuilder toBuilder() {
        return new AutomaticBansConfigBuilder(this);
    }
}
