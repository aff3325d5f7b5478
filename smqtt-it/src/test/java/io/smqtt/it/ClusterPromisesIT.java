// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What nodes promise for each other: what is acknowledged for a node that is away survives the node that acknowledged it; the dead do not
 * stop the living; a burst after a pause is not dropped.
 */
@Tag("long")
class ClusterPromisesIT {

    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final int FREEZE_SECONDS = Integer.getInteger("smqtt.freeze.seconds", 10);
    private static final Duration PACE = Duration.ofMillis(5);
    private static final String TOPIC = "promise";

    @TempDir
    Path directory;

    private static void say(String format, Object... values) {
        System.out.println("[promises] " + String.format(Locale.ROOT, format, values));
    }

    static void awaitGone(LoopbackCluster cluster, int node, String other) {
        await().atMost(PATIENCE).until(() -> !cluster.view(node).peer(other).reachable());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatIsAcknowledgedForAnAbsentNodeSurvivesTheOneThatAcknowledgedIt(boolean killed) {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 2)) {
            try (RawClient subscriber = cluster.stored(1, "absent")) {
                subscriber.subscribe(TOPIC, 2);
                subscriber.disconnect();
            }
            await().atMost(PATIENCE).until(() -> cluster.view(0).peer("n1").routes() > 0);
            cluster.broker(1).kill9();
            awaitGone(cluster, 0, "n1");
            try (RawClient publisher = cluster.client(0, "publisher")) {
                assertThat(Numbers.publish(publisher, TOPIC, 0, 200, "")).isEqualTo(200);
                for (int i = 200; i < 300; i++) {
                    publisher.publish(TOPIC, String.valueOf(i), 2);
                }
            }
            if (killed) {
                cluster.broker(0).kill9();
            } else {
                cluster.broker(0).signal("TERM"); // its output is read on
                cluster.broker(0).awaitLine("stopping while 300 messages are parked for node n1");
                cluster.broker(0).awaitExit(PATIENCE);
            }
            cluster.restartAlone(0);
            assertThat(cluster.view(0).peer("n1").parked()).isEqualTo(300);
            try (RawClient publisher = cluster.client(0, "publisher")) {
                assertThat(Numbers.publish(publisher, TOPIC, 300, 320, "")).isEqualTo(20);
            }
            cluster.restart(1);
            List<Integer> numbers;
            try (RawClient subscriber = cluster.stored(1, "absent")) {
                numbers = Numbers.take(subscriber, 320);
            }
            say(
                    "%s of the acknowledging node: 320 acknowledged, %d lost, %d repeated",
                    killed ? "kill -9" : "stop", 320 - new HashSet<>(numbers).size(), numbers.size() - 320);
            assertThat(numbers)
                    .containsExactlyElementsOf(IntStream.range(0, 320).boxed().toList());
            await().atMost(PATIENCE).until(() -> cluster.view(0).peer("n1").parked() == 0);
        }
    }

    @Test
    void aDeadNodeWithACleanSubscriberToEverythingStopsNobody() throws Exception {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, 2)) {
            RawClient all = cluster.client(1, "all");
            all.subscribe("#", 1);
            await().atMost(PATIENCE).until(() -> cluster.view(0).peer("n1").routes() > 0);
            cluster.broker(1).kill9();
            awaitGone(cluster, 0, "n1");
            int acknowledged = 0;
            for (int i = 0; i < 6; i++) {
                ProtocolVersion version = i % 2 == 0 ? ProtocolVersion.MQTT_3_1_1 : ProtocolVersion.MQTT_5;
                try (RawClient publisher = RawClient.to(cluster.broker(0).address("tcp"), version)) {
                    publisher.deadline(PATIENCE);
                    publisher.connect(ConnectBytes.of("publisher-" + i));
                    acknowledged += Numbers.publish(publisher, "any/" + i, 0, 4_000, " ".repeat(1_000));
                    publisher.ping();
                    publisher.disconnect();
                }
            }
            say(
                    "24,000 messages of 1 kB beside a dead node with a clean subscriber to #: %d acknowledged, %d parked",
                    acknowledged, cluster.view(0).peer("n1").parked());
            assertThat(acknowledged).isEqualTo(24_000);
            assertThat(cluster.view(0).peer("n1").parked()).isZero();
            all.socket().close();
        }
    }

    @Test
    void nothingIsDroppedWhenANodeWasFrozen() {
        int subscribers = 3;
        int messages = 6_000; // several times what a queue holds
        try (LoopbackCluster cluster =
                LoopbackCluster.start(directory, 2, "rocksdb", "limits.max-queued-messages=1000")) {
            List<CompletableFuture<List<Integer>>> taken = new ArrayList<>();
            for (int i = 0; i < subscribers; i++) {
                RawClient client = cluster.open(1);
                ConnectBytes connect = LoopbackCluster.storedConnect("subscriber-" + i);
                connect.properties().receiveMaximum(20);
                client.connect(connect.keepAlive(0));
                client.subscribe(TOPIC, 1);
                taken.add(CompletableFuture.supplyAsync(() -> Numbers.take(client, messages), THREADS));
            }
            await().atMost(PATIENCE).until(() -> cluster.view(0).peer("n1").routes() > 0);
            try (RawClient publisher = cluster.client(0, "publisher")) {
                assertThat(Numbers.publish(publisher, TOPIC, 0, 100, "")).isEqualTo(100);
                cluster.broker(1).signal("STOP");
                long began = System.nanoTime();
                assertThat(Numbers.publish(publisher, TOPIC, 100, messages - 100, ""))
                        .isEqualTo(messages - 200);
                await().atMost(PATIENCE)
                        .until(() -> System.nanoTime() - began > TimeUnit.SECONDS.toNanos(FREEZE_SECONDS));
                cluster.broker(1).signal("CONT");
                assertThat(Numbers.publish(publisher, TOPIC, messages - 100, messages, ""))
                        .isEqualTo(100);
            }
            int repeated = 0;
            for (CompletableFuture<List<Integer>> numbers : taken) {
                assertThat(numbers).succeedsWithin(PATIENCE.multipliedBy(2));
                repeated += numbers.join().size() - messages;
                assertThat(numbers.join().stream().distinct())
                        .containsExactlyElementsOf(
                                IntStream.range(0, messages).boxed().toList());
            }
            say(
                    "frozen for %d s: %d acknowledged for each of %d connected subscribers, 0 lost, %d repeated",
                    FREEZE_SECONDS, messages, subscribers, repeated);
        }
    }

    /** Messages before the freeze is noticed, while the node is away, and while it returns. */
    @Test
    void whatOthersPublishWhileANodeIsFrozenArrives() {
        List<JournalClient> clients = new ArrayList<>();
        List<JournalPublisher> publishers = new ArrayList<>();
        List<JournalSubscriber> subscribers = new ArrayList<>();
        try (LoopbackCluster cluster =
                LoopbackCluster.start(directory, 3, "rocksdb", "limits.max-queued-messages=1000")) {
            List<Whereabouts> places = List.of(new Whereabouts(), new Whereabouts(), new Whereabouts());
            for (int i = 0; i < 3; i++) {
                places.get(i).set(cluster.broker(i).address("tcp"));
                publishers.add(new JournalPublisher("frozen-" + i, 1, places.get(i % 2), PACE));
                subscribers.add(new JournalSubscriber(String.valueOf(i), "frozen-" + i, 1, places.get(2)));
            }
            clients.addAll(publishers);
            clients.addAll(subscribers);
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            await().atMost(PATIENCE)
                    .until(() -> cluster.view(0).peer("n2").routes() == 3
                            && cluster.view(1).peer("n2").routes() == 3);
            publishers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(one -> one.highest() > 100));
            cluster.broker(2).signal("STOP");
            long began = System.nanoTime();
            await().atMost(PATIENCE).until(() -> System.nanoTime() - began > TimeUnit.SECONDS.toNanos(FREEZE_SECONDS));
            cluster.broker(2).signal("CONT");
            long thawed = System.nanoTime();
            await().atMost(PATIENCE)
                    .until(() -> System.nanoTime() - thawed > TimeUnit.SECONDS.toNanos(FREEZE_SECONDS) / 5);
            publishers.forEach(JournalPublisher::lastOne);
            for (int i = 0; i < 3; i++) {
                JournalPublisher publisher = publishers.get(i);
                JournalSubscriber subscriber = subscribers.get(i);
                await().atMost(PATIENCE).until(() -> !publisher.isAlive());
                await().atMost(PATIENCE)
                        .until(() -> subscriber.highest() == publisher.count() - 1 || subscriber.failure() != null);
                subscriber.finish();
            }
        }
        for (int i = 0; i < 3; i++) {
            List<Integer> received = subscribers.get(i).received();
            List<Integer> different = received.stream().distinct().toList();
            say(
                    "frozen for %d s while others published: %d acknowledged, %d lost, %d repeated",
                    FREEZE_SECONDS,
                    publishers.get(i).acknowledged(),
                    publishers.get(i).acknowledged() - different.size(),
                    received.size() - different.size());
            assertThat(different)
                    .containsExactlyElementsOf(
                            IntStream.range(0, publishers.get(i).count())
                                    .boxed()
                                    .toList());
        }
        for (JournalClient client : clients) {
            await().atMost(PATIENCE).until(() -> !client.isAlive());
            ClientFailures.assertNone(client, client.failure());
            assertThat(client.resumed() + client.fresh())
                    .as("%s kept its connection", client.getName())
                    .isZero();
        }
    }
}
