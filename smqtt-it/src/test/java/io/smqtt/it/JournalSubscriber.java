// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.SubscribeBytes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Receives numbers and writes down what comes, as a receiver of its QoS must. */
class JournalSubscriber extends JournalClient {

    private final String topic;
    private final int qos;
    private final List<Integer> received = new ArrayList<>();
    private final Set<Integer> unreleased = new HashSet<>();
    private volatile int highest = -1;
    private volatile boolean subscribed;

    JournalSubscriber(String name, String topic, int qos, Whereabouts broker) {
        super("subscriber-" + name, broker);
        this.topic = topic;
        this.qos = qos;
    }

    /** The QoS that it subscribes with. */
    int qos() {
        return qos;
    }

    /** The topic that it listens to. */
    String topic() {
        return topic;
    }

    /** Whether the subscription is acknowledged. */
    boolean isSubscribed() {
        return subscribed;
    }

    /** The highest number so far. */
    int highest() {
        return highest;
    }

    /** All numbers so far, in the order in which they came. */
    List<Integer> received() {
        synchronized (received) {
            return List.copyOf(received);
        }
    }

    @Override
    boolean isDone() {
        return false;
    }

    @Override
    void work(RawClient client) {
        if (!subscribed) {
            client.send(SubscribeBytes.of(client.nextPacketId()).filter(topic, qos));
        }
        while (true) {
            ReceivedPacket packet = client.receive();
            if (packet == null || packet.type() == MqttMessageType.DISCONNECT) {
                return;
            }
            take(client, packet);
        }
    }

    private void take(RawClient client, ReceivedPacket packet) {
        int id = packet.packetId();
        if (packet.type() == MqttMessageType.SUBACK) { // messages may come before it
            subscribed = true;
        } else if (packet.type() == MqttMessageType.PUBREL) {
            unreleased.remove(id);
            client.acknowledge(0x70, id);
        } else if (packet.type() != MqttMessageType.PUBLISH) {
            throw new AssertionError("unexpected: " + packet);
        } else if (packet.qos() == 1) {
            received(packet);
            client.acknowledge(0x40, id);
        } else {
            if (unreleased.add(id)) { // [MQTT-4.3.3-10], the other way round
                received(packet);
            }
            client.acknowledge(0x50, id);
        }
    }

    /** Subscribes again, and has received nothing at QoS 2 of what comes: the broker has a new session. */
    final void beginAgain() {
        subscribed = false;
        unreleased.clear();
    }

    /** A message has come that the client takes. */
    void received(ReceivedPacket packet) {
        int number = Integer.parseInt(packet.text());
        synchronized (received) {
            received.add(number);
        }
        highest = Math.max(highest, number);
    }
}
