// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Section 3.1 and 3.2 of both standards. The user "refused" is not let in. */
class ConnectTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final ProtocolVersion V311 = ProtocolVersion.MQTT_3_1_1;
    private static final int CLEAN = 0x02;
    private static final int USER = 0x80;
    private static final int PASSWORD = 0x40;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            builder -> builder.authenticator(request -> "refused".equals(request.userName())
                    ? Mono.just(new Authentication.Refused(ReasonCode.BAD_USER_NAME_OR_PASSWORD))
                    : Mono.just(new Authentication.Accepted(request.userName(), Set.of()))));

    @ParameterizedTest
    @EnumSource
    void aConnectIsAnsweredByAConnAckOfCodeZero(ProtocolVersion version) {
        // [MQTT-3.1.4-5] [MQTT-3.2.0-1] [MQTT-3.2.2-1] [MQTT311-3.1.4-4] [MQTT311-3.2.0-1]
        // [MQTT-4.2-1] [MQTT311-7.1.1-1]: over TCP
        RawClient client = broker.open(version);
        ReceivedPacket connAck = client.send(ConnectBytes.of("c1")).expect(MqttMessageType.CONNACK);
        assertThat(connAck.reasonCode()).isZero();
        assertThat(connAck.bytes()[0]).isEqualTo((byte) 0x20);
        assertThat(connAck.bytes()[2] & 0xFE).isZero();
        client.ping();
    }

    @ParameterizedTest
    @EnumSource
    void aConnAckComesBeforeMessagesThatWait(ProtocolVersion version) {
        // [MQTT-3.2.0-1] [MQTT311-3.2.0-1]
        RawClient first = broker.open(version);
        first.connect(ConnectBytes.of("c1").persistent(100));
        first.subscribe("a", 1);
        first.disconnect();
        broker.client(version, "p").publish("a", "x", 1);
        RawClient second = broker.open(version);
        second.connect(ConnectBytes.of("c1").persistent(100));
        second.expectPublish("a", "x");
    }

    @ParameterizedTest
    @ValueSource(strings = {"C000", "300500016100", "6200020001", "82080001000003612F6200", "E000", "4000", "F000"})
    void anythingButConnectFirstClosesTheConnection(String hex) {
        // [MQTT-3.1.0-1] [MQTT311-3.1.0-1] [MQTT-3.14.0-1] [MQTT311-3.2.2-6]: and nothing is answered
        RawClient client = broker.open(V5);
        client.send(PacketBytes.fields().hex(hex));
        client.expectClosed();
    }

    @ParameterizedTest
    @EnumSource
    void aSecondConnectEndsTheConnection(ProtocolVersion version) {
        // [MQTT-3.1.0-2] [MQTT311-3.1.0-2] [MQTT-3.2.0-2]: and gets no second CONNACK
        RawClient client = broker.client(version, "c1");
        client.send(ConnectBytes.of("c1"));
        client.expectDisconnect(ReasonCode.PROTOCOL_ERROR);
    }

    @Test
    void anotherProtocolNameIsRefused() {
        // [MQTT-3.1.2-1] [MQTT311-3.1.2-1]
        RawClient client = broker.open(V311);
        client.send(
                PacketBytes.packet(0x10).string("MQTX").u8(4).u8(CLEAN).u16(0).string("c"));
        client.expectClosed();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void anOldProtocolLevelIsRefusedInTheOldForm(int level) {
        // [MQTT-3.1.2-2] [MQTT311-3.1.2-2] [MQTT311-3.2.2-5]
        RawClient client = broker.open(V311);
        client.send(PacketBytes.packet(0x10)
                .string("MQTT")
                .u8(level)
                .u8(CLEAN)
                .u16(0)
                .string("c"));
        assertThat(client.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(1);
        client.expectClosed();
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 7, 127})
    void aNewerProtocolLevelIsRefusedInTheNewestForm(int level) {
        // [MQTT-3.1.2-2]
        RawClient client = broker.open(V5);
        client.send(PacketBytes.packet(0x10)
                .string("MQTT")
                .u8(level)
                .u8(CLEAN)
                .u16(0)
                .u8(0)
                .string("c"));
        assertThat(client.expect(MqttMessageType.CONNACK).reason()).isEqualTo(ReasonCode.UNSUPPORTED_PROTOCOL_VERSION);
        client.expectClosed();
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_3_1", mode = EnumSource.Mode.EXCLUDE)
    void aReservedConnectFlagClosesTheConnection(ProtocolVersion version) {
        // [MQTT-3.1.2-3] [MQTT311-3.1.2-3] [MQTT-3.1.4-1] [MQTT311-3.1.4-1]
        refused(version, PacketBytes.connect(version, CLEAN | 1, 0, "c"), ReasonCode.MALFORMED_PACKET);
    }

    @ParameterizedTest
    @EnumSource(names = "MQTT_3_1", mode = EnumSource.Mode.EXCLUDE)
    void flagsAndCredentialsMustAgree(ProtocolVersion version) {
        // [MQTT-3.1.2-16] [MQTT-3.1.2-18] [MQTT311-3.1.2-18] [MQTT311-3.1.2-20]: bytes without a flag
        refused(version, PacketBytes.connect(version, CLEAN, 0, "c").string("user"), ReasonCode.MALFORMED_PACKET);
        refused(
                version,
                PacketBytes.connect(version, CLEAN | USER, 0, "c")
                        .string("user")
                        .string("password"),
                ReasonCode.MALFORMED_PACKET);
        // [MQTT-3.1.2-17] [MQTT-3.1.2-19] [MQTT311-3.1.2-19] [MQTT311-3.1.2-21]: a flag without bytes
        refused(version, PacketBytes.connect(version, CLEAN | USER, 0, "c"), ReasonCode.MALFORMED_PACKET);
        refused(
                version,
                PacketBytes.connect(version, CLEAN | USER | PASSWORD, 0, "c").string("user"),
                ReasonCode.MALFORMED_PACKET);
    }

    @Test
    void aPasswordWithoutUserNameIsForMqtt5Only() {
        // [MQTT311-3.1.2-22]
        refused(V311, PacketBytes.connect(V311, CLEAN | PASSWORD, 0, "c").string("p"), ReasonCode.MALFORMED_PACKET);
        broker.open(V5).connect(ConnectBytes.of("c").password("p"));
    }

    /** Expects the end of the connection, after a CONNACK with the reason in MQTT 5.0, without one before. */
    private void refused(ProtocolVersion version, PacketBytes packet, ReasonCode reason) {
        RawClient client = broker.open(version);
        client.send(packet);
        if (version.isV5()) {
            assertThat(client.expect(MqttMessageType.CONNACK).reasonCode()).isEqualTo(reason.value());
        }
        client.expectClosed();
    }

    @ParameterizedTest
    @EnumSource
    void allPayloadFieldsAreReadInTheirOrder(ProtocolVersion version) {
        // [MQTT-3.1.3-1] [MQTT311-3.1.3-1] [MQTT-3.1.3-3] [MQTT311-3.1.3-3]
        RawClient watcher = broker.client(version, "watcher");
        watcher.subscribe("will/topic", 0);
        RawClient client = broker.open(version);
        client.connect(ConnectBytes.of("c1")
                .will(PublishBytes.to("will/topic").payload("will payload"))
                .userName("user")
                .password("password"));
        assertThat(broker.broker()
                        .clients()
                        .filter(info -> info.identity().clientId().equals("c1"))
                        .blockFirst())
                .isNotNull()
                .satisfies(info -> assertThat(info.identity().userName()).isEqualTo("user"));
        client.abort();
        watcher.expectPublish("will/topic", "will payload");
    }

    @ParameterizedTest
    @EnumSource
    void aConnectWithoutClientIdentifierIsRefused(ProtocolVersion version) {
        // [MQTT-3.1.3-3] [MQTT311-3.1.3-3]
        PacketBytes packet = PacketBytes.packet(0x10)
                .string(version.protocolName())
                .u8(version.level())
                .u8(CLEAN)
                .u16(0)
                .noPropertiesIn(version);
        refused(version, packet, ReasonCode.MALFORMED_PACKET);
    }

    @ParameterizedTest
    @EnumSource
    void clientIdentifierAndUserNameAreUtf8(ProtocolVersion version) {
        // [MQTT-3.1.3-4] [MQTT311-3.1.3-4]
        PacketBytes prefix = PacketBytes.packet(0x10)
                .string(version.protocolName())
                .u8(version.level())
                .u8(CLEAN)
                .u16(0)
                .noPropertiesIn(version);
        refused(version, prefix.binary("C0 80"), ReasonCode.MALFORMED_PACKET);
        // [MQTT-3.1.3-12] [MQTT311-3.1.3-11]
        refused(
                version,
                PacketBytes.connect(version, CLEAN | USER, 0, "c").binary("ED A0 80"),
                ReasonCode.MALFORMED_PACKET);
    }

    @ParameterizedTest
    @EnumSource
    void identifiersOfLettersAndDigitsAreAccepted(ProtocolVersion version) {
        // [MQTT-3.1.3-5] [MQTT311-3.1.3-5]
        for (String id : new String[] {"0", "a", "0123456789abcdefghijklm", "NOPQRSTUVWXYZnopqrstuvw"}) {
            broker.client(version, id).ping();
        }
    }

    @ParameterizedTest
    @EnumSource
    void theClientIdentifierNamesTheSession(ProtocolVersion version) {
        // [MQTT-3.1.3-2] [MQTT311-3.1.3-2]
        for (String id : new String[] {"one", "two"}) {
            RawClient client = broker.open(version);
            client.connect(ConnectBytes.of(id).persistent(100));
            client.subscribe("to/" + id, 1);
            client.disconnect();
        }
        broker.client(version, "p").publish("to/two", "x", 1);
        RawClient one = broker.open(version);
        one.connect(ConnectBytes.of("one").persistent(100));
        one.expectNothing();
        RawClient two = broker.open(version);
        two.connect(ConnectBytes.of("two").persistent(100));
        two.expectPublish("to/two", "x");
    }

    @Test
    void anEmptyIdentifierIsReplacedByAUniqueOne() {
        // [MQTT-3.1.3-6] [MQTT-3.1.3-7] [MQTT-3.2.2-16]
        String first = assigned(broker.open(V5));
        String second = assigned(broker.open(V5));
        assertThat(first).isNotEmpty().isNotEqualTo(second);
        assertThat(broker.broker()
                        .clients()
                        .map(info -> info.identity().clientId())
                        .collectList()
                        .block())
                .containsExactlyInAnyOrder(first, second);
    }

    private static String assigned(RawClient client) {
        return (String) Objects.requireNonNull(client.connect("").property(0x12));
    }

    @Test
    void theAssignedIdentifierBringsTheSessionBack() {
        // [MQTT-3.1.3-7]
        RawClient first = broker.open(V5);
        ReceivedPacket connAck = first.connect(ConnectBytes.of("").persistent(100));
        String id = (String) Objects.requireNonNull(connAck.property(0x12));
        first.disconnect();
        assertThat(broker.open(V5).connect(ConnectBytes.of(id).persistent(100)).sessionPresent())
                .isTrue();
    }

    @Test
    void aClientThatBroughtAnIdentifierIsAssignedNone() {
        assertThat(broker.open(V5).connect("mine").property(0x12)).isNull();
    }

    @Test
    void beforeMqtt5AnEmptyIdentifierNeedsACleanSession() {
        // [MQTT311-3.1.3-6] [MQTT311-3.1.3-7]
        RawClient one = broker.client(V311, "");
        RawClient two = broker.client(V311, "");
        one.ping();
        two.ping();
        // [MQTT311-3.1.3-8] [MQTT311-3.1.3-9] [MQTT311-3.2.2-4] [MQTT311-3.2.2-5]
        RawClient refused = broker.open(V311);
        ReceivedPacket connAck =
                refused.send(ConnectBytes.of("").cleanStart(false)).expect(MqttMessageType.CONNACK);
        assertThat(connAck.reasonCode()).isEqualTo(2);
        assertThat(connAck.sessionPresent()).isFalse();
        refused.expectClosed();
    }

    @Test
    void anIdentifierThatCannotBeReadIsRefused() {
        // [MQTT-3.1.3-8]
        refused(V5, PacketBytes.connect(V5, CLEAN, 0, "null\0"), ReasonCode.MALFORMED_PACKET);
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatIsNotLetInIsClosed(ProtocolVersion version) {
        // [MQTT-3.1.4-2] [MQTT-3.2.2-6] [MQTT-3.2.2-7] [MQTT311-3.2.2-4] [MQTT311-3.2.2-5] [MQTT-3.2.0-2]
        RawClient known = broker.open(version);
        known.connect(ConnectBytes.of("c1").persistent(100));
        known.disconnect();
        RawClient client = broker.open(version);
        ConnectBytes connect =
                ConnectBytes.of("c1").persistent(100).userName("refused").password("x");
        ReceivedPacket connAck = client.send(connect).expect(MqttMessageType.CONNACK);
        assertThat(connAck.reasonCode()).isEqualTo(version.isV5() ? 0x86 : 4);
        assertThat(connAck.sessionPresent()).isFalse();
        client.expectClosed();
    }

    @ParameterizedTest
    @EnumSource
    void nothingBehindARefusedConnectIsProcessed(ProtocolVersion version) {
        // [MQTT-3.1.4-6] [MQTT311-3.1.4-5]
        RawClient watcher = broker.client(version, "watcher");
        watcher.subscribe("#", 0);
        RawClient client = broker.open(version);
        client.send(PacketBytes.fields()
                .bytes(ConnectBytes.of("c1").userName("refused").password("x").toBytes(version))
                .bytes(PublishBytes.to("a").payload("x").toBytes(version))
                .toBytes());
        client.expect(MqttMessageType.CONNACK);
        client.expectClosed();
        watcher.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void whatFollowsTheConnectIsProcessedBehindTheConnAck(ProtocolVersion version) {
        // [MQTT-3.2.0-1] [MQTT311-3.2.0-1]
        RawClient client = broker.open(version);
        client.send(PacketBytes.fields()
                .bytes(ConnectBytes.of("c1").toBytes(version))
                .bytes(PublishBytes.to("a").qos(1, 5).payload("x").toBytes(version))
                .hex("C000")
                .toBytes());
        client.expect(MqttMessageType.CONNACK);
        assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(5);
        client.expect(MqttMessageType.PINGRESP);
    }

    @ParameterizedTest
    @EnumSource
    void cleanStartHasTakenEffectWhenTheConnAckComes(ProtocolVersion version) {
        // [MQTT-3.1.4-4] [MQTT311-3.1.4-3]
        RawClient first = broker.open(version);
        first.connect(ConnectBytes.of("c1").persistent(100));
        first.subscribe("a", 1);
        first.disconnect();
        RawClient second = broker.open(version);
        assertThat(second.connect(ConnectBytes.of("c1")).sessionPresent()).isFalse();
        broker.client(version, "p").publish("a", "x", 1);
        second.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aConnectOfTheWrongFormClosesTheConnection(ProtocolVersion version) {
        // [MQTT-3.1.4-1] [MQTT311-3.1.4-1] [MQTT311-3.2.2-6]
        PacketBytes trailing = PacketBytes.connect(version, CLEAN, 0, "c").u8(0);
        refused(version, trailing, ReasonCode.MALFORMED_PACKET);
    }
}
