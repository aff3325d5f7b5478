// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerModule;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PayloadMemory;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** Payloads that are delivered from the network buffer, by sockets and between event loops. */
class LargePayloadTest {

    private static final int COUNT = 60;

    private final MemoryProbe memory = new MemoryProbe();
    private final MemoryProbe littleMemory = new MemoryProbe();

    @RegisterExtension
    private final BrokerExtension broker =
            new BrokerExtension(config -> config.eventLoops(3), parts -> parts.module(memory));

    @RegisterExtension
    private final BrokerExtension little = new BrokerExtension(
            config -> config.eventLoops(2)
                    .limits(LimitsConfig.builder()
                            .maxDirectPayloadBytes(100_000)
                            .build()),
            parts -> parts.module(littleMemory));

    /** Sees the broker's account of network buffers. */
    private static final class MemoryProbe implements BrokerModule {

        private @Nullable PayloadMemory payloads;

        @Override
        public Mono<Void> start(Core core) {
            payloads = core.payloads();
            return Mono.empty();
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }

        long bytes() {
            return Objects.requireNonNull(payloads).bytes();
        }

        void expectReleased() {
            await().untilAsserted(() -> assertThat(bytes()).isZero());
        }
    }

    private static String text(int number) {
        return (char) ('a' + number % 26) + "-" + number + "-".repeat(1_000 + number % 20 * 1_000);
    }

    private static void publishAll(RawClient publisher) {
        for (int i = 0; i < COUNT; i++) {
            publisher.send(PacketBytes.fields()
                    .bytes(PublishBytes.to("a").qos(1, i + 1).payload(text(i)).toBytes(ProtocolVersion.MQTT_5)));
        }
        for (int i = 0; i < COUNT; i++) {
            assertThat(publisher.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(i + 1);
        }
    }

    private static List<Integer> expectAll(RawClient client) {
        List<Integer> packetIds = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            packetIds.add(client.expectPublish("a", text(i)).packetId());
        }
        return packetIds;
    }

    private static void acknowledge(RawClient client, List<Integer> packetIds) {
        packetIds.forEach(packetId -> client.acknowledge(0x40, packetId));
    }

    @Test
    void everySubscriberGetsTheSameBytesAndTheBuffersAreReleased() {
        ConcurrentLinkedQueue<ApplicationMessage> kept = new ConcurrentLinkedQueue<>();
        broker.broker().subscribe("a").subscribe(kept::add);
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 6; i++) { // on all event loops, at QoS 0 and 1
            RawClient client = broker.client(ProtocolVersion.MQTT_5, "c" + i);
            client.subscribe(i < 5 ? "a" : "$share/g/a", i % 2);
            clients.add(client);
        }
        publishAll(broker.client(ProtocolVersion.MQTT_5, "p"));
        for (int c = 0; c < clients.size(); c++) {
            List<Integer> packetIds = expectAll(clients.get(c));
            if (c % 2 == 1) {
                acknowledge(clients.get(c), packetIds);
            }
        }
        memory.expectReleased();
        await().untilAsserted(() -> assertThat(kept).hasSize(COUNT));
        int next = 0;
        for (ApplicationMessage message : kept) {
            assertThat(message.payload().asString()).isEqualTo(text(next++));
        }
    }

    @Test
    void clientsThatGoWithoutAcknowledgingReleaseTheBuffers() {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            RawClient client = broker.client(ProtocolVersion.MQTT_5, "c" + i);
            client.subscribe("a", 1 + i % 2);
            clients.add(client);
        }
        publishAll(broker.client(ProtocolVersion.MQTT_5, "p"));
        for (RawClient client : clients) {
            client.expectPublish("a", text(0));
            assertThat(memory.bytes()).isPositive();
            client.abort();
        }
        memory.expectReleased();
    }

    /** Packets of up to eight reads, small ones between them. */
    @Test
    void packetsLongerThanAReadArriveWhole() {
        RawClient subscriber = broker.client(ProtocolVersion.MQTT_5, "s");
        subscriber.subscribe("a", 0);
        RawClient publisher = broker.client(ProtocolVersion.MQTT_5, "p");
        int[] sizes = {65_520, 65_536, 70_000, 10, 200_000, 131_060, 5, 524_288, 4_096, 600_000, 65_536};
        for (int i = 0;
                i < 4 * sizes.length;
                i += 2) { // two at a time, so that none is dropped because the client does not read
            publish(publisher, text(i, sizes));
            publish(publisher, text(i + 1, sizes));
            subscriber.expectPublish("a", text(i, sizes));
            subscriber.expectPublish("a", text(i + 1, sizes));
        }
        memory.expectReleased();
    }

    private static void publish(RawClient publisher, String payload) {
        publisher.send(PacketBytes.fields()
                .bytes(PublishBytes.to("a").qos(0, 0).payload(payload).toBytes(ProtocolVersion.MQTT_5)));
    }

    private static String text(int number, int[] sizes) {
        return String.valueOf((char) ('a' + number % 26)).repeat(sizes[number % sizes.length]);
    }

    @Test
    void aboveTheLimitNothingIsLost() {
        RawClient subscriber = little.client(ProtocolVersion.MQTT_5, "s");
        subscriber.subscribe("a", 1);
        publishAll(little.client(ProtocolVersion.MQTT_5, "p"));
        assertThat(littleMemory.bytes()).isBetween(1L, 100_000L);
        acknowledge(subscriber, expectAll(subscriber));
        littleMemory.expectReleased();
    }
}
