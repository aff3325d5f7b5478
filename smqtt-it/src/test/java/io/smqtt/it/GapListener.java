// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A subscriber without a session that lasts, which comes back at once after each end of its connection and notes the longest time without
 * a message, on a thread of its own. It asks for QoS 1 and takes what comes.
 */
final class GapListener extends Thread {

    private static final Duration RETRY = Duration.ofMillis(50);

    private final String topic;
    private final InetSocketAddress broker;
    private volatile boolean stopping;
    private volatile int received;
    private volatile int reconnects;
    private volatile long longestNanos;
    private volatile @Nullable Throwable failure;
    private long lastNanos;

    GapListener(String topic, InetSocketAddress broker) {
        super("listener-" + topic);
        this.topic = topic;
        this.broker = broker;
        setDaemon(true);
    }

    /** How many messages came. */
    int received() {
        return received;
    }

    /** How often it lost its connection. */
    int reconnects() {
        return reconnects;
    }

    /** The longest time between two messages, since the first. */
    Duration longest() {
        return Duration.ofNanos(longestNanos);
    }

    @Nullable
    Throwable failure() {
        return failure;
    }

    /** Ends it with its next message or the end of its connection. */
    void finish() {
        stopping = true;
    }

    @Override
    public void run() {
        while (!stopping) {
            try (RawClient client = RawClient.to(broker, ProtocolVersion.MQTT_5).deadline(ClusterNetwork.PATIENCE)) {
                client.connect(getName());
                client.subscribe(topic, 1);
                listen(client);
            } catch (UncheckedIOException | AssertionError e) { // sent away while it came in
                LockSupport.parkNanos(RETRY.toNanos());
            } catch (RuntimeException e) {
                failure = e;
                return;
            }
            reconnects += stopping ? 0 : 1;
        }
    }

    private void listen(RawClient client) {
        while (!stopping) {
            ReceivedPacket packet = client.receive();
            if (packet == null || packet.type() == MqttMessageType.DISCONNECT) {
                return;
            }
            if (packet.type() == MqttMessageType.PUBLISH) {
                note();
                if (packet.qos() == 1) {
                    client.acknowledge(0x40, packet.packetId());
                }
            }
        }
    }

    private void note() {
        long now = System.nanoTime();
        if (received > 0) {
            longestNanos = Math.max(longestNanos, now - lastNanos);
        }
        lastNanos = now;
        received++;
    }
}
