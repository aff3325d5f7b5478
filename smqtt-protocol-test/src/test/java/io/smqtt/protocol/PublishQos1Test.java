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
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.4 and 4.3.2 of both standards. */
@Tag("slow")
class PublishQos1Test {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int MESSAGE_EXPIRY = 0x02;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    @ParameterizedTest
    @EnumSource
    void aMessageIsAnsweredByAPubAckOfItsIdentifier(ProtocolVersion version) {
        // [MQTT-4.3.2-4] [MQTT311-4.3.2-2] [MQTT-3.3.4-1] [MQTT311-3.3.4-1] [MQTT-2.2.1-5] [MQTT311-2.3.1-6]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        for (int id : new int[] {1, 2, 255, 256, 65_535}) {
            client.send(PublishBytes.to("b").qos(1, id).payload("x"));
            assertThat(client.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(id);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theIdentifierIsNeverZero(ProtocolVersion version) {
        // [MQTT311-2.3.1-1]
        broker.client(version, "c")
                .send(PublishBytes.to("a").qos(1, 0))
                .expectDisconnect(version.isV5() ? ReasonCode.PROTOCOL_ERROR : ReasonCode.MALFORMED_PACKET);
    }

    @ParameterizedTest
    @EnumSource
    void theAcknowledgementTellsWhetherAnybodyMatched(ProtocolVersion version) {
        // [MQTT-3.4.2-1]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient publisher = broker.client(version, "p");
        publisher.send(PublishBytes.to("a").qos(1, 1));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isZero();
        publisher.send(PublishBytes.to("nobody").qos(1, 2));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(version.isV5() ? 0x10 : 0);
    }

    @ParameterizedTest
    @EnumSource
    void afterThePubAckTheIdentifierMeansANewMessageWhateverDupSays(ProtocolVersion version) {
        // [MQTT-4.3.2-5] [MQTT311-4.3.2-2]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient publisher = broker.client(version, "p");
        for (int i = 0; i < 3; i++) {
            publisher.send(PublishBytes.to("a").qos(1, 9).dup().payload("x"));
            publisher.expect(MqttMessageType.PUBACK);
            client.expectPublish("a", "x");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aForwardedMessageHasAnIdentifierOfItsOwnAndNoDup(ProtocolVersion version) {
        // [MQTT-4.3.2-1] [MQTT-4.3.2-2] [MQTT311-4.3.2-1] [MQTT-3.3.1-3] [MQTT311-3.3.1-3]
        // [MQTT-2.2.1-4] [MQTT311-2.3.1-4]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 1);
        RawClient publisher = broker.client(version, "p");
        Set<Integer> identifiers = new HashSet<>();
        for (int i = 0; i < 50; i++) {
            publisher.send(PublishBytes.to("a").qos(1, 777).dup().payload("x"));
            publisher.expect(MqttMessageType.PUBACK);
            ReceivedPacket packet = client.expectPublish("a", "x");
            assertThat(packet.qos()).isEqualTo(1);
            assertThat(packet.dup()).isFalse();
            assertThat(packet.packetId()).isNotZero();
            assertThat(identifiers.add(packet.packetId())).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void anIdentifierInUseIsNotGivenAgain(ProtocolVersion version) {
        // [MQTT-2.2.1-4] [MQTT311-2.3.1-4] [MQTT-4.3.2-1] [MQTT311-4.3.2-1]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 1);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a", "held", 1);
        int held = client.expectPublish("a", "held").packetId();
        for (int i = 0; i < 66_000; ) { // more than there are identifiers
            if (i == 65_000) {
                client.acknowledge(0x40, held);
                held = -1;
            }
            int batch = 0;
            for (; batch < 500; batch++, i++) {
                publisher.send(PublishBytes.to("a").qos(1, batch + 1));
            }
            PacketBytes acknowledgements = PacketBytes.fields();
            for (; batch > 0; batch--) {
                int id = client.expect(MqttMessageType.PUBLISH).packetId();
                assertThat(id).isNotEqualTo(held).isNotZero();
                acknowledgements.u8(0x40).u8(2).u16(id);
                publisher.expect(MqttMessageType.PUBACK);
            }
            client.send(acknowledgements);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageIsKeptUntilItsPubAck(ProtocolVersion version) {
        // [MQTT-4.3.2-3] [MQTT311-4.3.2-1] [MQTT-3.3.1-1] [MQTT311-3.3.1-1]
        RawClient first = broker.open(version);
        first.connect(ConnectBytes.of("c").persistent(100));
        first.subscribe("a", 1);
        broker.client(version, "p").publish("a", "x", 1);
        ReceivedPacket sent = first.expectPublish("a", "x");
        first.expectNothing(); // and it is not repeated on the same connection
        first.abort();
        RawClient second = broker.open(version);
        second.connect(ConnectBytes.of("c").persistent(100));
        ReceivedPacket again = second.expectPublish("a", "x");
        assertThat(again.packetId()).isEqualTo(sent.packetId());
        assertThat(again.dup()).isTrue();
        second.acknowledge(0x40, again.packetId()).ping();
        second.abort();
        RawClient third = broker.open(version);
        third.connect(ConnectBytes.of("c").persistent(100));
        third.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatWasSentIsNotSentAgainWhenItHasExpired(ProtocolVersion version) {
        RawClient first = broker.open(version);
        first.connect(ConnectBytes.of("c").persistent(100));
        first.subscribe("a", 1);
        RawClient publisher = broker.client(V5, "p");
        for (int seconds : new int[] {10, 30}) {
            PublishBytes message = PublishBytes.to("a").qos(1).payload("" + seconds);
            message.properties().messageExpiry(seconds);
            publisher.publish(message);
        }
        int expired = first.expectPublish("a", "10").packetId();
        int alive = first.expectPublish("a", "30").packetId();
        first.abort();
        broker.ticker().advance(Duration.ofSeconds(20));
        RawClient second = broker.open(version);
        second.connect(ConnectBytes.of("c").persistent(100));
        ReceivedPacket again = second.expectPublish("a", "30");
        assertThat(again.packetId()).isEqualTo(alive);
        assertThat(again.dup()).isTrue();
        if (version.isV5()) {
            assertThat(again.number(MESSAGE_EXPIRY)).isEqualTo(10); // [MQTT-3.3.2-6]
        }
        second.expectNothing();
        assertThat(expired).isNotEqualTo(alive);
    }

    @Test
    void aPubAckWithAnErrorEndsTheMessage() {
        // [MQTT-4.4.0-2]
        RawClient first = broker.open(V5);
        first.connect(ConnectBytes.of("c").persistent(100));
        first.subscribe("a", 1);
        broker.client(V5, "p").publish("a", "x", 1);
        int id = first.expectPublish("a", "x").packetId();
        first.send(PacketBytes.packet(0x40).u16(id).u8(0x83)).ping();
        first.abort();
        RawClient second = broker.open(V5);
        second.connect(ConnectBytes.of("c").persistent(100));
        second.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aMessageIsAddedToTheSessionOfEverySubscriber(ProtocolVersion version) {
        // [MQTT-4.5.0-1] [MQTT311-4.5.0-1]
        RawClient away = broker.open(version);
        away.connect(ConnectBytes.of("away").persistent(100));
        away.subscribe("a/#", 1);
        away.disconnect();
        RawClient here = broker.client(version, "here");
        here.subscribe("+/b", 2);
        RawClient bystander = broker.client(version, "bystander");
        bystander.subscribe("b", 1);
        broker.client(version, "p").publish("a/b", "x", 1);
        here.expectPublish("a/b", "x");
        bystander.expectNothing();
        RawClient back = broker.open(version);
        back.connect(ConnectBytes.of("away").persistent(100));
        back.expectPublish("a/b", "x");
    }

    @ParameterizedTest
    @EnumSource
    void anAcknowledgementThatNobodyWaitsForChangesNothing(ProtocolVersion version) {
        RawClient client = broker.client(version, "c");
        client.acknowledge(0x40, 99).acknowledge(0x70, 99);
        client.expectNothing();
    }
}
