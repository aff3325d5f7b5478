// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.DISCONNECT;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBCOMP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREC;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.DropReason;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the broker does at its limits. */
@Tag("slow")
class OverloadTest {

    private static final Duration SLOW = Duration.ofSeconds(5);
    private final Counters counters = new Counters();

    @RegisterExtension
    final BrokerExtension broker = new BrokerExtension(
            config -> config.limits(LimitsConfig.builder()
                    .maxOutboundBytes(64 << 10)
                    .slowConsumerTimeout(SLOW)
                    .maxQueuedMessages(10)
                    .maxQueuedBytes(50_000)
                    .maxTotalQueuedBytes(60_000)
                    .build()),
            parts -> parts.observer(counters));

    @RegisterExtension
    final BrokerExtension paced = new BrokerExtension(
            config -> config.limits(LimitsConfig.builder().maxPublishRate(10).build()));

    @RegisterExtension
    final BrokerExtension few = new BrokerExtension(
            config -> config.limits(LimitsConfig.builder()
                    .maxConnections(3)
                    .maxSessionsPerUser(2)
                    .build()),
            parts -> parts.observer(counters));

    @RegisterExtension
    final BrokerExtension forgetful = new BrokerExtension(
            config -> config.limits(LimitsConfig.builder()
                    .maxRetainedMessages(2)
                    .maxRetainedBytes(4_000)
                    .build()),
            parts -> parts.observer(counters));

    @RegisterExtension
    final BrokerExtension wide = new BrokerExtension(config -> config.limits(
            LimitsConfig.builder().maxInFlight(65_535).maxQueuedMessages(100).build()));

    private RawClient away(String id) {
        RawClient client = broker.open(MQTT_5);
        client.connect(ConnectBytes.of(id).persistent(1_000));
        client.subscribe("away/" + id, 1);
        client.disconnect();
        return client;
    }

    private RawClient back(String id) {
        RawClient client = broker.open(MQTT_5);
        client.connect(ConnectBytes.of(id).persistent(1_000));
        return client;
    }

