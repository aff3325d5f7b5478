// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The ends of a bridge are killed under load. What the publishers' broker has acknowledged reaches the subscribers of the other one: at QoS 1
 * at least once, at QoS 2 exactly once. {@code -Dsmqtt.bridge.kill.seconds=180} makes it long, {@code -Dsmqtt.bridge.kill.end=here} or
 * {@code there} kills only the end that connects or the other one.
 */
class BridgeKillIT {

    private static final int SECONDS = Integer.getInteger("smqtt.bridge.kill.seconds", 2);
    private static final int LONGEST_MILLIS = SECONDS < 30 ? 500 : 7_000;
    private static final String END = System.getProperty("smqtt.bridge.kill.end", "both");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration DRAIN = Duration.ofMinutes(5);

    /** Two publishers: 2,000 messages a second. */
    private static final Duration PACE = Duration.ofMillis(1);

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final Whereabouts here = new Whereabouts();
    private final Whereabouts there = new Whereabouts();
    private final List<JournalPublisher> publishers =
            List.of(new JournalPublisher("one", 1, here, PACE), new JournalPublisher("two", 2, here, PACE));
    private final List<JournalSubscriber> subscribers =
            List.of(new JournalSubscriber("one", "one", 1, there), new JournalSubscriber("two", "two", 2, there));
    private @Nullable BrokerProcess dialling;
    private @Nullable BrokerProcess dialled;
    private int kills;

    @TempDir
    Path directory;

    @Test
    void nothingIsLostBetweenTwoBrokersThatAreKilledInTurn() throws Exception {
        List<Integer> ports = LoopbackPorts.some(2);
        Path one = configuration("one", ports.get(0), """
                bridges:
                  next:
                    addresses: [127.0.0.1:%d]
                    client-id: plant
                    min-delay: 50ms
                    max-delay: 500ms
                    max-queued-messages: 10000000
                    max-queued-bytes: 1GiB
                    topics: [one out 1, two out 2]
                """.formatted(ports.get(1)));
        Path two = configuration("two", ports.get(1), "");
        try {
            startDialled(two);
            startDialling(one);
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            publishers.forEach(Thread::start);
            long end = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
            while (System.nanoTime() < end || kills < 2) {
                awaitProgress();
                await().pollDelay(Duration.ofMillis(1 + random.nextInt(LONGEST_MILLIS)))
                        .atMost(PATIENCE)
                        .until(() -> true);
                kills++;
                if (END.equals("here") || END.equals("both") && kills % 2 == 1) {
                    kill(here, dialling);
                    startDialling(one);
                } else {
                    kill(there, dialled);
                    startDialled(two);
                }
            }
            finish();
        } finally {
            close(dialling);
            close(dialled);
        }
        subscribers.forEach(this::check);
        System.out.println(figures());
    }

    private Path configuration(String name, int port, String bridges) throws Exception {
        Path folder = Files.createDirectories(directory.resolve(name));
        return Files.writeString(folder.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: %d
                  ws:
                    enabled: false
                limits:
                  max-queued-messages: 10000000
                  max-queued-bytes: 1GiB
                """.formatted(port) + bridges);
    }

    private void startDialling(Path file) {
        dialling = BrokerProcess.start(file.resolveSibling(""), List.of(), file);
        here.set(dialling.address("tcp"));
    }

    private void startDialled(Path file) {
        dialled = BrokerProcess.start(file.resolveSibling(""), List.of(), file);
        there.set(dialled.address("tcp"));
    }

    private static void kill(Whereabouts of, @Nullable BrokerProcess broker) {
        of.set(null);
        if (broker != null) {
            broker.kill9();
            broker.close();
        }
    }

    private static void close(@Nullable BrokerProcess broker) {
        if (broker != null) {
            broker.close();
        }
    }

    /** Messages arrive at the far end, and no client has found anything wrong. */
    private void awaitProgress() {
        for (JournalSubscriber subscriber : subscribers) {
            int before = subscriber.highest();
            await().atMost(PATIENCE)
                    .until(() -> subscriber.highest() > before + JournalClient.WINDOW || subscriber.failure() != null);
            ClientFailures.assertNone(subscriber, subscriber.failure());
        }
        publishers.forEach(publisher -> ClientFailures.assertNone(publisher, publisher.failure()));
    }

    private void finish() {
        publishers.forEach(JournalPublisher::lastOne);
        for (int i = 0; i < publishers.size(); i++) {
            JournalPublisher publisher = publishers.get(i);
            await().atMost(PATIENCE).until(() -> !publisher.isAlive());
            ClientFailures.assertNone(publisher, publisher.failure());
            JournalSubscriber subscriber = subscribers.get(i);
            await().atMost(DRAIN)
                    .until(() -> subscriber.highest() == publisher.count() - 1 || subscriber.failure() != null);
            ClientFailures.assertNone(subscriber, subscriber.failure());
            subscriber.finish();
        }
    }

    private void check(JournalSubscriber subscriber) {
        int count = publishers.get(subscribers.indexOf(subscriber)).count();
        List<Integer> received = subscriber.received();
        String about = subscriber.getName() + ", seed " + seed;
        List<Integer> all = IntStream.range(0, count).boxed().toList();
        assertThat(received.stream().distinct().toList()).as(about).isEqualTo(all); // nothing lost, order kept
        if (subscriber.qos() == 2) {
            assertThat(received).as(about).hasSize(count); // exactly once
        }
    }

    private String figures() {
        StringBuilder text = new StringBuilder("kills " + kills + ", seed " + seed);
        for (int i = 0; i < publishers.size(); i++) {
            int received = subscribers.get(i).received().size();
            int count = publishers.get(i).count();
            text.append("%nQoS %d: published %d, received %d, of them again %d"
                    .formatted(subscribers.get(i).qos(), count, received, received - count));
        }
        return text.toString();
    }
}
