// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The broker is killed with 100,000 delayed messages, and started again: a subscriber gets each of them once, in the order of their time. */
class DelayedProof {

    private static final int COUNT = Integer.getInteger("smqtt.delayed.count", 100_000);
    private static final int PUBLISHERS = 10;
    private static final int AT_ONCE = 500;
    private static final int FIRST_SECONDS = 60;
    private static final int SECOND_SECONDS = 120;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    @Test
    void eachMessageComesOnceInTheOrderOfItsTime() throws Exception {
        long beganNanos = System.nanoTime();
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            beganNanos = System.nanoTime();
            publishAll(broker.address("tcp"));
            System.out.printf("%d messages were acknowledged after %d ms%n", COUNT, sinceMillis(beganNanos));
            broker.kill9();
        }
        long killedNanos = System.nanoTime();
        try (BrokerProcess broker = StoredBroker.start(directory);
                RawClient subscriber = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)
                        .deadline(PATIENCE)) {
            System.out.printf("ready %d ms after the kill%n", sinceMillis(killedNanos));
            subscriber.connect("subscriber");
            subscriber.subscribe("due/#", 1);
            take(subscriber, beganNanos);
            subscriber.expectNothing();
        }
    }

    private static void publishAll(InetSocketAddress address) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(PUBLISHERS);
        try {
            List<Callable<Void>> all = new ArrayList<>();
            for (int i = 0; i < PUBLISHERS; i++) {
                String name = "p" + i;
                all.add(() -> publish(address, name));
            }
            for (Future<Void> done : threads.invokeAll(all)) {
                done.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Publishes half of the messages of a publisher with the longer delay first, and then the others. */
    private static Void publish(InetSocketAddress address, String name) {
        int count = COUNT / PUBLISHERS;
        try (RawClient client = RawClient.to(address, ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            client.connect(name);
            for (int i = 0; i < count; i += AT_ONCE) {
                ByteArrayOutputStream packets = new ByteArrayOutputStream();
                int end = Math.min(count, i + AT_ONCE);
                for (int number = i; number < end; number++) {
                    int seconds = number < count / 2 ? SECOND_SECONDS : FIRST_SECONDS;
                    packets.writeBytes(PublishBytes.to("$delayed/" + seconds + "/due/" + name)
                            .payload(String.valueOf(number))
                            .qos(1, number - i + 1)
                            .toBytes(ProtocolVersion.MQTT_5));
                }
                client.send(packets.toByteArray());
                for (int number = i; number < end; number++) {
                    assertThat(client.expect(MqttMessageType.PUBACK).reasonCode())
                            .isLessThan(0x80);
                }
            }
        }
        return null;
    }

    private static void take(RawClient subscriber, long beganNanos) {
        Map<String, Integer> next = new HashMap<>();
        int half = COUNT / PUBLISHERS / 2;
        long firstMillis = 0;
        for (int taken = 0; taken < COUNT; taken++) {
            ReceivedPacket packet = subscriber.expect(MqttMessageType.PUBLISH);
            subscriber.pubAck(packet);
            if (taken == 0) {
                firstMillis = sinceMillis(beganNanos);
                assertThat(firstMillis)
                        .isGreaterThanOrEqualTo(
                                Duration.ofSeconds(FIRST_SECONDS).toMillis());
            }
            int expected = next.getOrDefault(packet.topic(), half); // those of the second half are due first
            assertThat(packet.text()).as(packet.topic()).isEqualTo(String.valueOf(expected));
            next.put(packet.topic(), expected + 1 == 2 * half ? 0 : expected + 1);
        }
        assertThat(next).hasSize(PUBLISHERS);
        System.out.printf(
                "the first one came %d ms, the last one %d ms after the first was published%n",
                firstMillis, sinceMillis(beganNanos));
    }

    private static long sinceMillis(long beganNanos) {
        return Duration.ofNanos(System.nanoTime() - beganNanos).toMillis();
    }
}
