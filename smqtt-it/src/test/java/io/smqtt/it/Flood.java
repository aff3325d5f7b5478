// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A client that publishes without waiting for anything but its window, in bursts at a given rate. */
final class Flood implements AutoCloseable {

    private static final int BURST = 20;
    private static final int WINDOW = 1_000; // the broker's Receive Maximum, but for one burst

    private final RawClient publisher;
    private final int qos;
    private final String payload;
    private final long burstNanos;
    private volatile String topic;
    private volatile boolean stopping;
    private volatile long sent;
    private volatile long accepted;
    private volatile long refused;
    private volatile long unmatched;
    private volatile @Nullable Throwable failure;
    private final Thread sender;

    /**
     * Begins.
     *
     * @param perSecond messages, if the broker reads them
     * @param payloadBytes the size of a payload, which cannot be compressed
     */
    Flood(InetSocketAddress broker, String topic, int qos, int perSecond, int payloadBytes, Duration patience) {
        this.topic = topic;
        this.qos = qos;
        payload = new Random(1)
                .ints(payloadBytes, '0', 'z')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        burstNanos = TimeUnit.SECONDS.toNanos(BURST) / perSecond;
        publisher = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(patience);
        publisher.connect("flood-" + qos);
        sender = begin("publishes", this::publish);
        if (qos > 0) {
            begin("is acknowledged", this::readAcknowledgements);
        }
    }

    private Thread begin(String name, Runnable work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException | AssertionError e) {
                        failure = stopping ? failure : e;
                    }
                },
                "flood " + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void publish() {
        long due = System.nanoTime();
        while (!stopping) {
            ByteArrayOutputStream burst = new ByteArrayOutputStream();
            for (int i = 0; i < BURST; i++) {
                int id = (int) ((sent + i) % 65_535) + 1;
                burst.writeBytes(
                        PublishBytes.to(topic).payload(payload).qos(qos, id).toBytes(ProtocolVersion.MQTT_5));
            }
            while (qos > 0 && sent - accepted - refused > WINDOW) {
                if (stopping) {
                    return;
                }
                LockSupport.parkNanos(burstNanos);
            }
            publisher.send(burst.toByteArray());
            sent += BURST;
            due += burstNanos;
            long left = due - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(left);
            } else {
                due = System.nanoTime(); // what the broker did not read in time is not sent later
            }
        }
    }

    private void readAcknowledgements() {
        while (true) {
            ReceivedPacket packet = publisher.receive();
            if (packet == null || packet.type() != MqttMessageType.PUBACK) {
                throw new AssertionError("the flooding publisher got " + packet);
            }
            if (packet.reasonCode() < 0x80) {
                accepted++;
                unmatched += packet.reasonCode() == 0x10 ? 1 : 0;
            } else if (packet.reasonCode() == 0x97) {
                refused++;
            } else {
                throw new AssertionError("the flooding publisher got " + packet);
            }
        }
    }

    /** Publishes to another topic from now on. */
    void to(String other) {
        topic = other;
    }

    /** How many messages were sent. */
    long sent() {
        return sent;
    }

    /** How many were acknowledged, above QoS 0. */
    long accepted() {
        return accepted;
    }

    /** How many of those that were acknowledged nobody wanted, which is 0x10. */
    long unmatched() {
        return unmatched;
    }

    /** How many were refused with 0x97, above QoS 0. */
    long refused() {
        return refused;
    }

    /** What went wrong, if anything did. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Whether nothing is in flight, above QoS 0. */
    boolean isAnswered() {
        return accepted + refused == sent;
    }

    /** Ends the flood; the client stays connected, which is shown by a PINGRESP. */
    void stop() {
        stopping = true;
        try {
            sender.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        if (qos == 0 && failure == null) {
            publisher.ping();
        }
    }

    @Override
    public void close() {
        stopping = true;
        publisher.close();
    }
}
