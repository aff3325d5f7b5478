// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The real broker is killed under load, again and again, and comes back with what it has acknowledged. The clients' own
 * notes decide. {@code -Dsmqtt.kills=100} makes it long; {@code -Dsmqtt.seed} chooses the instants again.
 */
class KillIT {

    private static final int KILLS = Integer.getInteger("smqtt.kills", 5);
    private static final int LONGEST_MILLIS = 1_500;
    private static final int ONE_IN = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration DRAIN = Duration.ofMinutes(5);

    private final long seed = Long.getLong("smqtt.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final Whereabouts address = new Whereabouts();
    private final Whereabouts sometimes = new Whereabouts();
    private int killedAtStart;

    private final List<JournalPublisher> publishers =
            List.of(new JournalPublisher("one", 1, address), new JournalPublisher("two", 2, address));
    private final List<JournalSubscriber> subscribers = List.of(
            new JournalSubscriber("one", "one", 1, address),
            new JournalSubscriber("one-away", "one", 1, sometimes),
            new JournalSubscriber("two", "two", 2, address),
            new JournalSubscriber("two-as-one", "two", 1, address),
            new JournalSubscriber("two-away", "two", 2, sometimes));
    private final List<JournalClient> clients = new ArrayList<>();

    @TempDir
    Path directory;

    @Test
    void nothingThatWasAcknowledgedIsLost() { // [MQTT-4.1.0-1] [MQTT-4.3.2-1] [MQTT-4.3.3-1]
        clients.addAll(subscribers);
        clients.addAll(publishers);
        BrokerProcess broker = start(true);
        try {
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            publishers.forEach(Thread::start);
            for (int kill = 0; kill < KILLS; kill++) {
                awaitProgress();
                await().pollDelay(Duration.ofMillis(1 + random.nextInt(LONGEST_MILLIS)))
                        .until(() -> true);
                leave();
                broker.kill9();
                broker.close();
                if (random.nextInt(ONE_IN) == 0) {
                    killAtStart();
                }
                broker = start(kill == KILLS - 1 || random.nextBoolean());
            }
            awaitProgress();
            finish();
        } finally {
            leave();
            broker.close();
        }
        clients.forEach(this::requireEnded);
        subscribers.forEach(this::check);
        System.out.println(figures());
    }

    private BrokerProcess start(boolean everybodyComes) {
        BrokerProcess broker = StoredBroker.start(directory);
        InetSocketAddress listener = broker.address("tcp");
        address.set(listener);
        sometimes.set(everybodyComes ? listener : null);
        return broker;
    }

    private void leave() {
        address.set(null);
        sometimes.set(null);
    }

    /** A broker that has not yet read everything is killed too. */
    private void killAtStart() {
        try (CapturedProcess process = CapturedProcess.start("broker", StoredBroker.command(directory, List.of()))) {
            process.process().waitFor(1 + random.nextInt(LONGEST_MILLIS), TimeUnit.MILLISECONDS);
            process.kill();
            process.awaitExit(PATIENCE);
            killedAtStart++;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Publishers get answers from this broker, and no client has found anything wrong. */
    private void awaitProgress() {
        for (JournalPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            await().atMost(PATIENCE)
                    .until(() -> publisher.acknowledged() > before + JournalClient.WINDOW
                            || clients.stream().anyMatch(client -> client.failure() != null));
        }
        clients.forEach(client -> ClientFailures.assertNone(client, client.failure()));
    }

    private void finish() {
        publishers.forEach(JournalPublisher::lastOne);
        for (JournalPublisher publisher : publishers) {
            await().atMost(PATIENCE).until(() -> !publisher.isAlive());
        }
        for (JournalSubscriber subscriber : subscribers) {
            int last = count(subscriber) - 1;
            await().atMost(DRAIN).until(() -> subscriber.highest() == last || subscriber.failure() != null);
            subscriber.finish();
        }
    }

    private void requireEnded(JournalClient client) {
        await().atMost(PATIENCE).until(() -> !client.isAlive());
        ClientFailures.assertNone(client, client.failure());
        assertThat(client.refused()).as(client.getName()).isZero();
    }

    private void check(JournalSubscriber subscriber) {
        int count = count(subscriber);
        List<Integer> received = subscriber.received();
        String about = subscriber.getName() + ", seed " + seed;
        List<Integer> all = IntStream.range(0, count).boxed().toList();
        assertThat(received.stream().distinct().toList()).as(about).isEqualTo(all); // nothing lost, order kept
        if (subscriber.qos() == 2) {
            assertThat(received).as(about).hasSize(count); // exactly once
        } else {
            int kills = KILLS + killedAtStart;
            int underWay = 2 * JournalClient.WINDOW; // the publisher's and the subscriber's
            assertThat(received.size() - count).as(about).isLessThanOrEqualTo(underWay * kills);
        }
    }

    private int count(JournalSubscriber subscriber) {
        return publishers.stream()
                .filter(publisher -> publisher.topic().equals(subscriber.topic()))
                .mapToInt(JournalPublisher::count)
                .sum();
    }

    private String figures() {
        StringBuilder text = new StringBuilder("kills under load " + KILLS + ", at the start " + killedAtStart);
        publishers.forEach(publisher ->
                text.append("%n%s: acknowledged %d".formatted(publisher.getName(), publisher.acknowledged())));
        subscribers.forEach(subscriber -> text.append("%n%s: received %d, of them again %d"
                .formatted(
                        subscriber.getName(),
                        subscriber.received().size(),
                        subscriber.received().size() - count(subscriber))));
        return text + "\nseed " + seed;
    }
}
