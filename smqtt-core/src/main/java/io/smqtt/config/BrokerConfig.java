// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The whole configuration of a broker: {@code smqtt.*}.
 *
 * @param listeners by name, in the order in which they are bound
 * @param limits what peers can make grow
 * @param session how sessions live on
 * @param mqtt what the broker offers of the protocol
 * @param access who may do what
 * @param storage where sessions and retained messages are kept
 * @param management the port for metrics, health and control
 * @param eventLoops threads that carry connections; 0 for one per core
 * @param nativeTransport whether epoll is used where it is available
 */
public record BrokerConfig(
        Map<String, ListenerConfig> listeners,
        LimitsConfig limits,
        SessionConfig session,
        MqttConfig mqtt,
        AccessConfig access,
        StorageConfig storage,
        ManagementConfig management,
        int eventLoops,
        boolean nativeTransport) {

    /**
     * The defaults: TCP on 1883 and WebSocket on 8083.
     *
     * @return a configuration that is safe to run
     */
    public static BrokerConfig defaults() {
        Map<String, ListenerConfig> listeners = new LinkedHashMap<>();
        listeners.put("tcp", ListenerConfig.tcp(1883));
        listeners.put("ws", ListenerConfig.ws(8083));
        return new BrokerConfig(
                listeners,
                LimitsConfig.defaults(),
                SessionConfig.defaults(),
                MqttConfig.defaults(),
                AccessConfig.defaults(),
                StorageConfig.defaults(),
                ManagementConfig.defaults(),
                0,
                true);
    }
}
