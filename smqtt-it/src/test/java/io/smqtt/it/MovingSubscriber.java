// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.SubscribeBytes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Receives numbers on any node, also with a fresh session, which it subscribes again. A QoS 2 message counts when it is released, and a
 * fresh session discards those that are not, as the standard asks of a client.
 */
final class MovingSubscriber extends JournalClient {

    private final String topic;
    private final int qos;
    private final List<Integer> received = new ArrayList<>();
    private final Map<Integer, Integer> unreleased = new HashMap<>();
    private final Set<Integer> discarded = new HashSet<>();
    private boolean subscribed;
    private volatile int sessions;
    private volatile int highest = -1;

    MovingSubscriber(String name, String topic, int qos, Whereabouts broker) {
        super("moving-" + name, broker);
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

    /** How many sessions it has had so far, each with its subscription. */
    int sessions() {
        return sessions;
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

    /** Numbers that it had accepted at QoS 2 and that were not released when its session was lost, once the thread has ended. */
    Set<Integer> discarded() {
        return discarded;
    }

    @Override
    boolean isDone() {
        return false;
    }

    @Override
    void sessionLost() {
        discarded.addAll(unreleased.values());
        unreleased.clear();
        subscribed = false;
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
            sessions++;
        } else if (packet.type() == MqttMessageType.PUBREL) {
            Integer number = unreleased.remove(id);
            if (number != null) {
                note(number);
            }
            client.acknowledge(0x70, id);
        } else if (packet.type() != MqttMessageType.PUBLISH) {
            throw new AssertionError("unexpected: " + packet);
        } else if (packet.qos() == 1) {
            note(Integer.parseInt(packet.text()));
            client.acknowledge(0x40, id);
        } else {
            unreleased.put(id, Integer.valueOf(packet.text()));
            client.acknowledge(0x50, id);
        }
    }

    private void note(int number) {
        synchronized (received) {
            received.add(number);
        }
        highest = Math.max(highest, number);
    }
}
