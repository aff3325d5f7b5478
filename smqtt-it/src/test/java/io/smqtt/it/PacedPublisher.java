// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Publishes numbers at QoS 1 or 2, one every few milliseconds, each when the one before is acknowledged, on a thread of its own. When its
 * connection ends it comes back at once, with a clean session, and sends what was not acknowledged again.
 */
final class PacedPublisher extends Thread {

    private static final Duration RETRY = Duration.ofMillis(50);

    private final String topic;
    private final int qos;
    private final InetSocketAddress broker;
    private final long everyNanos;
    private volatile boolean stopping;
    private volatile int acknowledged;
    private volatile int reconnects;
    private final AtomicLong longestNanos = new AtomicLong();
    private volatile @Nullable Throwable failure;

    PacedPublisher(String topic, InetSocketAddress broker, Duration every) {
        this(topic, 1, broker, every);
    }

    PacedPublisher(String topic, int qos, InetSocketAddress broker, Duration every) {
        super("publisher-" + topic);
        this.topic = topic;
        this.qos = qos;
        this.broker = broker;
        this.everyNanos = every.toNanos();
        setDaemon(true);
    }

    String topic() {
        return topic;
    }

    /** How many were acknowledged, all below this number. */
    int acknowledged() {
        return acknowledged;
    }

    /** How often it lost its connection. */
    int reconnects() {
        return reconnects;
    }

    /** The longest time that an acknowledgement took, reconnects included. */
    Duration longest() {
        return Duration.ofNanos(longestNanos.get());
    }

    /** The same, since the last call of this method. */
    Duration takeLongest() {
        return Duration.ofNanos(longestNanos.getAndSet(0));
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Publishes no more, and waits for the last acknowledgement. */
    void finish() {
        stopping = true;
        try {
            join(ClusterNetwork.PATIENCE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        long began = System.nanoTime();
        while (!stopping) {
            try (RawClient client = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(ClusterNetwork.PATIENCE)) {
                ReceivedPacket answer = client.send(ConnectBytes.of(getName())).receive();
                if (answer != null && answer.type() == MqttMessageType.CONNACK && answer.reasonCode() == 0) {
                    began = publish(client, began);
                }
            } catch (UncheckedIOException e) {
                LockSupport.parkNanos(RETRY.toNanos());
            } catch (RuntimeException | AssertionError e) {
                failure = e;
                return;
            }
            reconnects += stopping ? 0 : 1;
        }
    }

    /** Returns since when the next acknowledgement is waited for. */
    private long publish(RawClient client, long since) {
        long began = since;
        while (!stopping) {
            int id = client.nextPacketId();
            client.send(
                    PublishBytes.to(topic).payload(String.valueOf(acknowledged)).qos(qos, id));
            if (!isAnswered(client, qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC)) {
                return began;
            }
            long took = System.nanoTime() - began;
            longestNanos.accumulateAndGet(took, Math::max);
            if (qos == 2) {
                client.acknowledge(0x62, id);
                if (!isAnswered(client, MqttMessageType.PUBCOMP)) {
                    return began;
                }
            }
            acknowledged++;
            LockSupport.parkNanos(everyNanos - took);
            began = System.nanoTime();
        }
        return began;
    }

    private static boolean isAnswered(RawClient client, MqttMessageType expected) {
        ReceivedPacket answer = client.receive();
        if (answer == null || answer.type() == MqttMessageType.DISCONNECT) {
            return false;
        }
        if (answer.type() != expected || answer.reasonCode() >= 0x80) {
            throw new AssertionError("refused: " + answer);
        }
        return true;
    }
}
