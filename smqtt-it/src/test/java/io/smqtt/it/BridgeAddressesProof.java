// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.test.LoopbackPorts;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A bridge with two addresses, whose brokers send it messages of QoS 2. Each of the three brokers is killed under load, so the bridge changes its
 * address, and is killed meanwhile. Each message comes exactly once and in order. {@code -Dsmqtt.bridge.kill.seconds=180},
 * {@code -Dsmqtt.bridge.kill.rate=200} messages a second of each of the two.
 */
class BridgeAddressesProof {

    private static final int SECONDS = Integer.getInteger("smqtt.bridge.kill.seconds", 20);
    private static final int LONGEST_MILLIS = 1_500;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration QUIET = Duration.ofSeconds(5);
    private static final Duration PACE =
            Duration.ofNanos(1_000_000_000L / Integer.getInteger("smqtt.bridge.kill.rate", 200));
    private static final String CONNECTED = "bridge next connected to ";

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final List<Integer> ports = LoopbackPorts.some(3);

    @TempDir
    Path directory;

    private BridgeEnd end(String name, int port, String bridges) throws Exception {
        return BridgeEnd.smqtt(directory.resolve(name), port, bridges);
    }

    private BridgeEnd dialling() throws Exception {
        return end("here", ports.get(0), """
                bridges:
                  next:
                    addresses: [127.0.0.1:%d, 127.0.0.1:%d]
                    client-id: plant
                    min-delay: 20ms
                    max-delay: 200ms
                    topics: [one in 2, two in 2]
                """.formatted(ports.get(1), ports.get(2)));
    }

    /** The number of lines that name a connection since the last start. */
    private static long connections(BridgeEnd here, String address) {
        return here.output().filter(line -> line.contains(CONNECTED + address)).count();
    }

    private static void restart(BridgeEnd end) {
        end.kill();
        end.start();
    }

    @Test
    void eachMessageOfTwoAddressesComesOnce() throws Exception {
        int kills = 0;
        try (BridgeEnd one = end("one", ports.get(1), "");
                BridgeEnd two = end("two", ports.get(2), "");
                BridgeEnd here = dialling()) {
            List<BridgeEnd> all = List.of(one, two, here);
            List<JournalPublisher> publishers = List.of(
                    new JournalPublisher("one", 2, one.clients(), PACE),
                    new JournalPublisher("two", 2, two.clients(), PACE));
            List<JournalSubscriber> subscribers = List.of(
                    new JournalSubscriber("one", "one", 2, here.clients()),
                    new JournalSubscriber("two", "two", 2, here.clients()));
            all.forEach(BridgeEnd::start);
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            await().atMost(PATIENCE).until(() -> connections(here, "127.0.0.1:" + ports.get(1)) > 0);
            one.kill(); // now both have the session of the bridge
            await().atMost(PATIENCE).until(() -> connections(here, "127.0.0.1:" + ports.get(2)) > 0);
            one.start();
            publishers.forEach(Thread::start);

            long until = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
            while (System.nanoTime() < until) {
                awaitProgress(subscribers);
                await().pollDelay(Duration.ofMillis(1 + random.nextInt(LONGEST_MILLIS)))
                        .atMost(PATIENCE)
                        .until(() -> true);
                BridgeEnd next = all.get(random.nextInt(all.size()));
                next.kill();
                if (random.nextBoolean() && next != here) { // meanwhile the bridge changes its address
                    await().pollDelay(Duration.ofMillis(1 + random.nextInt(100)))
                            .atMost(PATIENCE)
                            .until(() -> true);
                    restart(here);
                    kills++;
                }
                next.start();
                kills++;
            }
            publishers.forEach(JournalPublisher::lastOne);
            int changes = finish(publishers, subscribers, List.of(one, two));
            for (int i = 0; i < 2; i++) {
                int count = publishers.get(i).count();
                List<Integer> received = subscribers.get(i).received();
                long distinct = received.stream().distinct().count();
                System.out.printf(
                        "address %d: published %d, lost %d, received again %d%n",
                        i + 1, count, count - distinct, received.size() - distinct);
            }
            System.out.printf("kills %d, and %d to get the rest, seed %d%n", kills, changes, seed);
            for (int i = 0; i < 2; i++) {
                assertThat(subscribers.get(i).received())
                        .as("address " + (i + 1) + ", seed " + seed)
                        .isEqualTo(IntStream.range(0, publishers.get(i).count())
                                .boxed()
                                .toList());
            }
        }
    }

    private static void awaitProgress(List<JournalSubscriber> subscribers) {
        int before = sum(subscribers);
        await().atMost(PATIENCE).until(() -> sum(subscribers) > before + JournalClient.WINDOW);
        subscribers.forEach(subscriber -> ClientFailures.assertNone(subscriber, subscriber.failure()));
    }

    private static int sum(List<JournalSubscriber> subscribers) {
        return subscribers.stream().mapToInt(JournalSubscriber::highest).sum();
    }

    /** Ends the connection to one address after the other until everything has come from both. Returns the number of kills. */
    private static int finish(
            List<JournalPublisher> publishers, List<JournalSubscriber> subscribers, List<BridgeEnd> remotes) {
        publishers.forEach(publisher -> await().atMost(PATIENCE).until(() -> !publisher.isAlive()));
        int kills = 0;
        while (missing(publishers, subscribers) > 0) {
            int before = missing(publishers, subscribers);
            assertThat(kills).as("kills without an end").isLessThan(100);
            long end = System.nanoTime() + QUIET.toNanos();
            await().atMost(PATIENCE).until(() -> missing(publishers, subscribers) < before || System.nanoTime() > end);
            if (missing(publishers, subscribers) == before) {
                restart(remotes.get(kills % 2));
                kills++;
            }
        }
        subscribers.forEach(JournalSubscriber::finish);
        return kills;
    }

    private static int missing(List<JournalPublisher> publishers, List<JournalSubscriber> subscribers) {
        int missing = 0;
        for (int i = 0; i < publishers.size(); i++) {
            missing += publishers.get(i).count() - 1 - subscribers.get(i).highest();
        }
        return missing;
    }
}
