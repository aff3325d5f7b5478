// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.1.2.10 and 3.12 of both standards. The longest keep alive is 60 seconds. */
class KeepAliveTest {

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.mqtt(
            MqttConfig.builder().maxKeepAlive(Duration.ofSeconds(60)).build()));

    private void advance(double seconds) {
        broker.ticker().advance(Duration.ofMillis((long) (seconds * 1000)));
    }

    @ParameterizedTest
    @EnumSource
    void silenceForOneAndAHalfKeepAlivesEndsTheConnection(ProtocolVersion version) {
        // [MQTT-3.1.2-22] [MQTT311-3.1.2-24] [MQTT-3.2.2-22]: the client's own value holds
        RawClient client = broker.open(version);
        assertThat(client.connect(ConnectBytes.of("c").keepAlive(10)).propertyIds())
                .doesNotContain(0x13);
        advance(14.5);
        client.ping();
        advance(14.5);
        client.ping();
        advance(15.5);
        client.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT);
    }

    @ParameterizedTest
    @EnumSource
    void aPacketThatIsNotCompleteIsSilence(ProtocolVersion version) {
        // [MQTT-3.1.2-22] [MQTT311-3.1.2-24]
        RawClient client = broker.open(version);
        client.connect(ConnectBytes.of("c").keepAlive(10));
        advance(10);
        client.send((byte) 0xC0);
        advance(5.5);
        client.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT);
    }

    @Test
    void theServerKeepAliveIsToldAndEnforced() {
        // [MQTT-3.1.2-21] [MQTT-3.2.2-21]
        for (int asked : new int[] {0, 61, 65_535}) {
            RawClient client = broker.open(ProtocolVersion.MQTT_5);
            assertThat(client.connect(ConnectBytes.of("c").keepAlive(asked)).number(0x13))
                    .isEqualTo(60);
            advance(89.5);
            client.ping();
            advance(90.5);
            client.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aPingIsAnswered(ProtocolVersion version) {
        // [MQTT-3.12.4-1] [MQTT311-3.12.4-1]
        RawClient client = broker.client(version, "c");
        assertThat(client.send((byte) 0xC0, (byte) 0)
                        .expect(MqttMessageType.PINGRESP)
                        .bytes())
                .containsExactly(0xD0, 0);
    }
}
