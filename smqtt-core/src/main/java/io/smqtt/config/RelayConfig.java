// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Clients that connect to a front node and have their session on another one: {@code smqtt.cluster.relay.*}.
 *
 * @param bind host:port at which front nodes reach this node for the clients that they relay; without it they relay none to this node. Needs
 *     {@code cluster.secret} or {@code cluster.tls}; not for a front node
 * @param maxConnections maximum number of relayed connections: on a front node of its clients, which get CONNACK 0x89 beyond it; on another
 *     node of those that it takes from all front nodes, which then try the next node
 * @param openTimeout maximum time from the CONNECT of a client to the node that takes it, whatever number of nodes is tried; then CONNACK 0x88
 */
@ConfigBlock("cluster.relay")
public record RelayConfig(
        @Nullable String bind,

        @Setting(value = "1000000", min = "1", max = "100000000")
        int maxConnections,

        @Setting(value = "5s", min = "100ms", max = "1m") Duration openTimeout) {

    /**
     * Checks the address.
     *
     * @throws ConfigurationException if other nodes cannot reach it
     */
    public RelayConfig {
        if (bind != null) {
            String key = "cluster.relay.bind";
            Check.hostAndPort(key, bind, 1);
            String host = bind.substring(0, bind.lastIndexOf(':'));
            Check.that(
                    !host.equals("0.0.0.0") && !host.equals("[::]") && !host.equals("::"),
                    key,
                    "must be the address of this node by which front nodes reach it, not " + host);
        }
    }

    /**
     * The defaults.
     *
     * @return a configuration without relayed connections
     */
    public static RelayConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static RelayConfigBuilder builder() {
        return new RelayConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public RelayConfigBuilder toBuilder() {
        return new RelayConfigBuilder(this);
    }
}
