// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.PropertyId;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients of three real processes of the program that are one broker from the first test to the last. */
class ClusterClientsIT {

    private static final int NODES = 3;
    private static final int RACERS = 150;
    private static final int RACE_MESSAGES = 50;
    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;

    private static LoopbackCluster nodes;

    @BeforeAll
    static void startNodes(@TempDir Path directory) {
        nodes = LoopbackCluster.start(directory, NODES);
    }

    @AfterAll
    static void stopNodes() {
        if (nodes != null) {
            nodes.close();
        }
    }

    private RawClient client(int node, String clientId) {
        return nodes.client(node, clientId);
    }

    @Test
    void subscribersOfOneNodeGetWhatClientsOfAnotherPublish() {
        try (RawClient subscriber = client(0, "subscriber");
                RawClient publisher = client(1, "publisher")) {
            subscriber.subscribe("a/+", 2);
            subscriber.subscribe("a/#", 1); // overlaps: still one delivery
            publishUntilMatched(publisher, "a/ready");
            drain(subscriber, "a/ready");
            byte[] correlation = {1, 2, 3};
            PublishBytes message = PublishBytes.to("a/b").payload("all of it").qos(1, publisher.nextPacketId());
            message.properties()
                    .messageExpiry(1_000)
                    .responseTopic("answers")
                    .correlationData(correlation)
                    .user("key", "value");
            publisher.send(message);
            publisher.expect(MqttMessageType.PUBACK);
            ReceivedPacket received = subscriber.expectPublish("a/b", "all of it");
            assertThat(received.property(PropertyId.RESPONSE_TOPIC)).isEqualTo("answers");
            assertThat(received.property(PropertyId.CORRELATION_DATA)).isEqualTo(correlation);
            assertThat(received.userProperties()).hasSize(1);
            assertThat(received.number(PropertyId.MESSAGE_EXPIRY_INTERVAL)).isBetween(900L, 1_000L);
            publisher.publish("a/zero", "0", 0);
            subscriber.expectPublish("a/zero", "0");
            publisher.publish("a/two", "2", 2);
            subscriber.expectPublish("a/two", "2");
        }
    }

    @Test
    void aSecondProcessWithTheNameOfANodeIsRefusedAndTheNodeGoesOn() {
        try (RawClient subscriber = client(0, "subscriber");
                RawClient publisher = client(1, "publisher")) {
            subscriber.subscribe("named/#", 1);
            publishUntilMatched(publisher, "named/before");
            drain(subscriber, "named/before");

            try (CapturedProcess second = nodes.namesake(0, LoopbackPorts.one())) {
                assertThat(second.awaitExit(PATIENCE)).isEqualTo(3);
                assertThat(second.report()).contains("cluster.node-id: n0").contains("127.0.0.1:" + nodes.port(0));
            }

            publisher.publish("named/after", "hello", 1);
            subscriber.expectPublish("named/after", "hello");
        }
    }

