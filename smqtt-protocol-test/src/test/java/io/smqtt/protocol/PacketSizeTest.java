// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBCOMP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREC;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREL;
import static io.netty.handler.codec.mqtt.MqttMessageType.SUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.UNSUBACK;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.BrokerBuilder;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.DropReason;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Maximum Packet Size, both ways. */
class PacketSizeTest {

    private static final int LARGEST = 2_000;
    private static final int REASON_STRING = 0x1F;
    private static final Counters COUNTERS = new Counters();

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(
            config -> config.limits(LimitsConfig.builder()
                    .maxPacketBytes(LARGEST)
                    .maxTopicBytes(512)
                    .build()),
            PacketSizeTest::parts);

    private static BrokerBuilder parts(BrokerBuilder builder) {
        Authorizer nothingDenied = request -> (request.action() != AccessAction.RECEIVE
                                && request.topic().startsWith("denied")
                        ? AccessDecision.DENY
                        : AccessDecision.ALLOW)
                .now();
        return builder.authorizer(nothingDenied).observer(COUNTERS);
    }

    private static RawClient limited(String id, long maximum) {
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of(id);
        connect.properties().maximumPacketSize(maximum);
        client.connect(connect);
        return client;
    }

    private static byte[] payload(int bytes) {
        return "x".repeat(bytes).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }

    @Test
    void aMessageThatIsTooLargeForTheClientIsDroppedAndTheNextOneCame() {
        // [MQTT-3.1.2-24] [MQTT-3.1.2-25]
        RawClient small = limited("small", 60);
        RawClient other = BROKER.client(MQTT_5, "other");
        small.subscribe("size/t", 1);
        other.subscribe("size/t", 1);
        long before = COUNTERS.dropped(DropReason.PACKET_TOO_LARGE);
        RawClient publisher = BROKER.client(MQTT_5, "publisher");
        int header = 2 + 2 + "size/t".length() + 2 + 1; // fixed header, topic, packet identifier, properties
        publisher.publish(PublishBytes.to("size/t").qos(1).payload(payload(60 - header)));
        publisher.publish(PublishBytes.to("size/t").qos(1).payload(payload(60 - header + 1)));
        publisher.publish(PublishBytes.to("size/t").qos(1).payload("next"));

        ReceivedPacket exact = small.expect(io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH);
        assertThat(exact.bytes()).hasSize(60);
        small.expectPublish("size/t", "next");
        small.expectNothing();
        assertThat(COUNTERS.dropped(DropReason.PACKET_TOO_LARGE) - before).isEqualTo(1);
        for (int i = 0; i < 3; i++) {
            other.expect(io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH);
        }
    }

    @Test
    void whatIsDroppedForItsSizeTakesNoPlaceInTheWindow() { // [MQTT-3.1.2-25]
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("narrow");
        connect.properties().maximumPacketSize(50).receiveMaximum(1);
        client.connect(connect);
        client.subscribe("size/narrow", 2);
        RawClient publisher = BROKER.client(MQTT_5, "narrow-publisher");
        for (int i = 0; i < 10; i++) {
            publisher.publish(PublishBytes.to("size/narrow").qos(1 + i % 2).payload(payload(100)));
        }
        publisher.publish("size/narrow", "small", 2);

        client.expectPublish("size/narrow", "small");
    }

    @Test
    void anAliasIsLeftOutRatherThanAMessage() {
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("alias");
        connect.properties().maximumPacketSize(40).topicAliasMaximum(5);
        client.connect(connect);
        client.subscribe("size/alias", 0);
        int header = 2 + 2 + "size/alias".length() + 1;
        BROKER.client(MQTT_5, "alias-publisher")
                .publish(PublishBytes.to("size/alias").payload(payload(40 - header)));

        ReceivedPacket packet = client.expect(io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH);
        assertThat(packet.bytes()).hasSize(40);
        assertThat(packet.topic()).isEqualTo("size/alias");
    }

    @Test
    void aPacketAboveTheBrokersMaximumEndsTheConnection() { // [MQTT-3.2.2-15]
        RawClient client = BROKER.open(MQTT_5);
        assertThat(client.connect("big").number(0x27)).isEqualTo(LARGEST);
        int header = 3 + 2 + 1 + 1;
        client.send(PublishBytes.to("s").payload(payload(LARGEST - header)));
        client.expectNothing();

        client.send(PublishBytes.to("s").payload(payload(LARGEST - header + 1)));
        client.expectDisconnect(ReasonCode.PACKET_TOO_LARGE);
        RawClient older = BROKER.client(MQTT_3_1_1, "big-older");
        older.send(PacketBytes.packet(0x30).toBytes(LARGEST)).expectClosed();
    }

