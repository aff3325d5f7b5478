// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessDecision;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Sections 3.5 to 3.7 and 4.3.3 of both standards. */
class PublishQos2Test {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int PUBACK = 0x40;
    private static final int PUBREC = 0x50;
    private static final int PUBREL = 0x62;
    private static final int PUBCOMP = 0x70;

    private final AtomicBoolean forbidden = new AtomicBoolean();

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            builder -> builder.authorizer(
                    request -> (forbidden.get() ? AccessDecision.DENY : AccessDecision.ALLOW).now()));

    @ParameterizedTest
    @EnumSource
    void aMessageIsDeliveredOnceHoweverOftenItIsRepeated(ProtocolVersion version) {
        // [MQTT-4.3.3-8] [MQTT-4.3.3-10] [MQTT-4.3.3-11] [MQTT-4.3.3-12] [MQTT311-4.3.3-2] [MQTT-2.2.1-5]
        // [MQTT311-2.3.1-6] [MQTT-3.3.4-1] [MQTT311-3.3.4-1] [MQTT-3.5.2-1] [MQTT-3.7.2-1]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient publisher = broker.client(version, "p");
        for (int round = 0; round < 2; round++) {
            publisher.send(PublishBytes.to("a").qos(2, 65_535).payload("x"));
            publisher.send(PublishBytes.to("a").qos(2, 65_535).dup().payload("x"));
            publisher.send(PublishBytes.to("a").qos(2, 65_535).payload("x"));
            for (int i = 0; i < 3; i++) {
                ReceivedPacket pubRec = publisher.expect(MqttMessageType.PUBREC);
                assertThat(pubRec.packetId()).isEqualTo(65_535);
                assertThat(pubRec.reasonCode()).isZero();
            }
            publisher.acknowledge(PUBREL, 65_535);
            ReceivedPacket pubComp = publisher.expect(MqttMessageType.PUBCOMP);
            assertThat(pubComp.packetId()).isEqualTo(65_535);
            assertThat(pubComp.reasonCode()).isZero();
            client.expectPublish("a", "x");
            client.expectNothing();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotReleasedIsRememberedByTheSession(ProtocolVersion version) {
        // [MQTT-4.3.3-10] [MQTT311-4.3.3-2]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient first = broker.open(version);
        first.connect(ConnectBytes.of("p").persistent(100));
        first.send(PublishBytes.to("a").qos(2, 3).payload("x")).expect(MqttMessageType.PUBREC);
        first.abort();
        RawClient second = broker.open(version);
        second.connect(ConnectBytes.of("p").persistent(100));
        second.send(PublishBytes.to("a").qos(2, 3).dup().payload("x")).expect(MqttMessageType.PUBREC);
        second.acknowledge(PUBREL, 3).expect(MqttMessageType.PUBCOMP);
        client.expectPublish("a", "x");
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aReleaseOfNothingIsAnswered(ProtocolVersion version) {
        // [MQTT-4.3.3-11] [MQTT-3.7.2-1]
        RawClient client = broker.client(version, "c");
        ReceivedPacket pubComp = client.acknowledge(PUBREL, 5).expect(MqttMessageType.PUBCOMP);
        assertThat(pubComp.packetId()).isEqualTo(5);
        assertThat(pubComp.reasonCode()).isEqualTo(version.isV5() ? 0x92 : 0);
    }

    @Test
    void afterARefusalTheIdentifierMeansANewMessage() {
        // [MQTT-4.3.3-9] [MQTT-3.5.2-1]
        RawClient client = broker.client(V5, "c");
        client.subscribe("#", 0);
        RawClient publisher = broker.client(V5, "p");
        forbidden.set(true);
        publisher.send(PublishBytes.to("a").qos(2, 4).payload("refused"));
        assertThat(publisher.expect(MqttMessageType.PUBREC).reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        forbidden.set(false);
        publisher.send(PublishBytes.to("b").qos(2, 4).payload("x"));
        assertThat(publisher.expect(MqttMessageType.PUBREC).reasonCode()).isZero();
        client.expectPublish("b", "x");
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aForwardedMessageGoesThroughTheWholeHandshake(ProtocolVersion version) {
        // [MQTT-4.3.3-1] [MQTT-4.3.3-2] [MQTT-4.3.3-4] [MQTT311-4.3.3-1] [MQTT-3.6.2-1] [MQTT-2.2.1-4]
        // [MQTT311-2.3.1-4] [MQTT-2.2.1-5] [MQTT311-2.3.1-6] [MQTT-3.3.1-3] [MQTT311-3.3.1-3]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 2);
        RawClient publisher = broker.client(version, "p");
        publisher.send(PublishBytes.to("a").qos(2, 77).dup().payload("x")).expect(MqttMessageType.PUBREC);
        publisher.acknowledge(PUBREL, 77).expect(MqttMessageType.PUBCOMP);
        ReceivedPacket packet = client.expectPublish("a", "x");
        assertThat(packet.qos()).isEqualTo(2);
        assertThat(packet.dup()).isFalse();
        assertThat(packet.packetId()).isNotZero();
        ReceivedPacket pubRel = client.acknowledge(PUBREC, packet.packetId()).expect(MqttMessageType.PUBREL);
        assertThat(pubRel.packetId()).isEqualTo(packet.packetId());
        assertThat(pubRel.reasonCode()).isZero();
        assertThat(pubRel.bytes()[0]).isEqualTo((byte) 0x62);
        client.acknowledge(PUBCOMP, packet.packetId());
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void eachStepIsRepeatedUntilItIsAcknowledged(ProtocolVersion version) {
        // [MQTT-4.3.3-3] [MQTT-4.3.3-5] [MQTT-4.3.3-6] [MQTT311-4.3.3-1] [MQTT-3.3.1-1] [MQTT311-3.3.1-1]
        RawClient first = resume(version);
        first.subscribe("a", 2);
        broker.client(version, "p").publish("a", "x", 2);
        int id = first.expectPublish("a", "x").packetId();
        first.abort();
        RawClient second = resume(version);
        ReceivedPacket again = second.expectPublish("a", "x");
        assertThat(again.packetId()).isEqualTo(id);
        assertThat(again.dup()).isTrue();
        second.acknowledge(PUBREC, id).expect(MqttMessageType.PUBREL);
        second.abort();
        RawClient third = resume(version);
        assertThat(third.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        third.expectNothing();
        third.acknowledge(PUBREC, id);
        assertThat(third.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
        third.acknowledge(PUBCOMP, id).ping();
        third.abort();
        resume(version).expectNothing();
    }

    private RawClient resume(ProtocolVersion version) {
        RawClient client = broker.open(version);
        client.connect(ConnectBytes.of("c").persistent(1_000));
        return client;
    }

    @Test
    void aMessageThatWasSentNoLongerExpires() {
        // [MQTT-4.3.3-7] [MQTT-4.3.3-13]
        RawClient first = resume(V5);
        first.subscribe("a", 2);
        PublishBytes message = PublishBytes.to("a").qos(2).payload("x");
        message.properties().messageExpiry(10);
        broker.client(V5, "p").publish(message);
        int id = first.expectPublish("a", "x").packetId();
        first.abort();
        broker.ticker().advance(Duration.ofSeconds(20));
        RawClient second = resume(V5);
        assertThat(second.expectPublish("a", "x").packetId()).isEqualTo(id);
        second.acknowledge(PUBREC, id).expect(MqttMessageType.PUBREL);
        broker.ticker().advance(Duration.ofSeconds(20));
        second.abort();
        assertThat(resume(V5).expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
    }

    @Test
    void theHandshakeOfAnExpiredMessageGoesOn() {
        // [MQTT-4.3.3-13]
        RawClient publisher = broker.client(V5, "p");
        PublishBytes message = PublishBytes.to("a").qos(2, 6).payload("x");
        message.properties().messageExpiry(1);
        publisher.send(message).expect(MqttMessageType.PUBREC);
        broker.ticker().advance(Duration.ofSeconds(5));
        assertThat(publisher
                        .acknowledge(PUBREL, 6)
                        .expect(MqttMessageType.PUBCOMP)
                        .reasonCode())
                .isZero();
    }

    @Test
    void aPubRecWithAnErrorEndsTheMessage() {
        // [MQTT-4.4.0-2]
        RawClient first = resume(V5);
        first.subscribe("a", 2);
        broker.client(V5, "p").publish("a", "x", 2);
        int id = first.expectPublish("a", "x").packetId();
        first.send(PacketBytes.packet(PUBREC).u16(id).u8(0x83));
        first.expectNothing();
        first.abort();
        resume(V5).expectNothing();
    }

    @Test
    void aPubRecForNothingIsAnsweredWithPacketIdentifierNotFound() {
        // [MQTT-3.6.2-1]
        RawClient client = broker.client(V5, "c");
        ReceivedPacket pubRel = client.acknowledge(PUBREC, 12).expect(MqttMessageType.PUBREL);
        assertThat(pubRel.packetId()).isEqualTo(12);
        assertThat(pubRel.reason()).isEqualTo(ReasonCode.PACKET_IDENTIFIER_NOT_FOUND);
    }

    /** The answers that are wrong after each step of a delivery: PUBLISH at QoS 1, PUBLISH at QoS 2, PUBREL. */
    private static Stream<Arguments> wrongAnswers() {
        return Stream.of(ProtocolVersion.values())
                .flatMap(version -> Stream.of(
                        arguments(version, 1, false, PUBREC),
                        arguments(version, 1, false, PUBCOMP),
                        arguments(version, 2, false, PUBACK),
                        arguments(version, 2, false, PUBCOMP),
                        arguments(version, 2, true, PUBACK)));
    }

    @ParameterizedTest
    @MethodSource("wrongAnswers")
    void anAcknowledgementOfTheWrongStepEndsTheConnection(
            ProtocolVersion version, int qos, boolean received, int answer) {
        // [MQTT-4.13.1-1] [MQTT311-4.8.0-1]
        RawClient client = resume(version);
        client.subscribe("a", qos);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a", "x", qos);
        int id = client.expectPublish("a", "x").packetId();
        if (received) {
            client.acknowledge(PUBREC, id).expect(MqttMessageType.PUBREL);
        }

        client.acknowledge(answer, id).expectDisconnect(ReasonCode.PROTOCOL_ERROR);

        RawClient again = broker.open(version);
        ConnectBytes one = ConnectBytes.of("c").persistent(1_000);
        if (version.isV5()) {
            one.properties().receiveMaximum(1);
        }
        again.connect(one); // with a window of one message nothing else comes until the first is done
        if (received) {
            assertThat(again.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(id);
            again.acknowledge(PUBCOMP, id);
        } else {
            assertThat(again.expectPublish("a", "x").packetId()).isEqualTo(id);
            finish(again, qos, id);
        }
        for (int i = 0; i < 3; i++) {
            publisher.publish("a", "next", qos);
            finish(again, qos, again.expectPublish("a", "next").packetId());
        }
        again.expectNothing();
    }

    private static void finish(RawClient client, int qos, int id) {
        if (qos == 1) {
            client.acknowledge(PUBACK, id);
        } else {
            client.acknowledge(PUBREC, id).expect(MqttMessageType.PUBREL);
            client.acknowledge(PUBCOMP, id);
        }
    }
}
