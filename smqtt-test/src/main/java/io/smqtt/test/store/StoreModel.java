// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;

/** Does random things to a store, and the same to plain maps. */
final class StoreModel {

    private final long seed;
    private final Random random;
    private final Map<Long, Kept> sessions = new TreeMap<>();
    private final Map<String, String> retained = new TreeMap<>();
    private ApplicationMessage last = StoreSamples.message("first", "x");

    StoreModel(long seed) {
        this.seed = seed;
        this.random = new Random(seed);
    }

    /** Some operations. */
    void change(StoreWriter writer, LongSupplier newSession) {
        int count = 1 + random.nextInt(30);
        for (int i = 0; i < count; i++) {
            if (sessions.isEmpty() || random.nextInt(20) == 0) {
                putSession(writer, newSession.getAsLong());
            } else {
                changeSession(writer, random.nextInt(100));
            }
        }
        if (random.nextBoolean()) {
            writer.requireSync();
        }
    }

    private void putSession(StoreWriter writer, long number) {
        StoredSession header = StoreSamples.session(number, "client-" + random.nextInt(10));
        sessions.put(number, new Kept(header));
        writer.putSession(header);
    }

    private void changeSession(StoreWriter writer, int choice) {
        List<Kept> all = new ArrayList<>(sessions.values());
        Kept session = all.get(random.nextInt(all.size()));
        long number = session.header.number();
        if (choice < 40) {
            putMessage(writer, session, number);
        } else if (choice < 60) {
            removeMessage(writer, session, number);
        } else if (choice < 70) {
            putDelivery(writer, session, number);
        } else if (choice < 78) {
            changeSubscription(writer, session, number);
        } else if (choice < 86) {
            changeReceived(writer, session, number);
        } else if (choice < 97) {
            changeRetained(writer);
        } else {
            sessions.remove(number);
            writer.removeSession(number, session.header.clientId());
        }
    }

    /** Every other message is the one before, for another session. */
    private void putMessage(StoreWriter writer, Kept session, long number) {
        if (random.nextBoolean()) {
            last = random.nextInt(4) == 0
                    ? StoreSamples.large("t/" + random.nextInt(), 600 + random.nextInt(3_000))
                    : StoreSamples.message("t/" + random.nextInt(), "p" + random.nextInt());
        }
        StoredMessage message = StoreSamples.queued(session.next++, last);
        session.messages.put(message.sequence(), message);
        writer.putMessage(number, message);
    }

    private void removeMessage(StoreWriter writer, Kept session, long number) {
        if (!session.messages.isEmpty()) {
            long sequence = pick(session.messages.keySet());
            session.messages.remove(sequence);
            writer.removeMessage(number, sequence);
        }
    }

    private void putDelivery(StoreWriter writer, Kept session, long number) {
        if (!session.messages.isEmpty()) {
            long sequence = pick(session.messages.keySet());
            StoredDelivery delivery = new StoredDelivery(
                    StoredDelivery.State.values()[1 + random.nextInt(2)], 1 + random.nextInt(65_535));
            session.messages.compute(
                    sequence, (key, before) -> StoreSamples.queued(sequence, before.message(), delivery));
            writer.putDelivery(number, sequence, delivery);
        }
    }

    private void changeSubscription(StoreWriter writer, Kept session, long number) {
        String filter = "filter/" + random.nextInt(5);
        if (random.nextInt(3) == 0) {
            session.subscriptions.remove(filter);
            writer.removeSubscription(number, filter);
        } else {
            StoredSubscription subscription = StoreSamples.subscription(filter, random.nextInt(1_000));
            session.subscriptions.put(filter, subscription);
            writer.putSubscription(number, subscription);
        }
    }

    private void changeReceived(StoreWriter writer, Kept session, long number) {
        int packetId = 1 + random.nextInt(5);
        if (random.nextInt(3) == 0) {
            long next = 1L + random.nextInt(1_000);
            session.received.remove(packetId);
            session.released.put(packetId, next);
            writer.putReleased(number, packetId, next);
        } else if (session.received.remove(packetId)) {
            writer.removeReceived(number, packetId);
        } else {
            session.received.add(packetId);
            session.released.remove(packetId);
            writer.putReceived(number, packetId);
        }
    }

    private void changeRetained(StoreWriter writer) {
        String topic = "retained/" + random.nextInt(5);
        if (random.nextInt(3) == 0) {
            retained.remove(topic);
            writer.removeRetained(TopicName.of(topic));
        } else {
            ApplicationMessage message = StoreSamples.message(topic, "" + random.nextInt());
            retained.put(topic, StoreSamples.text(message));
            writer.putRetained(message);
        }
    }

    private long pick(Set<Long> numbers) {
        return new ArrayList<>(numbers).get(random.nextInt(numbers.size()));
    }

    void requireSame(RecoveredStore found, LongFunction<List<StoredMessage>> reader) {
        assertThat(found.sessions().keySet()).as("seed %s", seed).isEqualTo(sessions.keySet());
        Map<String, String> texts = new TreeMap<>();
        found.retained().forEach((topic, message) -> texts.put(topic, StoreSamples.text(message)));
        texts.remove("end");
        assertThat(texts).as("seed %s", seed).isEqualTo(retained);
        sessions.forEach((number, kept) -> {
            RecoveredStore.Found session = found.session(number);
            assertThat(session.header()).as("seed %s", seed).isEqualTo(kept.header);
            assertThat(session.subscriptions()).as("seed %s", seed).isEqualTo(kept.subscriptions);
            assertThat(session.received()).as("seed %s", seed).isEqualTo(kept.received);
            assertThat(session.released()).as("seed %s", seed).isEqualTo(kept.released);
            assertThat(reader.apply(number))
                    .as("seed %s", seed)
                    .extracting(StoreSamples::text)
                    .isEqualTo(kept.texts());
            assertThat(session.waiting().messages()).as("seed %s", seed).isEqualTo(kept.messages.size());
            assertThat(session.waiting().bytes()).as("seed %s", seed).isEqualTo(kept.bytes());
            assertThat(session.waiting().firstSequence())
                    .as("seed %s", seed)
                    .isEqualTo(kept.messages.isEmpty() ? session.waiting().nextSequence() : kept.messages.firstKey());
        });
    }

    /** Leaves an empty store for the next one. */
    void clear(StoreLoop loop) {
        loop.commit(writer -> {
            sessions.forEach((number, kept) -> writer.removeSession(number, kept.header.clientId()));
            retained.keySet().forEach(topic -> writer.removeRetained(TopicName.of(topic)));
            writer.removeRetained(TopicName.of("end"));
        });
    }

    private static final class Kept {

        private final StoredSession header;
        private final TreeMap<Long, StoredMessage> messages = new TreeMap<>();
        private final Map<String, StoredSubscription> subscriptions = new HashMap<>();
        private final Set<Integer> received = new TreeSet<>();
        private final Map<Integer, Long> released = new TreeMap<>();
        private long next = 1;

        Kept(StoredSession header) {
            this.header = header;
        }

        List<String> texts() {
            return messages.values().stream().map(StoreSamples::text).toList();
        }

        long bytes() {
            return messages.values().stream()
                    .mapToLong(message -> message.message().footprintBytes())
                    .sum();
        }
    }
}
