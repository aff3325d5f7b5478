// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Publishers at QoS 1 and 2 on each node of a {@link ReplicatedCluster}, and subscribers with stored sessions on the same and on the next node,
 * one of them away most of the time. The clients' own notes decide what was lost.
 */
final class ReplicatedLoad {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Duration PACE = Duration.ofMillis(2);

    private final ReplicatedCluster cluster;
    private final Whereabouts away = new Whereabouts();
    private final List<JournalPublisher> publishers = new ArrayList<>();
    private final List<JournalSubscriber> subscribers = new ArrayList<>();

    ReplicatedLoad(ReplicatedCluster cluster) {
        this.cluster = cluster;
        for (int node = 0; node < ReplicatedCluster.NODES; node++) {
            int next = (node + 1) % ReplicatedCluster.NODES;
            publishers.add(new JournalPublisher("one-" + node, 1, cluster.address(node), PACE));
            publishers.add(new JournalPublisher("two-" + node, 2, cluster.address(node), PACE));
            subscribers.add(new JournalSubscriber("one-" + node, "one-" + node, 1, cluster.address(node)));
            subscribers.add(new JournalSubscriber("two-next-" + node, "two-" + node, 2, cluster.address(next)));
        }
        subscribers.add(new JournalSubscriber("two-away", "two-0", 2, away));
        subscribers.add(new JournalSubscriber("one-away", "one-1", 1, away));
    }

    /** Subscribes, and begins to publish. */
    void begin() {
        comeBack();
        subscribers.forEach(Thread::start);
        await().atMost(PATIENCE)
                .until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed) || hasFailed());
        publishers.forEach(Thread::start);
        leave();
    }

    /** The absent clients of node 0 leave; what is for them waits there. */
    void leave() {
        away.set(null);
    }

    /** They come back, if their node serves. */
    void comeBack() {
        away.set(cluster.address(0).find());
    }

    private boolean hasFailed() {
        return publishers.stream().anyMatch(client -> client.failure() != null)
                || subscribers.stream().anyMatch(client -> client.failure() != null);
    }

    /** Waits until all publishers of these nodes have had answers. */
    void awaitProgress(int... nodes) {
        for (int node : nodes) {
            for (JournalPublisher publisher : publishers.subList(2 * node, 2 * node + 2)) {
                int before = publisher.acknowledged();
                await().atMost(PATIENCE)
                        .until(() -> publisher.acknowledged() > before + JournalClient.WINDOW || hasFailed());
            }
        }
        requireNoFailure();
    }

    private void requireNoFailure() {
        publishers.forEach(client -> ClientFailures.assertNone(client, client.failure()));
        subscribers.forEach(client -> ClientFailures.assertNone(client, client.failure()));
    }

    /** Ends the publishers when all their messages are acknowledged. */
    void stopPublishing() {
        publishers.forEach(JournalPublisher::lastOne);
        publishers.forEach(publisher -> await().atMost(PATIENCE).until(() -> !publisher.isAlive()));
        requireNoFailure();
    }

    /** Waits until all has arrived, and checks it. Publishers have ended before. */
    void check(int kills) {
        comeBack();
        for (JournalSubscriber subscriber : subscribers) {
            int last = count(subscriber) - 1;
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(subscriber.highest())
                            .as(subscriber.getName() + " " + subscriber.failure())
                            .isEqualTo(last));
            subscriber.finish();
        }
        requireNoFailure();
        subscribers.forEach(subscriber -> check(subscriber, kills));
    }

    private void check(JournalSubscriber subscriber, int kills) {
        int count = count(subscriber);
        List<Integer> received = subscriber.received();
        List<Integer> all = IntStream.range(0, count).boxed().toList();
        assertThat(received.stream().distinct().toList())
                .as(subscriber.getName())
                .isEqualTo(all); // none lost, order kept
        if (subscriber.qos() == 2) {
            assertThat(repeated(received)).as(subscriber.getName()).isEmpty(); // exactly once
        } else {
            assertThat(received.size() - count)
                    .as(subscriber.getName())
                    .isLessThanOrEqualTo(2 * JournalClient.WINDOW * kills);
        }
    }

    /** The numbers that had come before, as ranges such as {@code 17-41 after 44}, where 44 is the highest one up to then. */
    private static List<String> repeated(List<Integer> received) {
        List<String> ranges = new ArrayList<>();
        int highest = -1;
        int first = -1;
        for (int i = 0; i < received.size(); i++) {
            int number = received.get(i);
            boolean isRepeated = number <= highest;
            if (isRepeated && first < 0) {
                first = number;
            }
            if (isRepeated && (i + 1 == received.size() || received.get(i + 1) != number + 1)) {
                ranges.add(first + "-" + number + " after " + highest);
                first = -1;
            }
            highest = Math.max(highest, number);
        }
        return ranges;
    }

    private int count(JournalSubscriber subscriber) {
        return publishers.stream()
                .filter(publisher -> publisher.topic().equals(subscriber.topic()))
                .mapToInt(JournalPublisher::count)
                .sum();
    }

    /** The numbers of messages that were acknowledged, and that subscribers have received. */
    String figures() {
        int acknowledged =
                publishers.stream().mapToInt(JournalPublisher::acknowledged).sum();
        int received = subscribers.stream()
                .mapToInt(subscriber -> subscriber.received().size())
                .sum();
        int resumed = subscribers.stream().mapToInt(JournalClient::resumed).sum();
        return "acknowledged " + acknowledged + ", received " + received + ", sessions resumed " + resumed;
    }
}
