// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.util.Random;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.3 and 4.3.1 of both standards. Nobody may publish to "forbidden". */
class PublishQos0Test {

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            builder -> builder.authorizer(request -> (request.action() == AccessAction.PUBLISH
                                    && request.topic().equals("forbidden")
                            ? AccessDecision.DENY
                            : AccessDecision.ALLOW)
                    .now()));

    @ParameterizedTest
    @EnumSource
    void aMessageArrivesAsItWasSentWithoutIdentifierAndDup(ProtocolVersion version) {
        // [MQTT-4.3.1-1] [MQTT311-4.3.1-1] [MQTT-2.2.1-2] [MQTT311-2.3.1-5] [MQTT-3.3.1-2] [MQTT311-3.3.1-2]
        RawClient client = broker.client(version, "c");
        client.subscribe("a/b", 0);
        byte[] publish = PublishBytes.to("a/b").payload("hello").toBytes(version);
        broker.client(version, "p").send(publish);
        assertThat(client.expect(MqttMessageType.PUBLISH).bytes()).isEqualTo(publish);
    }

    @ParameterizedTest
    @EnumSource
    void aMessageAtQos0IsNotAnswered(ProtocolVersion version) {
        // [MQTT-3.3.4-1] [MQTT311-3.3.4-1]
        RawClient client = broker.client(version, "c");
        client.send(PublishBytes.to("a").payload("x"));
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aMessageAtQos0WithDupIsMalformed(ProtocolVersion version) {
        // [MQTT-3.3.1-2] [MQTT311-3.3.1-2]
        broker.client(version, "c").send(PublishBytes.to("a").dup()).expectDisconnect(ReasonCode.MALFORMED_PACKET);
    }

    @ParameterizedTest
    @EnumSource
    void payloadsOfAllSizesArriveWhole(ProtocolVersion version) {
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient other = broker.client(version, "other");
        other.subscribe("a", 0);
        RawClient publisher = broker.client(version, "p");
        for (int size : new int[] {0, 1, 127, 128, 8_191, 8_192, 16_384, 70_000, 1_000_000}) {
            byte[] payload = new byte[size];
            new Random(size).nextBytes(payload);
            publisher.send(PublishBytes.to("a").payload(payload));
            assertThat(client.expect(MqttMessageType.PUBLISH).payload()).isEqualTo(payload);
            assertThat(other.expect(MqttMessageType.PUBLISH).payload()).isEqualTo(payload);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatIsNotAllowedIsAcknowledgedButNotDelivered(ProtocolVersion version) {
        // [MQTT311-3.3.5-2]
        RawClient client = broker.client(version, "c");
        client.subscribe("#", 2);
        RawClient publisher = broker.client(version, "p");
        publisher.send(PublishBytes.to("forbidden").payload("x"));
        publisher.send(PublishBytes.to("forbidden").qos(1, 1).payload("x"));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(version.isV5() ? 0x87 : 0);
        publisher.send(PublishBytes.to("forbidden").qos(2, 2).payload("x"));
        ReceivedPacket pubRec = publisher.expect(MqttMessageType.PUBREC);
        assertThat(pubRec.reasonCode()).isEqualTo(version.isV5() ? 0x87 : 0);
        publisher.ping();
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void versionsUnderstandEachOther(ProtocolVersion version) {
        for (ProtocolVersion other : ProtocolVersion.values()) {
            RawClient client = broker.client(other, "c");
            client.subscribe("a", 1);
            PublishBytes message = PublishBytes.to("a").qos(1).payload("x");
            message.properties().user("k", "v").contentType("text/plain");
            broker.client(version, "p").publish(message);
            ReceivedPacket packet = client.expectPublish("a", "x");
            if (version.isV5() && other.isV5()) {
                assertThat(packet.userProperties()).containsExactly("k=v");
                assertThat(packet.property(0x03)).isEqualTo("text/plain");
            }
            client.disconnect();
        }
    }
}
