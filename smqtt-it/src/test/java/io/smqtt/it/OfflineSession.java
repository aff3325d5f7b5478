// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A stored session whose client is away while messages are queued for it.
 *
 * @param clientId its client identifier
 * @param topic what it is subscribed to, at QoS 2
 */
record OfflineSession(String clientId, String topic) {

    private static final long EXPIRY_SECONDS = 3_600;
    private static final String END = "end";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Begins the session and leaves. */
    void open(InetSocketAddress broker) {
        try (RawClient client = connect(broker)) {
            client.subscribe(topic, 2);
            client.disconnect();
        }
    }

    /** Takes all that is queued, in the order in which it comes, and leaves nothing. */
    List<String> drain(InetSocketAddress broker) {
        List<String> received = new ArrayList<>();
        try (RawClient last = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(PATIENCE);
                RawClient client = connect(broker)) {
            last.connect(clientId + "-end");
            last.publish(PublishBytes.to(topic).payload(END).qos(1));
            while (true) {
                ReceivedPacket packet = client.receive();
                if (packet == null) {
                    throw new AssertionError("the connection ended after " + received.size() + " messages");
                }
                if (packet.type() == MqttMessageType.PUBREL) {
                    client.acknowledge(0x70, packet.packetId());
                } else if (packet.type() == MqttMessageType.PUBLISH) {
                    client.acknowledge(packet.qos() == 1 ? 0x40 : 0x50, packet.packetId());
                    if (packet.text().equals(END)) {
                        return received;
                    }
                    received.add(packet.text());
                } else {
                    throw new AssertionError("unexpected: " + packet);
                }
            }
        }
    }

    private RawClient connect(InetSocketAddress broker) {
        RawClient client = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(PATIENCE);
        client.connect(ConnectBytes.of(clientId).persistent(EXPIRY_SECONDS));
        return client;
    }
}
