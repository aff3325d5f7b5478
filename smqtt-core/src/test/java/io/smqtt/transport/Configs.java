// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.TlsConfig;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Configurations that differ from the defaults where a test needs it. */
record Configs(
        ListenerConfig.Type type,
        String host,
        int port,
        int maxConnections,
        Duration connectTimeout,
        int maxPacketBytes,
        @Nullable TlsConfig tls,
        List<String> trustedProxies,
        List<String> origins) {

    static Configs tcp() {
        return new Configs(
                ListenerConfig.Type.TCP, "127.0.0.1", 0, 1000, Duration.ofSeconds(15), 0, null, List.of(), List.of());
    }

    static Configs ws() {
        return new Configs(
                ListenerConfig.Type.WS, "127.0.0.1", 0, 1000, Duration.ofSeconds(15), 0, null, List.of(), List.of());
    }

    Configs host(String value) {
        return new Configs(
                type, value, port, maxConnections, connectTimeout, maxPacketBytes, tls, trustedProxies, origins);
    }

    Configs port(int value) {
        return new Configs(
                type, host, value, maxConnections, connectTimeout, maxPacketBytes, tls, trustedProxies, origins);
    }

    Configs maxConnections(int value) {
        return new Configs(type, host, port, value, connectTimeout, maxPacketBytes, tls, trustedProxies, origins);
    }

    Configs connectTimeout(Duration value) {
        return new Configs(type, host, port, maxConnections, value, maxPacketBytes, tls, trustedProxies, origins);
    }

    Configs maxPacketBytes(int value) {
        return new Configs(type, host, port, maxConnections, connectTimeout, value, tls, trustedProxies, origins);
    }

    Configs tls(@Nullable TlsConfig value) {
        return new Configs(
                type, host, port, maxConnections, connectTimeout, maxPacketBytes, value, trustedProxies, origins);
    }

    Configs trusting(String... networks) {
        return new Configs(
                type, host, port, maxConnections, connectTimeout, maxPacketBytes, tls, List.of(networks), origins);
    }

    Configs origins(String... values) {
        return new Configs(
                type, host, port, maxConnections, connectTimeout, maxPacketBytes, tls, trustedProxies, List.of(values));
    }

    ListenerConfig build() {
        return ListenerConfig.of(type).toBuilder()
                .host(host)
                .port(port)
                .maxConnections(maxConnections)
                .connectTimeout(connectTimeout)
                .maxPacketBytes(maxPacketBytes)
                .backlog(128)
                .tls(tls)
                .proxyProtocol(!trustedProxies.isEmpty())
                .trustedProxies(trustedProxies)
                .allowedOrigins(origins)
                .build();
    }

    static LimitsConfig limits(int connections, int pending, int pendingPerAddress, int rate) {
        return LimitsConfig.builder()
                .maxConnections(connections)
                .maxPendingConnections(pending)
                .maxPendingConnectionsPerAddress(pendingPerAddress)
                .connectRatePerAddress(rate)
                .build();
    }
}
