// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The node of clients with stored sessions is killed under load. The clients move to another node, where they get a session and subscribe
 * again, and the dead node returns with their old sessions. Nothing that was acknowledged to its publisher is lost. QoS 2 messages come
 * once; QoS 1 messages come again only if they were in flight when the node was killed. {@code -Dsmqtt.failovers=6} makes it long.
 */
@Tag("long")
class FailoverIT {

    private static final int FAILOVERS = Integer.getInteger("smqtt.failovers", 1);
    private static final int PUBLISHING = 2;
    private static final int SUBSCRIBERS = 8;

    /** Between two messages of a publisher. */
    private static final Duration PACE = Duration.ofMillis(10);

    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final int PROGRESS = 300;

    @TempDir
    Path directory;

    private final Whereabouts place = new Whereabouts();
    private final List<JournalPublisher> publishers = new ArrayList<>();
    private final List<MovingSubscriber> subscribers = new ArrayList<>();
    private final List<JournalClient> clients = new ArrayList<>();

    @Test
    void clientsThatMovedGetAgainWhatWasInFlightAtMost() {
        try (LoopbackCluster cluster = LoopbackCluster.start(directory, PUBLISHING + 1)) {
            begin(cluster);
            for (int i = 0; i < FAILOVERS; i++) {
                failOver(cluster, i % 2, (i + 1) % 2);
            }
            finish();
            subscribers.forEach(MovingSubscriber::finish);
            place.set(null);
        }
        for (JournalClient client : clients) {
            await().atMost(PATIENCE).until(() -> !client.isAlive());
            ClientFailures.assertNone(client, client.failure());
        }
        report();
        subscribers.forEach(this::check);
    }

    private void begin(LoopbackCluster cluster) {
        Whereabouts other = new Whereabouts();
        other.set(address(cluster, PUBLISHING));
        place.set(address(cluster, 0));
        publishers.add(new JournalPublisher("one", 1, other, PACE));
        publishers.add(new JournalPublisher("two", 2, other, PACE));
        for (int i = 0; i < SUBSCRIBERS; i++) {
            subscribers.add(new MovingSubscriber(String.valueOf(i), i % 2 == 0 ? "one" : "two", 1 + i % 2, place));
        }
        clients.addAll(subscribers);
        clients.addAll(publishers);
        subscribers.forEach(Thread::start);
        awaitSessions(1);
        await().atMost(PATIENCE).until(() -> cluster.view(PUBLISHING).peer("n0").routes() == 2);
        publishers.forEach(Thread::start);
        awaitProgress();
    }

    private static InetSocketAddress address(LoopbackCluster cluster, int node) {
        return cluster.broker(node).address("tcp");
    }

    private void failOver(LoopbackCluster cluster, int from, int to) {
        int before = subscribers.get(0).sessions();
        place.set(null);
        cluster.broker(from).kill9();
        place.set(address(cluster, to));
        awaitSessions(before + 1);
        awaitProgress();
        cluster.restart(from);
        await().atMost(PATIENCE)
                .until(() -> cluster.sessions(from) == 0
                        && cluster.view(PUBLISHING).peer("n" + from).parked() == 0);
        awaitProgress();
    }

    private void awaitSessions(int count) {
        await().atMost(PATIENCE)
                .until(() ->
                        subscribers.stream().allMatch(subscriber -> subscriber.sessions() == count) || hasFailed());
        requireNoFailure();
    }

    private void awaitProgress() {
        for (JournalPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            for (MovingSubscriber subscriber : subscribersOf(publisher)) {
                await().atMost(PATIENCE).until(() -> subscriber.highest() > before + PROGRESS || hasFailed());
            }
        }
        requireNoFailure();
    }

    private boolean hasFailed() {
        return clients.stream().anyMatch(client -> client.failure() != null);
    }

    private void requireNoFailure() {
        clients.forEach(client -> ClientFailures.assertNone(client, client.failure()));
    }

    private List<MovingSubscriber> subscribersOf(JournalPublisher publisher) {
        return subscribers.stream()
                .filter(subscriber -> subscriber.topic().equals(publisher.topic()))
                .toList();
    }

    private void finish() {
        for (JournalPublisher publisher : publishers) {
            publisher.lastOne();
            await().atMost(PATIENCE).until(() -> !publisher.isAlive());
            for (MovingSubscriber subscriber : subscribersOf(publisher)) {
                await().atMost(PATIENCE).until(() -> subscriber.highest() == publisher.count() - 1 || hasFailed());
            }
        }
        requireNoFailure();
    }

    private Set<Integer> missing(MovingSubscriber subscriber) {
        Set<Integer> numbers =
                new HashSet<>(IntStream.range(0, count(subscriber)).boxed().toList());
        numbers.removeAll(new HashSet<>(subscriber.received()));
        return numbers;
    }

    private static int repeated(MovingSubscriber subscriber) {
        List<Integer> numbers = subscriber.received();
        return numbers.size() - new HashSet<>(numbers).size();
    }

    private int count(MovingSubscriber subscriber) {
        return publishers.stream()
                .filter(publisher -> publisher.topic().equals(subscriber.topic()))
                .mapToInt(JournalPublisher::count)
                .sum();
    }

    private void report() {
        for (MovingSubscriber subscriber : subscribers) {
            Set<Integer> missing = missing(subscriber);
            System.out.printf(
                    Locale.ROOT,
                    "[failover] QoS %d: %d acknowledged, %d missing, %d repeated, %d accepted and not released when the "
                            + "session was lost%n",
                    subscriber.qos(),
                    count(subscriber),
                    missing.size(),
                    repeated(subscriber),
                    subscriber.discarded().size());
        }
    }

    private void check(MovingSubscriber subscriber) {
        String name = subscriber.getName();
        // a client that accepts a QoS 2 message, and discards it with its session, has had it
        assertThat(subscriber.discarded()).as(name).containsAll(missing(subscriber));
        assertThat(repeated(subscriber))
                .as(name)
                .isLessThanOrEqualTo(subscriber.qos() == 2 ? 0 : FAILOVERS * JournalClient.WINDOW);
        assertThat(subscriber.sessions()).as(name).isEqualTo(1 + FAILOVERS);
    }
}
