// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.SubscribeBytes;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.10 and 3.11 of both standards. */
class UnsubscribeTest {

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    @ParameterizedTest
    @EnumSource
    void eachFilterIsRemovedAndAnsweredInOrder(ProtocolVersion version) {
        // [MQTT-3.10.4-2] [MQTT-3.10.4-4] [MQTT-3.10.4-6] [MQTT-3.11.3-1] [MQTT-3.11.3-2] [MQTT-2.2.1-6]
        // [MQTT311-3.10.4-2] [MQTT311-3.10.4-4] [MQTT311-3.10.4-6] [MQTT311-2.3.1-7]
        RawClient client = broker.client(version, "c");
        client.subscribe(SubscribeBytes.of(1).filter("a", 0).filter("b", 0).filter("c", 0));
        PacketBytes unsubscribe = PacketBytes.packet(0xA2).u16(0x1234).noPropertiesIn(version);
        ReceivedPacket unsubAck =
                client.send(unsubscribe.string("a").string("never").string("c")).expect(MqttMessageType.UNSUBACK);
        assertThat(unsubAck.packetId()).isEqualTo(0x1234);
        if (version.isV5()) {
            assertThat(unsubAck.reasonCodes()).containsExactly(0x00, 0x11, 0x00);
        } else {
            assertThat(unsubAck.bytes()).hasSize(4);
        }
        RawClient publisher = broker.client(version, "p");
        for (String topic : new String[] {"a", "b", "c"}) {
            publisher.publish(topic, "x", 1);
        }
        client.expectPublish("b", "x");
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void anUnsubscribeThatRemovesNothingIsAnswered(ProtocolVersion version) {
        // [MQTT-3.10.4-5] [MQTT311-3.10.4-5]
        RawClient client = broker.client(version, "c");
        ReceivedPacket unsubAck = client.unsubscribe("never");
        assertThat(unsubAck.packetId()).isEqualTo(1);
        if (version.isV5()) {
            assertThat(unsubAck.reasonCodes()).containsExactly(0x11);
        }
    }

    @ParameterizedTest
    @EnumSource
    void filtersAreComparedCharacterByCharacter(ProtocolVersion version) {
        // [MQTT-3.10.4-1] [MQTT311-3.10.4-1]
        RawClient client = broker.client(version, "c");
        client.subscribe("a/+", 0);
        for (String filter : new String[] {"a/b", "a/#", "A/+", "a/+/", "/a/+", "+/+", "a/"}) {
            client.unsubscribe(filter);
        }
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a/b", "x", 1);
        client.expectPublish("a/b", "x");
        client.unsubscribe("a/+");
        publisher.publish("a/b", "y", 1);
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsInFlightIsCompleted(ProtocolVersion version) {
        // [MQTT-3.10.4-3] [MQTT311-3.10.4-3]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 2);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a", "2", 2);
        ReceivedPacket two = client.expectPublish("a", "2");
        publisher.publish("a", "1", 1);
        ReceivedPacket one = client.expectPublish("a", "1");
        client.unsubscribe("a");
        client.acknowledge(0x40, one.packetId());
        client.acknowledge(0x50, two.packetId());
        assertThat(client.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(two.packetId());
        client.acknowledge(0x70, two.packetId());
        client.expectNothing();
        assertThat(broker.broker()
                        .clients()
                        .filter(info -> info.inFlight() > 0)
                        .collectList()
                        .block())
                .isEmpty();
    }
}
