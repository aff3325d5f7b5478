// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Section 3.14 of both standards. */
class DisconnectTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    @RegisterExtension
    private final BrokerExtension granting0 = new BrokerExtension(config ->
            config.session(SessionConfig.builder().maxExpiry(Duration.ZERO).build()));

    @ParameterizedTest
    @EnumSource
    void nothingBehindADisconnectIsProcessed(ProtocolVersion version) {
        // [MQTT311-3.14.4-2]
        RawClient watcher = broker.client(version, "watcher");
        watcher.subscribe("a", 0);
        RawClient client = broker.client(version, "c");
        client.send(PacketBytes.fields()
                .hex("E000")
                .bytes(PublishBytes.to("a").payload("x").toBytes(version))
                .hex("C000")
                .toBytes());
        client.expectClosed();
        watcher.expectNothing();
    }

    @Test
    void theServersDisconnectIsTheLastPacketAndCarriesNoSessionExpiry() {
        // [MQTT-3.14.2-1] [MQTT-3.14.2-2] [MQTT-3.14.4-1] [MQTT-3.14.4-2] [MQTT-4.13.2-1]
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100));
        client.send(PacketBytes.fields().hex("C000").hex("0000").hex("C000").toBytes());
        client.expect(MqttMessageType.PINGRESP);
        ReceivedPacket packet = Objects.requireNonNull(client.expectDisconnect(ReasonCode.MALFORMED_PACKET));
        assertThat(packet.propertyIds()).doesNotContain(0x11);
    }

    @Test
    void noDisconnectIsSentBeforeTheConnAck() {
        // [MQTT-3.14.0-1] [MQTT-4.13.2-1]: the connection closes, whether or not the reason is told
        RawClient client = broker.open(V5);
        client.send(PacketBytes.packet(0xC0));
        client.expectClosed();
    }

    @Test
    void anAdministratorsDisconnectSaysSo() {
        // [MQTT-3.14.2-1] [MQTT-3.14.4-2]
        RawClient client = broker.client(V5, "c");
        assertThat(broker.broker().disconnect("c").block()).isTrue();
        client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
    }

    @Test
    void theSessionExpiryOfADisconnectReplacesTheOneOfTheConnect() {
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100));
        client.send(disconnectWithExpiry(10)).expectClosed();
        broker.ticker().advance(Duration.ofSeconds(9));
        assertThat(broker.open(V5).connect(ConnectBytes.of("c").persistent(100)).sessionPresent())
                .isTrue();
    }

    @Test
    void aSessionExpiryShortenedByDisconnectEndsTheSessionEarly() {
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100));
        client.send(disconnectWithExpiry(10)).expectClosed();
        broker.ticker().advance(Duration.ofMillis(10_300));
        assertThat(broker.open(V5).connect(ConnectBytes.of("c").persistent(100)).sessionPresent())
                .isFalse();
    }

    @Test
    void aSessionExpiryOfZeroEndsTheSessionAtOnce() {
        RawClient client = broker.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100));
        client.send(disconnectWithExpiry(0)).expectClosed();
        assertThat(broker.open(V5).connect(ConnectBytes.of("c").persistent(100)).sessionPresent())
                .isFalse();
    }

    @Test
    void aSessionWithoutExpiryIsGivenNoneByDisconnect() {
        RawClient client = broker.client(V5, "c");
        client.send(disconnectWithExpiry(10));
        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @Test
    void whoAskedForAnExpiryThatTheBrokerDoesNotGrantMayNameItAgain() {
        RawClient client = granting0.open(V5);
        client.connect(ConnectBytes.of("c").persistent(100));
        client.send(disconnectWithExpiry(10)).expectClosed();
    }

    private static PacketBytes disconnectWithExpiry(long seconds) {
        return PacketBytes.packet(0xE0)
                .u8(0)
                .properties(PropertyBytes.none().sessionExpiry(seconds).fields());
    }
}