    @Test
    @DisplayName("row 32: QoS 0 to a slow reader is dropped, then the reader is disconnected with 0x97")
    void aSlowReader() {
        RawClient reader = broker.client(MQTT_5, "slow");
        reader.subscribe("slow", 0);
        RawClient other = broker.client(MQTT_5, "other");
        other.subscribe("slow", 0);
        RawClient publisher = broker.client(MQTT_5, "publisher");
        byte[] payload = new byte[30_000];
        int sent = 0;
        while (counters.dropped(DropReason.SLOW_CONSUMER) == 0) {
            publisher.publish(PublishBytes.to("slow").payload(payload));
            other.expect(PUBLISH); // who reads misses nothing
            assertThat(++sent).isLessThan(5_000);
        }
        broker.ticker().advance(SLOW.plusMillis(300));
        await().until(() -> counters.ends().contains(ReasonCode.QUOTA_EXCEEDED));

        ReceivedPacket last = reader.receive();
        while (last != null && last.type() == PUBLISH) {
            last = reader.receive();
        }
        assertThat(last).isNotNull();
        assertThat(last.type()).isEqualTo(DISCONNECT);
        assertThat(last.reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        reader.expectClosed();
        other.expectNothing();
    }

    @Test
    @DisplayName("row 32: a queue is limited by count")
    void aQueueOfManyMessages() {
        away("count");
        RawClient publisher = broker.client(MQTT_5, "publisher");
        for (int i = 1; i <= 15; i++) {
            publisher.publish("away/count", String.valueOf(i), 1);
        }

        await().until(() -> counters.dropped(DropReason.QUEUE_COUNT) == 5);
        RawClient client = back("count");
        for (int i = 1; i <= 10; i++) {
            client.expectPublish("away/count", String.valueOf(i));
        }
        client.expectNothing();
    }

    @Test
    @DisplayName("row 32: a queue is limited by bytes")
    void aQueueOfLargeMessages() {
        away("bytes");
        RawClient publisher = broker.client(MQTT_5, "publisher");
        for (int i = 0; i < 7; i++) {
            publisher.publish(PublishBytes.to("away/bytes").qos(1).payload(new byte[9_000]));
        }

        await().until(() -> counters.dropped(DropReason.QUEUE_BYTES) == 2);
        RawClient client = back("bytes");
        for (int i = 0; i < 5; i++) {
            client.expect(PUBLISH);
        }
        client.expectNothing();
    }

    @Test
    @DisplayName("row 32: who acknowledges nothing keeps a bounded number of bytes in flight")
    void aSlowAcknowledger() {
        RawClient client = broker.client(MQTT_5, "mute");
        client.subscribe("mute", 1);
        RawClient publisher = broker.client(MQTT_5, "publisher");
        for (int i = 0; i < 7; i++) {
            publisher.publish(PublishBytes.to("mute").qos(1).payload(new byte[20_000]));
        }

        int first = client.expect(PUBLISH).packetId();
        client.expect(PUBLISH);
        client.expect(PUBLISH);
        client.expectNothing();
        client.acknowledge(0x40, first);
        client.expect(PUBLISH);
        client.expectNothing();
    }

    @Test
    void publishersAreSlowedWhileQueuesHoldTooMuch() throws IOException {
        away("full-1");
        away("full-2");
        RawClient publisher = broker.client(MQTT_5, "publisher");
        for (int i = 0; i < 8; i++) {
            publisher.publish(PublishBytes.to("away/full-" + (1 + i % 2)).qos(1).payload(new byte[9_000]));
        }
        broker.ticker().advance(Duration.ofMillis(300)); // the loops notice
        publisher.send(PublishBytes.to("nobody").qos(1, 100)).expect(PUBACK);
        publisher.send(PublishBytes.to("nobody").qos(1, 101));
        RawClient idle = broker.client(MQTT_5, "idle");
        for (int i = 0; i < 20; i++) {
            idle.ping(); // who does not publish is not slowed
        }
        assertThat(publisher.socket().getInputStream().available()).isZero();
        broker.ticker().advance(Duration.ofMillis(300));
        publisher.expect(PUBACK);

        back("full-1").expect(PUBLISH); // and nothing was lost
        assertThat(counters.dropped(DropReason.QUEUE_BYTES)).isZero();
    }

    @Test
    void aPublisherAboveItsRateIsNotReadForAWhile() throws IOException {
        RawClient publisher = paced.client(MQTT_3_1_1, "fast");
        ByteArrayOutputStream burst = new ByteArrayOutputStream();
        for (int id = 1; id <= 40; id++) {
            burst.writeBytes(PublishBytes.to("nobody").qos(1, id).toBytes(MQTT_3_1_1));
        }
        publisher.send(burst.toByteArray());
        for (int id = 1; id <= 40; id++) {
            assertThat(publisher.expect(PUBACK).packetId()).isEqualTo(id);
        }
        publisher.send(PublishBytes.to("nobody").qos(1, 41));
        RawClient other = paced.client(MQTT_5, "slow");
        for (int i = 0; i < 20; i++) {
            other.ping();
        }
        assertThat(publisher.socket().getInputStream().available()).isZero();
        paced.ticker().advance(Duration.ofSeconds(5));

        assertThat(publisher.expect(PUBACK).packetId()).isEqualTo(41);
    }

    @Test
    void waitingForItsRateIsNoSilence() {
        RawClient publisher = paced.open(MQTT_5);
        publisher.connect(ConnectBytes.of("fast-alive").keepAlive(2));
        ByteArrayOutputStream burst = new ByteArrayOutputStream();
        for (int id = 1; id <= 100; id++) {
            burst.writeBytes(PublishBytes.to("nobody").qos(1, id).toBytes(MQTT_5));
        }
        publisher.send(burst.toByteArray());
        for (int id = 1; id <= 100; id++) {
            publisher.expect(PUBACK);
        }
        publisher.send((byte) 0xC0, (byte) 0);
        for (int i = 0; i < 6; i++) {
            paced.ticker().advance(Duration.ofSeconds(2));
        }

        publisher.expect(io.netty.handler.codec.mqtt.MqttMessageType.PINGRESP);
    }

    @Test
    @DisplayName("I9: a flooding client does not starve another")
    void aFloodStarvesNobody() throws InterruptedException {
        RawClient flood = broker.client(MQTT_3_1_1, "flood");
        byte[] batch = new byte[64 << 10];
        byte[] publish = PublishBytes.to("nobody").payload("x".repeat(19)).toBytes(MQTT_3_1_1);
        int length = batch.length / publish.length * publish.length;
        for (int at = 0; at < length; at += publish.length) {
            System.arraycopy(publish, 0, batch, at, publish.length);
        }
        byte[] whole = java.util.Arrays.copyOf(batch, length);
        AtomicBoolean served = new AtomicBoolean();
        AtomicInteger batches = new AtomicInteger();
        Thread flooder = new Thread(() -> {
            while (!served.get()) {
                flood.send(whole);
                batches.incrementAndGet();
            }
        });
        flooder.start();
        await().until(() -> batches.get() > 20); // more than the buffers of the sockets hold
        RawClient canary =
                broker.client(MQTT_5, "canary").deadline(Duration.ofSeconds(20)); // the flood has no end before
        try {
            canary.subscribe("canary", 1);
            for (int i = 0; i < 50; i++) {
                canary.send(PublishBytes.to("canary").qos(0).payload("x")).expect(PUBLISH);
            }
        } finally {
            served.set(true);
        }
        flooder.join();
        flood.deadline(Duration.ofMinutes(1)).ping(); // behind all that is in the buffers of the sockets

        assertThat(counters.received()).isEqualTo(batches.get() * (long) (length / publish.length) + 50);
    }

    @Test
    @DisplayName("row 35: more connections than allowed are closed at once")
    void tooManyConnections() {
        RawClient first = few.open(MQTT_5);
        RawClient second = few.open(MQTT_5);
        RawClient third = few.client(MQTT_5, "third");
        few.open(MQTT_5).expectClosed();
        assertThat(counters.connectionsRefused("limits.max-connections")).isEqualTo(1);
        third.ping();
        first.close();
        second.close();

        await().untilAsserted(() -> {
            try (RawClient next = RawClient.to(few.address(), MQTT_5)) {
                next.connect("next");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @DisplayName(
            "row 33: past the limits of retained messages new ones are refused, old ones can be replaced and cleared")
    void tooManyRetainedMessages(int qos) {
        RawClient client = forgetful.client(MQTT_5, "c");
        assertThat(retain(client, "a", "1", qos)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS);
        assertThat(retain(client, "b", "1", qos)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS);
        assertThat(retain(client, "c", "1", qos)).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(retain(client, "b", "2", qos)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS);
        assertThat(retain(client, "a", "", qos)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS);
        assertThat(retain(client, "c", "x".repeat(5_000), qos)).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        assertThat(retain(client, "c", "3", qos)).isEqualTo(ReasonCode.NO_MATCHING_SUBSCRIBERS);

        RawClient reader = forgetful.client(MQTT_5, "reader");
        reader.subscribe("#", 0);
        List<String> kept = new ArrayList<>();
        reader.expectNothingBut(packet -> kept.add(packet.topic() + packet.text()));
        assertThat(kept).containsExactlyInAnyOrder("b2", "c3");
    }

    private static @Nullable ReasonCode retain(RawClient client, String topic, String payload, int qos) {
        int packetId = client.nextPacketId();
        client.send(PublishBytes.to(topic).payload(payload).qos(qos, packetId).retained());
        ReasonCode reason = client.expect(qos == 1 ? PUBACK : PUBREC).reason();
        if (qos == 2 && reason != null && !reason.isError()) {
            client.acknowledge(0x62, packetId).expect(PUBCOMP);
        }
        return reason;
    }

    @Test
    @DisplayName("row 34: the oldest session without a connection makes room, a connected one does not")
    void tooManySessionsOfOneUser() {
        for (String id : new String[] {"one", "two"}) {
            RawClient client = few.open(MQTT_5);
            client.connect(ConnectBytes.of(id).persistent(1_000));
            client.disconnect();
        }
        RawClient three = few.open(MQTT_5);
        three.connect(ConnectBytes.of("three").persistent(1_000));
        RawClient two = few.open(MQTT_5);
        assertThat(two.connect(ConnectBytes.of("two").persistent(1_000)).sessionPresent())
                .isTrue();

        RawClient one = few.open(MQTT_5);
        ReceivedPacket refusal = one.send(ConnectBytes.of("one")).expect(CONNACK);
        assertThat(refusal.reason()).isEqualTo(ReasonCode.QUOTA_EXCEEDED);
        one.expectClosed();
        three.ping();
        two.ping();
    }

    @Test
    @DisplayName("row 74: with all packet identifiers in use messages wait, and none is used twice")
    void packetIdentifiersAreExhausted() { // [MQTT-2.2.1-4]
        RawClient client = wide.client(MQTT_3_1_1, "forgetful");
        client.subscribe("many", 1);
        RawClient publisher = wide.client(MQTT_3_1_1, "publisher");
        BitSet used = new BitSet();
        int round = 1_000;
        for (int sent = 0; sent < 66_000; sent += round) {
            ByteArrayOutputStream batch = new ByteArrayOutputStream();
            for (int i = 0; i < round; i++) {
                batch.writeBytes(PublishBytes.to("many").qos(1, i + 1).toBytes(MQTT_3_1_1));
            }
            publisher.send(batch.toByteArray());
            for (int i = 0; i < round; i++) {
                publisher.expect(PUBACK);
                if (used.cardinality() < 65_535) {
                    int id = client.expect(PUBLISH).packetId();
                    assertThat(used.get(id)).isFalse();
                    used.set(id);
                }
            }
        }
        client.expectNothing();
        client.acknowledge(0x40, 1);
        assertThat(client.expect(PUBLISH).packetId()).isEqualTo(1);
        client.expectNothing();
    }
}
