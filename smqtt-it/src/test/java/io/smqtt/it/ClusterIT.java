// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three real processes of the program as one broker. */
class ClusterIT {

    private static final int NODES = 3;
    private static final int FAILURE_PORT_OFFSET = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    @TempDir
    Path directory;

    private final List<Integer> ports = new ArrayList<>();
    private final List<BrokerProcess> brokers = new ArrayList<>();

    @BeforeEach
    void startNodes() throws IOException {
        List<ServerSocket> taken = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            taken.add(freePair(taken));
        }
        for (ServerSocket socket : taken) {
            ports.add(socket.getLocalPort());
            socket.close();
        }
        for (int i = 0; i < NODES; i++) {
            brokers.add(startNode(i));
        }
        awaitRouteFromEachToEach();
    }

    @AfterEach
    void stopNodes() {
        brokers.forEach(BrokerProcess::close);
    }

    /** A free port whose neighbour for failure detection is free as well. */
    static ServerSocket freePair(List<ServerSocket> taken) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        while (true) {
            ServerSocket first = new ServerSocket(0, 1, loopback);
            int port = first.getLocalPort();
            try (ServerSocket second = new ServerSocket(port + FAILURE_PORT_OFFSET, 1, loopback)) {
                boolean apart = taken.stream()
                        .noneMatch(other -> Math.abs(other.getLocalPort() - port) % FAILURE_PORT_OFFSET < 10);
                if (second.isBound() && apart) {
                    return first;
                }
            } catch (IOException | IllegalArgumentException e) {
                assertThat(port).isPositive(); // the neighbour is not free: another pair
            }
            first.close();
        }
    }

    private BrokerProcess startNode(int index) {
        String seeds = String.join(
                ", ", ports.stream().map(port -> "'127.0.0.1:" + port + "'").toList());
        String yaml = """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    host: 127.0.0.1
                    port: 0
                storage:
                  kind: rocksdb
                limits:
                  max-queued-messages: 1000000
                  max-queued-bytes: 1000000000
                cluster:
                  enabled: true
                  node-id: n%d
                  bind: '127.0.0.1:%d'
                  seeds: [%s]
                  secret: not-a-secret-at-all
                """.formatted(index, ports.get(index), seeds);
        try {
            Path home = Files.createDirectories(directory.resolve("n" + index));
            Path file = Files.writeString(home.resolve("smqtt.yaml"), yaml);
            return BrokerProcess.start(home, List.of(), file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private RawClient client(int node, String clientId) {
        RawClient client = RawClient.to(brokers.get(node).address("tcp"), ProtocolVersion.MQTT_5);
        client.deadline(PATIENCE);
        client.connect(clientId);
        return client;
    }

    /** Nodes that start at the same time may not have found each other when they say that they are ready. */
    private void awaitRouteFromEachToEach() {
        for (int to = 0; to < NODES; to++) {
            try (RawClient subscriber = client(to, "probe-" + to)) {
                subscriber.subscribe("probe/" + to, 0);
                for (int from = 0; from < NODES; from++) {
                    try (RawClient publisher = client(from, "prober-" + from)) {
                        int source = from;
                        String topic = "probe/" + to;
                        await().atMost(PATIENCE).until(() -> {
                            int id = publisher.nextPacketId();
                            publisher.send(PublishBytes.to(topic)
                                    .payload(String.valueOf(source))
                                    .qos(1, id));
                            return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0;
                        });
                    }
                }
            }
        }
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
    void whatWasAcknowledgedReachesAStoredSessionOfANodeThatWasKilled() throws Exception {
        Whereabouts away = new Whereabouts();
        Whereabouts staying = new Whereabouts();
        away.set(brokers.get(0).address("tcp"));
        staying.set(brokers.get(1).address("tcp"));
        List<JournalPublisher> publishers =
                List.of(new JournalPublisher("one", 1, staying), new JournalPublisher("two", 2, staying));
        List<JournalSubscriber> subscribers =
                List.of(new JournalSubscriber("one", "one", 1, away), new JournalSubscriber("two", "two", 2, away));
        subscribers.forEach(Thread::start);
        await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
        try (RawClient probe = client(1, "probe")) {
            publishUntilMatched(probe, "one", "0");
            publishUntilMatched(probe, "two", "0");
        }
        publishers.forEach(Thread::start);
        awaitProgress(publishers);
        away.set(null);
        brokers.get(0).kill9();
        awaitProgress(publishers); // what goes to a node that is gone stops nobody
        for (JournalPublisher publisher : publishers) { // what is parked has a bound
            publisher.lastOne();
            publisher.join(PATIENCE.toMillis());
            assertThat(publisher.failure()).as(publisher.getName()).isNull();
        }
        brokers.get(0).close();
        brokers.set(0, startNode(0));
        away.set(brokers.get(0).address("tcp"));
        for (int i = 0; i < publishers.size(); i++) {
            int count = publishers.get(i).count();
            JournalSubscriber subscriber = subscribers.get(i);
            await().atMost(PATIENCE).until(() -> subscriber.highest() == count - 1 || subscriber.failure() != null);
            subscriber.finish();
        }
        brokers.get(0).kill9();
        for (int i = 0; i < publishers.size(); i++) {
            JournalSubscriber subscriber = subscribers.get(i);
            subscriber.join(PATIENCE.toMillis());
            assertThat(subscriber.failure()).as(subscriber.getName()).isNull();
            List<Integer> distinct = subscriber.received().stream().distinct().toList();
            assertThat(distinct)
                    .isEqualTo(IntStream.range(0, publishers.get(i).count())
                            .boxed()
                            .toList());
        }
    }

    @Test
    void theWillOfAClientOfANodeThatWasKilledIsSeenOnceOnASurvivor() throws Exception {
        try (RawClient subscriber = client(1, "subscriber");
                RawClient prober = client(2, "prober");
                RawClient watched = RawClient.to(brokers.get(0).address("tcp"), ProtocolVersion.MQTT_5)) {
            subscriber.subscribe("wills/#", 1);
            publishUntilMatched(prober, "wills/ready");
            drain(subscriber, "wills/ready");
            watched.deadline(PATIENCE);
            watched.connect(ConnectBytes.of("watched")
                    .will(PublishBytes.to("wills/watched").payload("gone").qos(1)));
            watched.subscribe("wills/known", 0);
            publishUntilMatched(prober, "wills/known"); // so the cluster has heard of the client's node since
            drain(subscriber, "wills/known");
            brokers.get(0).kill9();

            ReceivedPacket will = subscriber.expectPublish("wills/watched", "gone");

            assertThat(will.qos()).isEqualTo(1);
            publishUntilMatched(prober, "wills/last");
            drain(subscriber, "wills/last"); // no second one in between
        }
    }

    private static void awaitProgress(List<JournalPublisher> publishers) {
        for (JournalPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            await().atMost(PATIENCE)
                    .until(() -> publisher.acknowledged() > before + 100 || publisher.failure() != null);
            assertThat(publisher.failure()).as(publisher.getName()).isNull();
        }
    }

    private static void publishUntilMatched(RawClient publisher, String topic) {
        publishUntilMatched(publisher, topic, topic);
    }

    /** Publishes until the route has come to the publisher's node, once from then on. */
    private static void publishUntilMatched(RawClient publisher, String topic, String payload) {
        await().atMost(PATIENCE).until(() -> {
            publisher.send(PublishBytes.to(topic).payload(payload).qos(1, publisher.nextPacketId()));
            return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0;
        });
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
