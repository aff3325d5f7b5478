// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Three nodes behind nginx that are stopped gracefully and started again, one after the other, while clients with sessions publish to each
 * other at QoS 1 and 2 through nginx. Each client comes back by itself, to whichever node nginx chooses, and must find its session there.
 * {@code -Dsmqtt.restart.clients=200} and {@code -Dsmqtt.restart.rounds=2} make it long.
 */
@Tag("long")
class RollingSessionsIT {

    private static final int NODES = 3;
    private static final int CLIENTS = Integer.getInteger("smqtt.restart.clients", 40);
    private static final int ROUNDS = Integer.getInteger("smqtt.restart.rounds", 1);
    private static final Duration PACE = Duration.ofMillis(Integer.getInteger("smqtt.restart.pace", 100));
    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final int PROGRESS = 10;

    @TempDir
    Path directory;

    private final List<JournalPublisher> publishers = new ArrayList<>();
    private final List<JournalSubscriber> subscribers = new ArrayList<>();
    private final List<JournalClient> clients = new ArrayList<>();

    private static void say(String format, Object... values) {
        System.out.println("[rolling] " + String.format(Locale.ROOT, format, values));
    }

    @ParameterizedTest
    @ValueSource(strings = {"memory", "rocksdb", "replicas"})
    void eachClientFindsItsSessionOnAnotherNode(String storage) {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, NODES, storage);
                NginxFront front = new NginxFront(directory, cluster.clientPorts())) {
            begin(front);
            for (int round = 0; round < ROUNDS; round++) {
                for (int node = 0; node < NODES; node++) {
                    restart(cluster, node);
                }
            }
            finish();
            subscribers.forEach(JournalSubscriber::finish);
        } finally {
            report(storage);
        }
        for (JournalClient client : clients) {
            await().atMost(PATIENCE).until(() -> !client.isAlive());
            ClientFailures.assertNone(client, client.failure());
            assertThat(client.fresh()).as(client.getName()).isZero();
        }
        subscribers.forEach(this::check);
        assertThat(clients).anyMatch(client -> client.resumed() > 0);
    }

    private void begin(NginxFront front) {
        Whereabouts place = new Whereabouts();
        place.set(front.address());
        for (int i = 0; i < CLIENTS / 2; i++) {
            int qos = 1 + i % 2;
            publishers.add(new JournalPublisher("rolling-" + i, qos, place, PACE));
            subscribers.add(new JournalSubscriber(String.valueOf(i), "rolling-" + i, qos, place));
        }
        clients.addAll(subscribers);
        clients.addAll(publishers);
        subscribers.forEach(Thread::start);
        await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
        publishers.forEach(Thread::start);
        awaitProgress();
    }

    private void restart(LoopbackCluster cluster, int node) {
        BrokerProcess broker = cluster.broker(node);
        broker.signal("TERM"); // its last lines can be read
        assertThat(broker.awaitExit(PATIENCE)).isZero();
        broker.output().stream()
                .filter(line -> line.contains("handed ") || line.contains("shutdown:"))
                .forEach(line -> say("node %d: %s", node, line));
        awaitProgress();
        cluster.restart(node);
        awaitProgress();
    }

    /** What is published from now on arrives, for each pair of clients. */
    private void awaitProgress() {
        List<Integer> before =
                publishers.stream().map(JournalPublisher::acknowledged).toList();
        for (int i = 0; i < publishers.size(); i++) {
            JournalPublisher publisher = publishers.get(i);
            JournalSubscriber subscriber = subscribers.get(i);
            int wanted = before.get(i) + PROGRESS;
            await().atMost(PATIENCE)
                    .until(() -> (publisher.acknowledged() >= wanted && subscriber.highest() >= wanted) || hasFailed());
        }
        clients.forEach(client -> ClientFailures.assertNone(client, client.failure()));
    }

    private boolean hasFailed() {
        return clients.stream().anyMatch(client -> client.failure() != null);
    }

    private void finish() {
        publishers.forEach(JournalPublisher::lastOne);
        for (int i = 0; i < publishers.size(); i++) {
            JournalPublisher publisher = publishers.get(i);
            JournalSubscriber subscriber = subscribers.get(i);
            await().atMost(PATIENCE).until(() -> !publisher.isAlive() || publisher.failure() != null);
            await().atMost(PATIENCE)
                    .until(() -> subscriber.highest() >= publisher.count() - 1 || subscriber.failure() != null);
        }
    }

    private void check(JournalSubscriber subscriber) {
        int count = publisherOf(subscriber).count();
        assertThat(subscriber.received().stream().distinct().sorted().toList())
                .as(subscriber.getName())
                .isEqualTo(IntStream.range(0, count).boxed().toList());
        if (subscriber.qos() == 2) {
            assertThat(subscriber.received()).as(subscriber.getName()).hasSize(count);
        }
    }

    private JournalPublisher publisherOf(JournalSubscriber subscriber) {
        return publishers.get(subscribers.indexOf(subscriber));
    }

    private void report(String storage) {
        for (int qos = 1; qos <= 2; qos++) {
            int of = qos;
            int acknowledged = 0;
            int lost = 0;
            int repeated = 0;
            for (JournalSubscriber subscriber :
                    subscribers.stream().filter(one -> one.qos() == of).toList()) {
                int count = publisherOf(subscriber).acknowledged();
                HashSet<Integer> different = new HashSet<>(subscriber.received());
                acknowledged += count;
                lost += (int) IntStream.range(0, count)
                        .filter(number -> !different.contains(number))
                        .count();
                repeated += subscriber.received().size() - different.size();
            }
            say("%s, QoS %d: %d acknowledged, %d lost, %d repeated", storage, qos, acknowledged, lost, repeated);
        }
        say(
                "%s: %d clients, %d reconnects with the session, %d with a fresh one, %d refused as busy before",
                storage,
                clients.size(),
                clients.stream().mapToInt(JournalClient::resumed).sum(),
                clients.stream().mapToInt(JournalClient::fresh).sum(),
                clients.stream().mapToInt(JournalClient::refused).sum());
    }
}
