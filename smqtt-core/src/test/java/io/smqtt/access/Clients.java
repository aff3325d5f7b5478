// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.ClientIdentity;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Clients as the checks see them. */
final class Clients {

    private Clients() {}

    static AuthenticationRequest login(@Nullable String userName, @Nullable String password) {
        return login(userName, password == null ? null : password.getBytes(StandardCharsets.UTF_8));
    }

    static AuthenticationRequest login(@Nullable String userName, byte @Nullable [] password) {
        return new AuthenticationRequest(
                "c1", userName, password, address("192.0.2.7"), "tcp", ProtocolVersion.MQTT_5, null, false);
    }

    static AuthenticationRequest loginFrom(String ip, String userName, String password) {
        return new AuthenticationRequest(
                "c1",
                userName,
                password.getBytes(StandardCharsets.UTF_8),
                address(ip),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false);
    }

    static AuthenticationRequest anonymousFrom(String ip) {
        return new AuthenticationRequest("c1", null, null, address(ip), "tcp", ProtocolVersion.MQTT_5, null, false);
    }

    static AuthenticationRequest certified(@Nullable String userName) {
        return new AuthenticationRequest(
                "c1", userName, null, address("192.0.2.7"), "tls", ProtocolVersion.MQTT_5, null, true);
    }

    static ClientIdentity anonymous() {
        return client("c1", null);
    }

    static ClientIdentity user(String userName) {
        return client("c1", userName);
    }

    static ClientIdentity client(String clientId, @Nullable String userName) {
        return client(clientId, userName, "192.0.2.7");
    }

    static ClientIdentity client(String clientId, @Nullable String userName, String ip, String... roles) {
        return new ClientIdentity(clientId, userName, address(ip), "tcp", ProtocolVersion.MQTT_5, Set.of(roles));
    }

    static InetSocketAddress address(String ip) {
        try {
            return new InetSocketAddress(InetAddress.getByName(ip), 50_000);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
