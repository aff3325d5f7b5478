// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * QoS 1 messages at a steady rate from a client of one node to a client of another, whose delays are measured. A message has its time to
 * leave, whatever became of the one before; its delay counts from that time.
 */
final class SteadyLoad implements AutoCloseable {

    private static final int MOST = 1_000_000;
    private static final String TOPIC = "steady";

    private final RawClient publisher;
    private final RawClient subscriber;
    private final long paceNanos;
    private final AtomicLongArray dueAt = new AtomicLongArray(MOST);
    private final AtomicLongArray arrivedAt = new AtomicLongArray(MOST);
    private volatile int sent;
    private volatile int acknowledged;
    private volatile int arrived;
    private volatile int repeated;
    private volatile boolean stopping;
    private volatile @Nullable Throwable failure;

    /** Connects both clients, subscribes, and publishes nothing yet. */
    SteadyLoad(InetSocketAddress from, InetSocketAddress to, Duration pace, Duration patience) {
        paceNanos = pace.toNanos();
        subscriber = RawClient.to(to, ProtocolVersion.MQTT_5).deadline(patience);
        subscriber.connect("steady-subscriber");
        subscriber.subscribe(TOPIC, 1);
        publisher = RawClient.to(from, ProtocolVersion.MQTT_5).deadline(patience);
        publisher.connect("steady-publisher");
    }

    /** Begins to publish. */
    void begin() {
        begin("publishes", this::publish);
        begin("is acknowledged", this::readAcknowledgements);
        begin("receives", this::receive);
    }

    private void begin(String name, Runnable work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException | AssertionError e) {
                        failure = stopping ? failure : e;
                    }
                },
                "steady load " + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void publish() {
        long first = System.nanoTime();
        while (!stopping && sent < MOST) {
            long due = first + sent * paceNanos;
            for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            dueAt.set(sent, due);
            publisher.send(PublishBytes.to(TOPIC).payload(String.valueOf(sent)).qos(1, sent % 65_535 + 1));
            sent++;
        }
    }

    private void readAcknowledgements() {
        while (true) {
            ReceivedPacket packet = publisher.receive();
            if (packet == null || packet.type() != MqttMessageType.PUBACK || packet.reasonCode() != 0) {
                throw new AssertionError("the steady publisher got " + packet);
            }
            acknowledged++;
        }
    }

    private void receive() {
        while (true) {
            ReceivedPacket packet = subscriber.expect(MqttMessageType.PUBLISH);
            int number = Integer.parseInt(packet.text());
            if (!arrivedAt.compareAndSet(number, 0, System.nanoTime())) {
                repeated++;
            }
            arrived++;
            subscriber.pubAck(packet);
        }
    }

    /** How many messages were sent so far. */
    int sent() {
        return sent;
    }

    /** Whether all that was sent was acknowledged and has arrived, once. */
    boolean isComplete() {
        return acknowledged == sent && arrived == sent && repeated == 0;
    }

    /** Sends no more. */
    void stop() {
        stopping = true;
    }

    /** What went wrong, if anything did. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    /** The sorted delays of messages from one number to another, in nanoseconds; of one that has not arrived, the time until now. */
    long[] delays(int from, int to) {
        long[] delays = new long[to - from];
        long now = System.nanoTime();
        for (int i = from; i < to; i++) {
            long at = arrivedAt.get(i);
            delays[i - from] = (at == 0 ? now : at) - dueAt.get(i);
        }
        Arrays.sort(delays);
        return delays;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%d sent, %d acknowledged, %d arrived, of them %d again",
                sent,
                acknowledged,
                arrived,
                repeated);
    }

    @Override
    public void close() {
        stopping = true;
        publisher.close();
        subscriber.close();
    }
}
