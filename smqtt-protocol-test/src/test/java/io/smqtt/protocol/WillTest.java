// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The will message, section 3.1 of both standards. */
class WillTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int CLEAN = 0x02;
    private static final int WILL = 0x04;
    private static final int WILL_RETAIN = 0x20;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    private RawClient watcher(ProtocolVersion version) {
        RawClient watcher = broker.client(version, "watcher");
        watcher.subscribe("will/#", 2);
        return watcher;
    }

    private static PublishBytes will() {
        return PublishBytes.to("will/topic").payload("gone");
    }

    private static PublishBytes delayed(long seconds) {
        PublishBytes will = will();
        will.properties().willDelay(seconds);
        return will;
    }

    private RawClient connect(ProtocolVersion version, ConnectBytes connect) {
        RawClient client = broker.open(version);
        client.connect(connect);
        return client;
    }

    /** Waits until the broker knows that a client is gone. */
    @ParameterizedTest
    @EnumSource
    void theWillIsPublishedWhenTheConnectionIsLost(ProtocolVersion version) {
        // [MQTT-3.1.2-7] [MQTT-3.1.2-8] [MQTT-3.1.2-10] [MQTT311-3.1.2-8] [MQTT311-3.1.2-9] [MQTT311-3.1.2-10]
        for (int qos = 0; qos <= 2; qos++) {
            RawClient watcher = watcher(version);
            RawClient client = connect(version, ConnectBytes.of("c").will(will().qos(qos)));
            watcher.expectNothing();
            client.abort();
            ReceivedPacket packet = watcher.expectPublish("will/topic", "gone");
            assertThat(packet.qos()).isEqualTo(qos);
            connect(version, ConnectBytes.of("c")).abort(); // another connection without will: published once
            broker.awaitOffline("c");
            watcher.expectNothing();
        }
    }

    @ParameterizedTest
    @EnumSource
    void aDisconnectDiscardsTheWill(ProtocolVersion version) {
        // [MQTT-3.14.4-3] [MQTT-3.1.2-10] [MQTT311-3.14.4-3] [MQTT311-3.1.2-10]
        RawClient watcher = watcher(version);
        connect(version, ConnectBytes.of("c").will(will())).disconnect();
        watcher.expectNothing();
    }

    @Test
    void aDiscardedWillDoesNotComeBackWhenTheSessionEnds() {
        // [MQTT-3.14.4-3] [MQTT-3.1.2-10]
        RawClient watcher = watcher(V5);
        connect(V5, ConnectBytes.of("c").persistent(100).will(delayed(10))).disconnect();
        broker.ticker().advance(Duration.ofSeconds(200));
        watcher.expectNothing();
    }

    @Test
    void aDisconnectWithWillPublishesIt() {
        // [MQTT-3.1.2-8]
        RawClient watcher = watcher(V5);
        connect(V5, ConnectBytes.of("c").will(will())).disconnect(ReasonCode.DISCONNECT_WITH_WILL);
        watcher.expectPublish("will/topic", "gone");
    }

    @ParameterizedTest
    @EnumSource
    void silenceAndProtocolErrorsPublishTheWill(ProtocolVersion version) {
        // [MQTT-3.1.2-8] [MQTT311-3.1.2-8]
        RawClient watcher = watcher(version);
        RawClient silent = connect(version, ConnectBytes.of("c").keepAlive(10).will(will()));
        broker.ticker().advance(Duration.ofSeconds(16));
        watcher.expectPublish("will/topic", "gone");
        silent.expectDisconnect(ReasonCode.KEEP_ALIVE_TIMEOUT);
        connect(version, ConnectBytes.of("c").will(will())).send(ConnectBytes.of("c"));
        watcher.expectPublish("will/topic", "gone");
    }

    @ParameterizedTest
    @EnumSource
    void withoutWillFlagNothingIsPublished(ProtocolVersion version) {
        // [MQTT311-3.1.2-12]
        RawClient watcher = broker.client(version, "watcher");
        watcher.subscribe("#", 2);
        connect(version, ConnectBytes.of("c")).abort();
        broker.awaitOffline("c");
        watcher.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void willRetainDecidesWhetherTheWillIsKept(ProtocolVersion version) {
        // [MQTT-3.1.2-14] [MQTT-3.1.2-15] [MQTT311-3.1.2-16] [MQTT311-3.1.2-17] [MQTT311-3.1.2-9]
        RawClient watcher = watcher(version);
        connect(version, ConnectBytes.of("c").will(will())).abort();
        assertThat(watcher.expectPublish("will/topic", "gone").retain()).isFalse();
        watcher.subscribe("will/topic", 0);
        watcher.expectNothing();
        connect(version, ConnectBytes.of("c").will(will().retained())).abort();
        watcher.expectPublish("will/topic", "gone");
        watcher.subscribe("will/topic", 0);
        assertThat(watcher.expectPublish("will/topic", "gone").retain()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_3_1", mode = EnumSource.Mode.EXCLUDE)
    void flagsOfTheWillMustAgree(ProtocolVersion version) {
        // [MQTT-3.1.2-9]: will flag without topic and payload
        malformed(version, PacketBytes.connect(version, CLEAN | WILL, 0, "c"));
        // [MQTT-3.1.2-11] [MQTT311-3.1.2-11] [MQTT311-3.1.2-13]: QoS without will flag
        malformed(version, PacketBytes.connect(version, CLEAN | 0x08, 0, "c"));
        malformed(version, PacketBytes.connect(version, CLEAN | 0x10, 0, "c"));
        // [MQTT-3.1.2-13] [MQTT311-3.1.2-15]: retain without will flag
        malformed(version, PacketBytes.connect(version, CLEAN | WILL_RETAIN, 0, "c"));
        // [MQTT311-3.1.2-11]: topic and payload without will flag
        malformed(
                version,
                PacketBytes.connect(version, CLEAN, 0, "c").string("will/topic").string("gone"));
        // [MQTT-3.1.2-12] [MQTT311-3.1.2-14]: QoS 3
        malformed(
                version,
                withWill(version, CLEAN | WILL | 0x18).string("will/topic").string("gone"));
        // [MQTT-3.1.3-11] [MQTT311-3.1.3-10]: a topic that is not UTF-8
        malformed(version, withWill(version, CLEAN | WILL).binary("C3 28").string("gone"));
    }

    private static PacketBytes withWill(ProtocolVersion version, int flags) {
        return PacketBytes.connect(version, flags, 0, "c").noPropertiesIn(version);
    }

    private void malformed(ProtocolVersion version, PacketBytes packet) {
        RawClient client = broker.open(version);
        client.send(packet);
        if (version.isV5()) {
            assertThat(client.expect(MqttMessageType.CONNACK).reason()).isEqualTo(ReasonCode.MALFORMED_PACKET);
        }
        client.expectClosed();
    }

    @Test
    void theWillIsPublishedWithItsProperties() {
        // [MQTT-3.1.3-10]
        RawClient watcher = watcher(V5);
        PublishBytes will = will();
        will.properties()
                .user("b", "1")
                .user("a", "2")
                .user("b", "0")
                .contentType("text/plain")
                .responseTopic("answer")
                .correlationData((byte) 1, (byte) 2)
                .payloadFormat(1)
                .messageExpiry(100);
        connect(V5, ConnectBytes.of("c").will(will)).abort();
        ReceivedPacket packet = watcher.expectPublish("will/topic", "gone");
        assertThat(packet.userProperties()).containsExactly("b=1", "a=2", "b=0");
        assertThat(packet.property(0x03)).isEqualTo("text/plain");
        assertThat(packet.property(0x08)).isEqualTo("answer");
        assertThat((byte[]) packet.property(0x09)).containsExactly(1, 2);
        assertThat(packet.number(0x01)).isEqualTo(1);
        assertThat(packet.number(0x02)).isEqualTo(100);
        assertThat(packet.propertyIds()).doesNotContain(0x18);
    }

    @Test
    void aDelayedWillWaits() {
        // [MQTT-3.1.2-8]
        RawClient watcher = watcher(V5);
        connect(V5, ConnectBytes.of("c").persistent(100).will(delayed(10))).abort();
        broker.awaitOffline("c");
        broker.ticker().advance(Duration.ofMillis(9_800));
        watcher.expectNothing();
        broker.ticker().advance(Duration.ofMillis(400));
        watcher.expectPublish("will/topic", "gone");
        broker.ticker().advance(Duration.ofSeconds(100));
        watcher.expectNothing();
    }

    @Test
    void aDelayedWillIsPublishedAtTheLatestWhenTheSessionEnds() {
        // [MQTT-3.1.2-8]
        RawClient watcher = watcher(V5);
        connect(V5, ConnectBytes.of("c").persistent(5).will(delayed(10))).abort();
        broker.awaitOffline("c");
        broker.ticker().advance(Duration.ofMillis(5_300));
        watcher.expectPublish("will/topic", "gone");
        connect(V5, ConnectBytes.of("d").will(delayed(10))).abort();
        watcher.expectPublish("will/topic", "gone");
        watcher.expectNothing();
    }

    @Test
    void aNewConnectionWithinTheDelayStopsTheWill() {
        // [MQTT-3.1.3-9]
        RawClient watcher = watcher(V5);
        connect(V5, ConnectBytes.of("c").persistent(100).will(delayed(10))).abort();
        broker.awaitOffline("c");
        broker.ticker().advance(Duration.ofSeconds(5));
        RawClient back = connect(V5, ConnectBytes.of("c").persistent(100));
        broker.ticker().advance(Duration.ofSeconds(20));
        back.abort();
        broker.awaitOffline("c");
        broker.ticker().advance(Duration.ofSeconds(200));
        watcher.expectNothing();
    }

    @Test
    void aTakeoverStopsADelayedWill() {
        // [MQTT-3.1.3-9]
        RawClient watcher = watcher(V5);
        RawClient first = connect(V5, ConnectBytes.of("c").persistent(100).will(delayed(10)));
        connect(V5, ConnectBytes.of("c").persistent(100));
        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        broker.ticker().advance(Duration.ofSeconds(20));
        watcher.expectNothing();
    }

    @Test
    void aCleanStartWithinTheDelayEndsTheSessionAndPublishesTheWill() {
        // [MQTT-3.1.2-8]
        RawClient watcher = watcher(V5);
        connect(V5, ConnectBytes.of("c").persistent(100).will(delayed(10))).abort();
        broker.awaitOffline("c");
        connect(V5, ConnectBytes.of("c"));
        watcher.expectPublish("will/topic", "gone");
        watcher.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aTakeoverPublishesAWillWithoutDelay(ProtocolVersion version) {
        // [MQTT-3.1.2-8] [MQTT311-3.1.2-8]
        RawClient watcher = watcher(version);
        RawClient first = connect(version, ConnectBytes.of("c").persistent(100).will(will()));
        connect(version, ConnectBytes.of("c").persistent(100));
        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        watcher.expectPublish("will/topic", "gone");
        watcher.expectNothing();
    }

    @Test
    void aDisconnectThatShortensTheSessionToNothingPublishesADelayedWillAtOnce() {
        RawClient watcher = watcher(V5);
        RawClient client = connect(V5, ConnectBytes.of("c").persistent(100).will(delayed(10)));
        client.send(PacketBytes.packet(0xE0)
                .u8(ReasonCode.DISCONNECT_WITH_WILL.value())
                .properties(PropertyBytes.none().sessionExpiry(0).fields()));
        watcher.expectPublish("will/topic", "gone");
    }
}
