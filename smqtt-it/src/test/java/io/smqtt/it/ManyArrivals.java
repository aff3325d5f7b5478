// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Receives numbers at QoS 1, and compares each with the one before it of its topic. It reads from the socket itself, and acknowledges together what has come
 * together, so that it takes less of the machine than what it measures. Its session is stored, and it connects again when the broker is back.
 */
final class ManyArrivals extends Thread {

    private static final int BUFFER = 1 << 16;
    private static final int RECEIVE_MAXIMUM = 10_000;
    private static final long SESSION_SECONDS = 3_600;
    private static final int SUBSCRIBE_ID = 1;

    private final String filter;
    private final Whereabouts broker;
    private final Map<String, Integer> next = new HashMap<>();
    private volatile boolean subscribed;
    private volatile int count;
    private volatile int repeated;
    private volatile @Nullable Throwable failure;

    ManyArrivals(String filter, Whereabouts broker) {
        super("many-arrivals");
        this.filter = filter;
        this.broker = broker;
        setDaemon(true);
    }

    boolean isSubscribed() {
        return subscribed;
    }

    /** The number of messages without repetitions. */
    int count() {
        return count;
    }

    /** The number of repetitions. */
    int repeated() {
        return repeated;
    }

    /** The number that is next for each topic; to be read after the last message. */
    Map<String, Integer> next() {
        return next;
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    @Override
    public void run() {
        try {
            while (true) {
                InetSocketAddress address = broker.find();
                if (address != null) {
                    connect(address);
                }
            }
        } catch (RuntimeException | AssertionError e) {
            failure = e;
        }
    }

    private void connect(InetSocketAddress address) {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER));
            OutputStream out = new BufferedOutputStream(socket.getOutputStream(), BUFFER);
            ConnectBytes connect = ConnectBytes.of(getName()).persistent(SESSION_SECONDS);
            connect.properties().receiveMaximum(RECEIVE_MAXIMUM);
            out.write(connect.toBytes(ProtocolVersion.MQTT_5));
            if (!subscribed) {
                out.write(SubscribeBytes.of(SUBSCRIBE_ID).filter(filter, 1).toBytes(ProtocolVersion.MQTT_5));
            }
            out.flush();
            while (true) {
                read(in, out);
                if (in.available() == 0) {
                    out.flush();
                }
            }
        } catch (IOException e) {
            // the broker was killed, or does not listen yet
        }
    }

    private void read(DataInputStream in, OutputStream out) throws IOException {
        int first = in.readUnsignedByte();
        byte[] packet = new byte[variable(in)];
        in.readFully(packet);
        MqttMessageType type = MqttMessageType.valueOf(first >> 4);
        if (type == MqttMessageType.PUBLISH) {
            publish(packet, out);
        } else if (type == MqttMessageType.SUBACK) {
            subscribed = true;
        } else if (type != MqttMessageType.CONNACK || packet[1] != 0) {
            throw new AssertionError("unexpected " + type);
        }
    }

    private void publish(byte[] packet, OutputStream out) throws IOException {
        int topicEnd = 2 + u16(packet, 0);
        String topic = new String(packet, 2, topicEnd - 2, StandardCharsets.UTF_8);
        int properties = packet[topicEnd + 2];
        if (properties < 0) {
            throw new AssertionError("properties of more than 127 bytes");
        }
        int payload = topicEnd + 3 + properties;
        int number = Integer.parseInt(new String(packet, payload, packet.length - payload, StandardCharsets.US_ASCII));
        int expected = next.getOrDefault(topic, 0);
        if (number > expected) {
            throw new AssertionError(topic + ": " + number + " in the place of " + expected);
        }
        if (number < expected) {
            repeated++;
        } else {
            next.put(topic, expected + 1);
            count++;
        }
        out.write(new byte[] {0x40, 2, packet[topicEnd], packet[topicEnd + 1]});
    }

    private static int u16(byte[] bytes, int at) {
        return (bytes[at] & 0xff) << 8 | bytes[at + 1] & 0xff;
    }

    private static int variable(DataInputStream in) throws IOException {
        int value = 0;
        for (int shift = 0; ; shift += 7) {
            int next = in.readUnsignedByte();
            value |= (next & 0x7f) << shift;
            if (next < 0x80) {
                return value;
            }
        }
    }
}
