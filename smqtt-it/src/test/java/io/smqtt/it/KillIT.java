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
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The broker is killed under load, again and again, and comes back with what it has acknowledged. The clients' own notes
 * decide. {@code -Dsmqtt.kills=100} makes it long.
 */
class KillIT {

    private static final int KILLS = Integer.getInteger("smqtt.kills", 5);
    private static final int WINDOW = 20;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final AtomicReference<@Nullable InetSocketAddress> address = new AtomicReference<>();

    @Test
    void nothingThatWasAcknowledgedIsLost() throws Exception { // [MQTT-4.1.0-1] [MQTT-4.3.2-1] [MQTT-4.3.3-1]
        List<JournalClient> clients = new ArrayList<>();
        List<JournalPublisher> publishers =
                List.of(new JournalPublisher("one", 1, address::get), new JournalPublisher("two", 2, address::get));
        List<JournalSubscriber> subscribers = List.of(
                new JournalSubscriber("one", "one", 1, address::get),
                new JournalSubscriber("two", "two", 2, address::get),
                new JournalSubscriber("two-as-one", "two", 1, address::get),
                new JournalSubscriber("two-again", "two", 2, address::get));
        clients.addAll(subscribers);
        clients.addAll(publishers);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        BrokerProcess broker = start();
        try {
            subscribers.forEach(Thread::start);
            await().atMost(PATIENCE).until(() -> subscribers.stream().allMatch(JournalSubscriber::isSubscribed));
            publishers.forEach(Thread::start);
            for (int kill = 0; kill < KILLS; kill++) {
                awaitProgress(publishers, clients);
                await().pollDelay(Duration.ofMillis(1 + random.nextInt(1_500))).until(() -> true);
                address.set(null);
                broker.kill9();
                broker.close();
                broker = start();
            }
            awaitProgress(publishers, clients);
            for (JournalPublisher publisher : publishers) {
                publisher.lastOne();
                publisher.join(PATIENCE.toMillis());
                assertThat(publisher.isAlive()).as(publisher.getName()).isFalse();
            }
            for (JournalSubscriber subscriber : subscribers) {
                int last = publisherOf(subscriber, publishers).count() - 1;
                await().atMost(PATIENCE).until(() -> subscriber.highest() == last || subscriber.failure() != null);
                subscriber.finish();
            }
        } finally {
            address.set(null);
            broker.close();
        }
        for (JournalClient client : clients) {
            client.join(PATIENCE.toMillis());
            assertThat(client.failure()).as(client.getName()).isNull();
        }
        for (JournalSubscriber subscriber : subscribers) {
            check(subscriber, publisherOf(subscriber, publishers).count(), seed);
        }
    }

    private static JournalPublisher publisherOf(JournalSubscriber subscriber, List<JournalPublisher> publishers) {
        return publishers.get(subscriber.getName().equals("subscriber-one") ? 0 : 1);
    }

    private static void check(JournalSubscriber subscriber, int count, long seed) {
        List<Integer> received = subscriber.received();
        String about = subscriber.getName() + ", seed " + seed;
        List<Integer> all = IntStream.range(0, count).boxed().toList();
        assertThat(received.stream().distinct().toList()).as(about).isEqualTo(all); // nothing lost, order kept
        if (subscriber.getName().contains("two") && !subscriber.getName().contains("as-one")) {
            assertThat(received).as(about).hasSize(count); // exactly once
        } else {
            assertThat(received.size() - count).as(about).isLessThanOrEqualTo(2 * WINDOW * KILLS);
        }
    }

    private BrokerProcess start() {
        BrokerProcess broker = StoredBroker.start(directory.resolve("data"));
        address.set(broker.address("tcp"));
        return broker;
    }

    /** Publishers get answers from this broker, and no client has found anything wrong. */
    private static void awaitProgress(List<JournalPublisher> publishers, List<JournalClient> clients) {
        for (JournalPublisher publisher : publishers) {
            int before = publisher.acknowledged();
            await().atMost(PATIENCE)
                    .until(() -> publisher.acknowledged() > before + WINDOW
                            || clients.stream().anyMatch(client -> client.failure() != null));
        }
        clients.forEach(
                client -> assertThat(client.failure()).as(client.getName()).isNull());
    }
}
