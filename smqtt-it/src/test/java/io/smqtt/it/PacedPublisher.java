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
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Publishes numbers at QoS 1, one every few milliseconds, each when the one before is acknowledged, on a thread of its own. When its
 * connection ends it comes back at once, with a clean session, and sends what was not acknowledged again.
 */
final class PacedPublisher extends Thread {

    private static final Duration RETRY = Duration.ofMillis(50);

    private final String topic;
    private final InetSocketAddress broker;
    private final long everyNanos;
    private volatile boolean stopping;
    private volatile int acknowledged;
    private volatile int reconnects;
    private volatile long longestNanos;
    private volatile @Nullable Throwable failure;

    PacedPublisher(String topic, InetSocketAddress broker, Duration every) {
        super("publisher-" + topic);
        this.topic = topic;
        this.broker = broker;
        this.everyNanos = every.toNanos();
        setDaemon(true);
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
        return Duration.ofNanos(longestNanos);
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
            client.send(
                    PublishBytes.to(topic).payload(String.valueOf(acknowledged)).qos(1, client.nextPacketId()));
            ReceivedPacket answer = client.receive();
            if (answer == null || answer.type() == MqttMessageType.DISCONNECT) {
                return began;
            }
            if (answer.type() != MqttMessageType.PUBACK || answer.reasonCode() >= 0x80) {
                throw new AssertionError("refused: " + answer);
            }
            long took = System.nanoTime() - began;
            longestNanos = Math.max(longestNanos, took);
            acknowledged++;
            LockSupport.parkNanos(everyNanos - took);
            began = System.nanoTime();
        }
        return began;
    }
}
