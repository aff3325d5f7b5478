// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PropertyBytes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The options that a bridge sends in CONNECT, and its own limits. */
@Timeout(60)
class BridgeConnectOptionsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        remote.close();
    }

    /** 0x11 is the Session Expiry Interval, 0x21 the Receive Maximum. */
    @ParameterizedTest
    @CsvSource({"3600, 7, 1100000e10210007", "4294967295, 1, 11ffffffff210001"})
    void theConnectHasExpiryAndReceiveMaximum(long seconds, int receiveMaximum, String properties) {
        BridgeConfig config = BridgedBroker.bridge(remote.address(), "a out")
                .sessionExpiry(Duration.ofSeconds(seconds))
                .receiveMaximum(receiveMaximum)
                .build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient bridge = RawClient.over(remote.acceptSocket(), ProtocolVersion.MQTT_5)) {
            byte[] connect = bridge.expect(MqttMessageType.CONNECT).bytes();

            assertThat(HexFormat.of().formatHex(connect)).contains(properties);
            assertThat(broker.status().state()).isNotEqualTo(BridgeStatus.State.CONNECTED);
        }
    }

    @Test
    void aPacketThatIsTooLargeIsDropped() {
        BridgeConfig config = BridgedBroker.bridge(remote.address(), "a/# out 1")
                .maxPacketBytes(500)
                .build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            await().atMost(PATIENCE).until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            client.publish("a/b", "x".repeat(500), 1);
            client.publish("a/b", "small", 1);
            assertThat(new String(RemoteStub.nextPublish(bridge).payload(), StandardCharsets.UTF_8))
                    .isEqualTo("small");
            assertThat(broker.status().dropped()).isEqualTo(1);
        }
    }
}
