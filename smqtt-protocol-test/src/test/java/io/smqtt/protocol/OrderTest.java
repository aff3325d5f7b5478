// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Section 4.6 of both standards. */
class OrderTest {

    private static final int COUNT = 300;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.eventLoops(3));

    @ParameterizedTest
    @EnumSource
    void messagesOfATopicKeepTheirOrderAtEachQos(ProtocolVersion version) {
        // [MQTT-4.6.0-5] [MQTT-4.6.0-6] [MQTT311-4.6.0-5] [MQTT311-4.6.0-6]
        List<RawClient> subscribers = new ArrayList<>();
        for (int i = 0; i < 4; i++) { // on all event loops, that of the publisher among them
            RawClient client = broker.client(version, "c" + i);
            client.subscribe(i % 2 == 0 ? "a" : "#", 2);
            subscribers.add(client);
        }
        RawClient publisher = broker.client(version, "p");
        for (int qos = 0; qos <= 2; qos++) {
            PacketBytes burst = PacketBytes.fields();
            for (int i = 0; i < COUNT; i++) {
                burst.bytes(PublishBytes.to("a").qos(qos, i + 1).payload("" + i).toBytes(version));
            }
            publisher.send(burst);
            for (int i = 0; i < COUNT && qos > 0; i++) {
                ReceivedPacket answer = publisher.expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC);
                assertThat(answer.packetId()).isEqualTo(i + 1);
            }
            for (RawClient client : subscribers) {
                for (int i = 0; i < COUNT; i++) {
                    assertThat(client.expectPublish("a", "" + i).qos()).isEqualTo(qos);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void orderSurvivesAWindowThatIsFullAndAConnectionThatIsLost(ProtocolVersion version) {
        // [MQTT-4.6.0-5] [MQTT-4.6.0-6] [MQTT311-4.6.0-5] [MQTT311-4.6.0-6]
        ConnectBytes connect = ConnectBytes.of("c").persistent(100);
        connect.properties().receiveMaximum(7);
        RawClient client = broker.open(version);
        client.connect(connect);
        client.subscribe("a", 1);
        RawClient publisher = broker.client(version, "p");
        for (int i = 0; i < 60; i++) {
            publisher.publish("a", "" + i, 1);
        }
        int next = 0;
        while (next < 60) {
            for (int i = 0; i < 5; i++) {
                client.acknowledge(0x40, client.expectPublish("a", "" + next++).packetId());
            }
            client.expectNothingBut(packet -> {}); // the acknowledgements have been read
            client.abort();
            client = broker.open(version);
            client.connect(connect);
        }
        client.expectNothing();
    }
}
