// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three real processes of the program as one broker. */
class ClusterIT {

    private static final int NODES = 3;
    private static final int RACERS = 150;
    private static final int RACE_MESSAGES = 50;
    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;

    @TempDir
    Path directory;

    private LoopbackCluster nodes;

    @BeforeEach
    void startNodes() throws IOException {
        nodes = LoopbackCluster.start(directory, NODES);
    }

    @AfterEach
    void stopNodes() {
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
    void aNameIsFreeAgainWhenTheOthersHaveNoticedThatItsNodeIsFrozen() throws Exception {
        signal("STOP", 0);
        try (CapturedProcess second = nodes.namesake(0, LoopbackPorts.one())) {
            second.awaitLine("saying that it started", line -> line.contains("smqtt started in"), PATIENCE);
            await().atMost(PATIENCE).until(() -> nodes.view(1).peer("n0").reachable());
            signal("CONT", 0);

            // one of the two stays, the one that was there first
            second.awaitLine("giving way", line -> line.contains("leaving the cluster;"), PATIENCE);
            try (RawClient subscriber = client(0, "subscriber");
                    RawClient publisher = client(1, "publisher")) {
                await().atMost(PATIENCE).until(() -> nodes.view(1).peer("n0").reachable());
                subscriber.subscribe("thawed/#", 1);
                publishUntilMatched(publisher, "thawed/after");
                drain(subscriber, "thawed/after");
            }
        } finally {
            signal("CONT", 0);
        }
    }

    private void signal(String name, int node) throws IOException, InterruptedException {
        long pid = nodes.broker(node).handle().pid();
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .start()
                        .waitFor())
                .isZero();
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

    @Test
    void theCommandShowsTheNodes() {
        try (RawClient subscriber = client(0, "subscriber")) {
            for (int i = 0; i < 5; i++) {
                subscriber.subscribe(i == 0 ? "$share/group/shown/0" : "shown/" + i, 0);
            }
            await().atMost(PATIENCE).untilAsserted(() -> {
                List<String> lines = cluster(1);
                assertThat(lines).anySatisfy(line -> assertThat(line).matches("n1 +joined \\(this\\) .*"));
                assertThat(lines)
                        .anySatisfy(line -> assertThat(line)
                                .matches("n0 +reachable +full +\\S+ +127\\.0\\.0\\.1:" + nodes.port(0)
                                        + " +1 +5 +0 +0 +0 +.* s ago"));
                assertThat(lines)
                        .anySatisfy(line -> assertThat(line).matches("n2 +reachable +.* +1 +0 +0 +0 +0 +.* s ago"));
                assertThat(lines).contains("ready: yes, 3 of 3 nodes together");
                assertThat(lines)
                        .anySatisfy(line -> assertThat(line)
                                .matches("routes: \\d+ pulls, 0 repairs; malformed frames: 0; refused connections: 0"));
            });
            assertThat(nodes.metric(0, "smqtt_subscriptions_active")).isEqualTo(5);
            assertThat(nodes.metric(0, "smqtt_subscriptions_groups")).isEqualTo(1);
            assertThat(nodes.metric(1, "smqtt_subscriptions_active"))
                    .as("another node's routes are not counted")
                    .isZero();
            assertThat(nodes.metric(1, "smqtt_subscriptions_groups")).isZero();
        }
        nodes.broker(2).kill9();
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(cluster(1))
                        .anySatisfy(line -> assertThat(line).matches("n2 +gone .*")));
    }

    /** What the command prints that asks a node. */
    private List<String> cluster(int node) {
        String url = "http://127.0.0.1:" + nodes.broker(node).port("management");
        String token = "n" + node + "/data/management.token";
        try (CapturedProcess command =
                BrokerProcess.run(directory, "ctl", "cluster", "--url", url, "--token-file", token)) {
            assertThat(command.awaitExit(PATIENCE)).as(command.report()).isZero();
            return command.output();
        }
    }

    @Test
    void whatWasAcknowledgedReachesAStoredSessionOfANodeThatWasKilled() throws Exception {
        Whereabouts away = new Whereabouts();
        Whereabouts staying = new Whereabouts();
        away.set(nodes.broker(0).address("tcp"));
        staying.set(nodes.broker(1).address("tcp"));
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
        nodes.broker(0).kill9();
        awaitProgress(publishers); // what goes to a node that is gone stops nobody
        for (JournalPublisher publisher : publishers) { // what is parked has a bound
            publisher.lastOne();
            publisher.join(PATIENCE.toMillis());
            ClientFailures.assertNone(publisher, publisher.failure());
        }
        nodes.restart(0);
        away.set(nodes.broker(0).address("tcp"));
        for (int i = 0; i < publishers.size(); i++) {
            int count = publishers.get(i).count();
            JournalSubscriber subscriber = subscribers.get(i);
            await().atMost(PATIENCE).until(() -> subscriber.highest() == count - 1 || subscriber.failure() != null);
            subscriber.finish();
        }
        nodes.broker(0).kill9();
        for (int i = 0; i < publishers.size(); i++) {
            JournalSubscriber subscriber = subscribers.get(i);
            subscriber.join(PATIENCE.toMillis());
            ClientFailures.assertNone(subscriber, subscriber.failure());
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
                RawClient watched = RawClient.to(nodes.broker(0).address("tcp"), ProtocolVersion.MQTT_5)) {
            subscriber.subscribe("wills/#", 1);
            publishUntilMatched(prober, "wills/ready");
            drain(subscriber, "wills/ready");
            watched.deadline(PATIENCE);
            watched.connect(ConnectBytes.of("watched")
                    .will(PublishBytes.to("wills/watched").payload("gone").qos(1)));
            watched.subscribe("wills/known", 0);
            publishUntilMatched(prober, "wills/known"); // so the cluster has heard of the client's node since
            drain(subscriber, "wills/known");
            nodes.broker(0).kill9();

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
            ClientFailures.assertNone(publisher, publisher.failure());
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