    @Test
    void anAcknowledgementLeavesItsReasonStringOutRatherThanBeTooLarge() {
        // [MQTT-3.4.2-2] [MQTT-3.5.2-2] no property is left when the text would not fit
        RawClient roomy = BROKER.client(MQTT_5, "roomy");
        ReceivedPacket told = roomy.send(PublishBytes.to("denied/t").qos(1, 7)).expect(PUBACK);
        assertThat(told.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(told.property(REASON_STRING)).isNotNull();
        int size = told.bytes().length;

        RawClient tight = limited("tight", Math.max(size - 1, 20));
        assertThat(size - 1).as("the CONNACK is no larger").isGreaterThanOrEqualTo(20);
        ReceivedPacket pubAck =
                tight.send(PublishBytes.to("denied/t").qos(1, 7)).expect(PUBACK);
        ReceivedPacket pubRec =
                tight.send(PublishBytes.to("denied/t").qos(2, 8)).expect(PUBREC);
        for (ReceivedPacket packet : new ReceivedPacket[] {pubAck, pubRec}) {
            assertThat(packet.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
            assertThat(packet.property(REASON_STRING)).isNull();
            assertThat(packet.bytes()).hasSizeLessThan(size);
        }
    }

    @Test
    void aDisconnectLeavesItsReasonStringOutRatherThanBeTooLarge() { // [MQTT-3.14.2-3]
        RawClient roomy = BROKER.client(MQTT_5, "roomy-goodbye");
        ReceivedPacket told = roomy.send(PublishBytes.to("a/+")).expectDisconnect(ReasonCode.TOPIC_NAME_INVALID);
        assertThat(told.property(REASON_STRING)).isNotNull();

        RawClient tight = limited("tight-goodbye", told.bytes().length - 1);
        ReceivedPacket untold = tight.send(PublishBytes.to("a/+")).expectDisconnect(ReasonCode.TOPIC_NAME_INVALID);
        assertThat(untold.property(REASON_STRING)).isNull();
    }

    @Test
    void acknowledgementsHaveNoUserPropertiesAndStayWithinTheClientsMaximum() {
        // [MQTT-3.4.2-3] [MQTT-3.5.2-3] [MQTT-3.6.2-2] [MQTT-3.6.2-3] [MQTT-3.7.2-2] [MQTT-3.7.2-3] [MQTT-3.9.2-1]
        // [MQTT-3.9.2-2] [MQTT-3.11.2-1] [MQTT-3.11.2-2] [MQTT-3.14.2-4] [MQTT-3.2.2-20]
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("all");
        connect.properties().maximumPacketSize(25).user("name", "y".repeat(100));
        ReceivedPacket connAck = client.connect(connect);
        SubscribeBytes subscribe = SubscribeBytes.of(1).filter("all/t", 2).filter("denied/t", 1);
        subscribe.properties().user("name", "y".repeat(100));
        ReceivedPacket subAck = client.send(subscribe).expect(SUBACK);
        PublishBytes publish = PublishBytes.to("all/none").qos(2, 5);
        publish.properties().user("name", "y".repeat(100));
        ReceivedPacket pubRec = client.send(publish).expect(PUBREC);
        ReceivedPacket pubComp = client.acknowledge(0x62, 5).expect(PUBCOMP);
        ReceivedPacket unknownComp = client.acknowledge(0x62, 6).expect(PUBCOMP);
        ReceivedPacket unknownRel = client.acknowledge(0x50, 6).expect(PUBREL);
        ReceivedPacket pubAck =
                client.send(PublishBytes.to("denied/t").qos(1, 9)).expect(PUBACK);
        ReceivedPacket unsubAck = client.send(PacketBytes.packet(0xA2)
                        .u16(2)
                        .noPropertiesIn(MQTT_5)
                        .string("all/t")
                        .string("all/never"))
                .expect(UNSUBACK);
        ReceivedPacket disconnect = client.send(PublishBytes.to("a/#")).expectDisconnect(ReasonCode.TOPIC_NAME_INVALID);

        ReceivedPacket[] packets = {
            connAck, subAck, pubRec, pubComp, unknownComp, unknownRel, pubAck, unsubAck, disconnect
        };
        for (ReceivedPacket packet : packets) {
            assertThat(packet.userProperties()).as(packet.toString()).isEmpty();
            assertThat(packet.bytes()).hasSizeLessThanOrEqualTo(25);
        }
    }

    @Test
    void anAnswerThatCannotBeShortenedEndsTheConnection() { // [MQTT-3.1.2-24]
        RawClient client = limited("many-filters", 30);
        SubscribeBytes subscribe = SubscribeBytes.of(1);
        for (int i = 0; i < 40; i++) {
            subscribe.filter("many/" + i, 0);
        }

        client.send(subscribe).expectDisconnect(ReasonCode.PACKET_TOO_LARGE);
    }

    @Test
    void aClientThatTakesNoConnAckIsClosedWithoutAPacket() { // [MQTT-3.1.2-24]
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("tiny");
        connect.properties().maximumPacketSize(4);

        client.send(connect).expectClosed();
    }

    @Test
    void aRefusalLeavesItsReasonStringOutRatherThanBeTooLarge() { // [MQTT-3.2.2-20]
        ConnectBytes connect =
                ConnectBytes.of("refused").will(PublishBytes.to("denied/will").payload("x"));
        connect.properties().user("name", "value");
        ReceivedPacket told = BROKER.open(MQTT_5).send(connect).expect(CONNACK);
        assertThat(told.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(told.property(REASON_STRING)).isNotNull();

        ConnectBytes tight =
                ConnectBytes.of("refused").will(PublishBytes.to("denied/will").payload("x"));
        tight.properties().maximumPacketSize(told.bytes().length - 1);
        ReceivedPacket untold = BROKER.open(MQTT_5).send(tight).expect(CONNACK);
        assertThat(untold.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(untold.property(REASON_STRING)).isNull();
        assertThat(untold.userProperties()).isEmpty();
    }
}
