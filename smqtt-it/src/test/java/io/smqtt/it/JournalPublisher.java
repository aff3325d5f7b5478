// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/** Publishes numbers and remembers how far each has come: what is acknowledged, and what has to be sent again. */
class JournalPublisher extends JournalClient {

    private static final int PACKET_IDS = 65_535;
    private static final int QUOTA_EXCEEDED = 0x97;
    private static final Duration REFUSED = Duration.ofMillis(50);

    private final String topic;
    private final int qos;
    private final long paceNanos;
    private final TreeMap<Integer, Boolean> open = new TreeMap<>(); // true when PUBREC has come
    private volatile int acknowledged;
    private int next;
    private volatile int end = Integer.MAX_VALUE;
    private int window = WINDOW;

    private long firstNanos;

    /** Publishes as fast as the broker acknowledges. */
    JournalPublisher(String topic, int qos, Whereabouts broker) {
        this(topic, qos, broker, Duration.ZERO);
    }

    /** Publishes at most one message in the given time; what it missed while it had no broker follows at once. */
    JournalPublisher(String topic, int qos, Whereabouts broker, Duration pace) {
        super("publisher-" + topic, broker);
        this.topic = topic;
        this.qos = qos;
        this.paceNanos = pace.toNanos();
    }

    /** Sends a message again that the broker has no room for, before any other one, so that the order stays. Before the start. */
    JournalPublisher oneByOne() {
        window = 1;
        return this;
    }

    /** The topic that it publishes to. */
    String topic() {
        return topic;
    }

    /** The topic of a number, if there are several. */
    String topicOf(int number) {
        return topic;
    }

    /** The payload of a number, which begins with zeros, or not. */
    String payloadOf(int number) {
        return String.valueOf(number);
    }

    /** A number is sent, perhaps again. */
    void sent(int number) {}

    /** A number was acknowledged: PUBACK, or PUBCOMP. Called once for each. */
    void accepted(int number) {}

    /**
     * A number was refused.
     *
     * @return whether it is sent again as a new message
     */
    boolean isSentAgain(int number, ReceivedPacket refusal) {
        return window == 1 && refusal.reasonCode() == QUOTA_EXCEEDED;
    }

    /** The QoS of its messages. */
    final int qos() {
        return qos;
    }

    /** How many messages were acknowledged: PUBACK, or PUBCOMP. */
    int acknowledged() {
        return acknowledged;
    }

    /** Lets no new messages begin. */
    void lastOne() {
        end = 0;
    }

    /** How many messages were begun, once the thread has ended. */
    int count() {
        return next;
    }

    @Override
    boolean isDone() {
        return open.isEmpty() && next >= end;
    }

    @Override
    void work(RawClient client) {
        for (Map.Entry<Integer, Boolean> message : open.entrySet()) { // [MQTT-4.4.0-1]
            if (message.getValue()) {
                client.acknowledge(0x62, id(message.getKey()));
            } else {
                sent(message.getKey());
                client.send(packet(message.getKey()).dup());
            }
        }
        while (!isDone()) {
            while (open.size() < window && next < end && nanosUntilNext() <= 0) {
                open.put(next, false);
                sent(next);
                client.send(packet(next++));
            }
            if (open.isEmpty()) {
                LockSupport.parkNanos(nanosUntilNext());
                continue;
            }
            ReceivedPacket answer = client.receive();
            if (answer == null || answer.type() == MqttMessageType.DISCONNECT) {
                return;
            }
            take(client, answer);
        }
    }

    private long nanosUntilNext() {
        if (next == 0) {
            firstNanos = System.nanoTime();
        }
        return firstNanos + next * paceNanos - System.nanoTime();
    }

    private void take(RawClient client, ReceivedPacket answer) {
        int number = number(answer.packetId());
        boolean known = answer.type() != MqttMessageType.PUBCOMP || answer.reasonCode() != 0x92; // forgotten already
        if (answer.reasonCode() >= 0x80 && known) {
            if (!isSentAgain(number, answer)) {
                throw new AssertionError("refused: " + answer);
            }
            LockSupport.parkNanos(REFUSED.toNanos());
            sent(number);
            client.send(packet(number));
            return;
        }
        switch (answer.type()) {
            case PUBACK, PUBCOMP -> {
                if (open.remove(number) != null) {
                    acknowledged++;
                    accepted(number);
                }
            }
            case PUBREC -> {
                open.put(number, true);
                client.acknowledge(0x62, id(number));
            }
            default -> throw new AssertionError("unexpected: " + answer);
        }
    }

    private static int id(int number) {
        return number % PACKET_IDS + 1;
    }

    /** The open message of an identifier; they are used one after the other, again and again. */
    private int number(int id) {
        int oldest = open.isEmpty() ? next : open.firstKey();
        return oldest + Math.floorMod(id - id(oldest), PACKET_IDS);
    }

    private PublishBytes packet(int number) {
        return PublishBytes.to(topicOf(number)).payload(payloadOf(number)).qos(qos, id(number));
    }
}
