// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Numbers as messages. */
final class Numbers {

    private static final int WINDOW = 50;

    private Numbers() {}

    /** Publishes numbers at QoS 1, many at once, and returns how many were acknowledged. */
    static int publish(RawClient client, String topic, int from, int to, String padding) {
        int acknowledged = 0;
        for (int i = from; i < to + WINDOW; i++) {
            if (i >= from + WINDOW && i - WINDOW < to) {
                ReceivedPacket answer = client.expect(MqttMessageType.PUBACK);
                acknowledged += answer.reasonCode() < 0x80 ? 1 : 0;
            }
            if (i < to) {
                client.send(PublishBytes.to(topic).payload(i + padding).qos(1, client.nextPacketId()));
            }
        }
        return acknowledged;
    }

    /** Receives numbers until there are as many different ones, as a receiver of QoS 1 and 2 does. */
    static List<Integer> take(RawClient client, int different) {
        List<Integer> numbers = new ArrayList<>();
        Set<Integer> seen = new HashSet<>();
        while (seen.size() < different) {
            ReceivedPacket packet = client.receive();
            assertThat(packet).as("only %d of %d came", seen.size(), different).isNotNull();
            if (packet.type() == MqttMessageType.PUBREL) {
                client.acknowledge(0x70, packet.packetId());
            } else {
                int number = Integer.parseInt(packet.text().split(" ", 2)[0]); // a padding may follow
                numbers.add(number);
                seen.add(number);
                client.acknowledge(packet.qos() == 1 ? 0x40 : 0x50, packet.packetId());
            }
        }
        return numbers;
    }
}
