// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@SuppressWarnings("deprecation")
class BootstrapTest {

    @TempDir
    Path directory;

    @Test
    void aProgramOfTheFormerSmqttStartsABroker() {
        List<Bootstrap> told = new ArrayList<>();
        Bootstrap bootstrap = Bootstrap.builder()
                .tcpConfig(BootstrapConfig.TcpConfig.builder()
                        .port(0)
                        .username("anna")
                        .password("secret")
                        .wiretap(false)
                        .build())
                .started(told::add)
                .build()
                .start()
                .block();

        assertThat(told).containsExactly(bootstrap);
        assertThat(bootstrap).isNotNull();
        try {
            assertThat(bootstrap.broker().listeners()).containsOnlyKeys("tcp");
            assertThat(reason(bootstrap, "anna", "secret")).isEqualTo(ReasonCode.SUCCESS);
            assertThat(reason(bootstrap, "anna", "wrong")).isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
            assertThat(reason(bootstrap, "eve", "secret")).isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
            assertThat(reason(bootstrap, null, "")).isNotEqualTo(ReasonCode.SUCCESS);
        } finally {
            bootstrap.shutdown();
        }
    }

    @Test
    void aBrokerWhoseActionFailsIsStoppedAgain() {
        List<InetSocketAddress> bound = new ArrayList<>();
        Bootstrap bootstrap = Bootstrap.builder()
                .tcpConfig(BootstrapConfig.TcpConfig.builder().port(0).build())
                .started(running -> {
                    bound.addAll(running.broker().listeners().values());
                    throw new IllegalStateException("as wanted by the test");
                })
                .build();

        assertThatThrownBy(() -> bootstrap.start().block()).hasMessage("as wanted by the test");

        assertThat(bound)
                .singleElement()
                .satisfies(address -> assertThatThrownBy(
                                () -> new Socket(InetAddress.getLoopbackAddress(), address.getPort()).close())
                        .isInstanceOf(ConnectException.class));
        assertThatThrownBy(bootstrap::broker).hasMessageContaining("not running");
    }

    @Test
    void passwordsAreDecidedByTheProgramAndTheManagementPortIsThereIfAskedFor() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "0123456789abcdef\n");
        Bootstrap bootstrap = Bootstrap.builder()
                .port(0)
                .httpConfig(BootstrapConfig.HttpConfig.builder()
                        .enable(true)
                        .port(0)
                        .build())
                .websocketConfig(BootstrapConfig.WebsocketConfig.builder()
                        .enable(true)
                        .port(0)
                        .build())
                .reactivePasswordAuth((user, password, client) -> user.equals("u") && password.length == 1)
                .tokenFile(token)
                .build();
        bootstrap.start().block();
        try {
            assertThat(bootstrap.broker().listeners()).containsOnlyKeys("tcp", "ws");
            assertThat(reason(bootstrap, "u", "x")).isEqualTo(ReasonCode.SUCCESS);
            assertThat(reason(bootstrap, "u", "xx")).isEqualTo(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
            assertThat(reason(bootstrap, null, "")).isNotEqualTo(ReasonCode.SUCCESS);
        } finally {
            bootstrap.shutdown();
        }
    }

    @Test
    void wrongSettingsFailTheStart() {
        Bootstrap wrong = Bootstrap.builder().port(99_999).build();

        assertThatThrownBy(() -> wrong.start().block())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("Bootstrap.builder() smqtt.tcp.port");
        assertThatThrownBy(wrong::broker).isInstanceOf(IllegalStateException.class);
    }

    private static ReasonCode reason(Bootstrap bootstrap, @Nullable String user, String password) {
        var address = bootstrap.broker().listeners().get("tcp");
        try (RawClient client =
                RawClient.to(new InetSocketAddress("127.0.0.1", address.getPort()), ProtocolVersion.MQTT_5)) {
            ConnectBytes connect = ConnectBytes.of("c");
            if (user != null) {
                connect.userName(user).password(password);
            }
            return client.send(connect).expect(MqttMessageType.CONNACK).reason();
        }
    }
}