    @Test
    void aSharedMessageGoesToOneMemberInTheWholeCluster() {
        try (RawClient first = client(0, "first");
                RawClient second = client(2, "second");
                RawClient publisher = client(1, "publisher")) {
            first.subscribe("$share/group/jobs/#", 1);
            second.subscribe("$share/group/jobs/#", 1);
            List<String> received = new ArrayList<>();
            List<String> sent = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                publishUntilMatched(publisher, "jobs/" + i);
                sent.add("jobs/" + i);
            }
            publisher.publish("jobs/end", "end", 1);
            collect(first, received);
            collect(second, received);
            assertThat(received)
                    .filteredOn(topic -> !topic.equals("jobs/end"))
                    .containsExactlyInAnyOrderElementsOf(sent);
        }
    }

    @Test
    void oneOfManyRacingConnectsStaysAndHasTheSession() {
        try (RawClient first = nodes.stored(0, "racer");
                RawClient publisher = client(1, "publisher")) {
            first.subscribe("race/#", 1);
            first.disconnect();
            for (int i = 0; i < RACE_MESSAGES; i++) {
                publishUntilMatched(publisher, "race/" + i);
            }
            CountDownLatch start = new CountDownLatch(1);
            List<Racer> racers = IntStream.range(0, RACERS)
                    .mapToObj(i -> new Racer(nodes.open(i % NODES), start))
                    .toList();
            racers.forEach(Thread::start);
            start.countDown();
            try {
                await().atMost(PATIENCE)
                        .until(() -> racers.stream().noneMatch(Racer::isConnecting)
                                && racers.stream().filter(Racer::isConnected).count() == 1);
                assertThat(racers)
                        .as("who was let in found the session")
                        .allSatisfy(racer -> assertThat(racer.foundSession()).isEqualTo(racer.wasLetIn()));
                awaitOneOwner(racers);
                publishUntilMatched(publisher, "race/last");
                await().atMost(PATIENCE).until(() -> count(racers, "race/last") == 1);
                Set<String> all = new HashSet<>();
                racers.forEach(racer -> all.addAll(racer.topics()));
                assertThat(all)
                        .as("queued messages, each for one of those that had the session")
                        .hasSize(RACE_MESSAGES + 1);
                assertThat(racers.stream().filter(Racer::isConnected)).hasSize(1);
            } finally {
                racers.forEach(Racer::close);
            }
        }
    }

    /** The racers' session and its route are where the connection is, and on no other node. */
    private void awaitOneOwner(List<Racer> racers) {
        int owner = IntStream.range(0, RACERS)
                        .filter(i -> racers.get(i).isConnected())
                        .findFirst()
                        .orElseThrow()
                % NODES;
        await().atMost(PATIENCE).untilAsserted(() -> {
            for (int node = 0; node < NODES; node++) {
                int publishers = node == 1 ? 1 : 0;
                int own = node == owner ? 1 : 0;
                assertThat(nodes.sessions(node)).as("sessions of n" + node).isEqualTo(own + publishers);
                assertThat(nodes.view(node).routes()).as("routes of n" + node).isEqualTo(own);
                if (node != owner) {
                    assertThat(nodes.view(node).peer("n" + owner).routes())
                            .as("routes of the owner on n" + node)
                            .isEqualTo(1);
                }
            }
        });
    }

    private static long count(List<Racer> racers, String topic) {
        return racers.stream()
                .flatMap(racer -> racer.topics().stream())
                .filter(topic::equals)
                .count();
    }

    /** One of those that connect with the same client identifier at the same time. */
    private static final class Racer extends Thread {

        private final RawClient client;
        private final CountDownLatch start;
        private final List<String> topics = new CopyOnWriteArrayList<>();
        private volatile boolean connecting = true;
        private volatile boolean letIn;
        private volatile boolean found;
        private volatile boolean ended;

        Racer(RawClient client, CountDownLatch start) {
            this.start = start;
            this.client = client.deadline(PATIENCE.multipliedBy(2));
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                start.await();
                client.send(LoopbackCluster.storedConnect("racer"));
                ReceivedPacket next = client.receive();
                if (next != null && next.type() == MqttMessageType.CONNACK && next.reasonCode() == 0) {
                    letIn = true;
                    found = next.sessionPresent();
                }
                connecting = false;
                while (next != null) {
                    if (next.type() == MqttMessageType.PUBLISH) {
                        topics.add(next.topic());
                        client.acknowledge(0x40, next.packetId());
                    }
                    next = client.receive();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (UncheckedIOException e) { // ended while it acknowledged
                assertThat(e).isNotNull();
            } finally {
                connecting = false;
                ended = true;
            }
        }

        boolean isConnecting() {
            return connecting;
        }

        boolean isConnected() {
            return letIn && !ended;
        }

        boolean wasLetIn() {
            return letIn;
        }

        boolean foundSession() {
            return found;
        }

        List<String> topics() {
            return topics;
        }

        void close() {
            client.close();
        }
    }

    private static void publishUntilMatched(RawClient publisher, String topic) {
        LoopbackCluster.publishUntilMatched(publisher, topic, topic);
    }

    private static void drain(RawClient subscriber, String topic) {
        subscriber.expectPublish(topic, topic);
    }

    private static void collect(RawClient subscriber, List<String> into) {
        subscriber.expectNothingBut(packet -> {
            into.add(packet.topic());
            subscriber.acknowledge(0x40, packet.packetId());
        });
    }
}
