// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The content of a store as plain maps. Not thread-safe. */
final class StoredState {

    /** Everything of one session. */
    static final class Entry {
        @Nullable
        StoredSession header;

        final Map<String, StoredSubscription> subscriptions = new LinkedHashMap<>();
        final TreeMap<Long, StoredMessage> messages = new TreeMap<>();
        final Set<Integer> received = new TreeSet<>();
        final Map<Integer, Long> released = new TreeMap<>();
        long next = 1;

        @Nullable
        FoundSession found() {
            StoredSession present = header;
            return present == null
                    ? null
                    : new FoundSession(
                            present, waiting(), List.copyOf(subscriptions.values()), List.copyOf(received), released);
        }

        StoredQueue waiting() {
            long bytes = messages.values().stream()
                    .mapToLong(message -> message.message().footprintBytes())
                    .sum();
            long first = messages.isEmpty() ? next : messages.firstKey();
            return new StoredQueue(first, next, messages.size(), bytes);
        }

        Entry copy() {
            Entry copy = new Entry();
            copy.header = header;
            copy.subscriptions.putAll(subscriptions);
            copy.messages.putAll(messages);
            copy.received.addAll(received);
            copy.released.putAll(released);
            copy.next = next;
            return copy;
        }
    }

    final SortedMap<Long, Entry> sessions = new TreeMap<>();
    final Map<String, ApplicationMessage> retained = new TreeMap<>();

    /** Versions of retained messages, and of removals: topics that are not in {@link #retained}. */
    final Map<String, RetainedVersion> versions = new TreeMap<>();

    final Map<String, byte[]> notes = new TreeMap<>();

    /** Replaces what is kept of a topic. */
    void retain(String topic, @Nullable ApplicationMessage message, @Nullable RetainedVersion version) {
        retained.compute(topic, (key, before) -> message);
        versions.compute(topic, (key, before) -> version);
    }

    Entry session(long number) {
        return sessions.computeIfAbsent(number, unknown -> new Entry());
    }

    StoredState copy() {
        StoredState copy = new StoredState();
        sessions.forEach((number, entry) -> copy.sessions.put(number, entry.copy()));
        copy.retained.putAll(retained);
        copy.versions.putAll(versions);
        copy.notes.putAll(notes);
        return copy;
    }

    /** The same for a broker whose clock shows another time. */
    StoredState moved(long stepNanos) {
        StoredState moved = copy();
        for (Entry entry : moved.sessions.values()) {
            entry.messages.replaceAll((number, message) -> with(message, moved(message.message(), stepNanos)));
        }
        moved.retained.replaceAll((topic, message) -> moved(message, stepNanos));
        return moved;
    }

    /** A message as it comes from a file: not the one that was stored, but one like it. */
    static StoredMessage asRead(StoredMessage message) {
        return with(message, moved(message.message(), 0));
    }

    private static ApplicationMessage moved(ApplicationMessage message, long stepNanos) {
        return message.accepted(message.id(), message.acceptedAtNanos() + stepNanos, message.publisherId());
    }

    private static StoredMessage with(StoredMessage stored, ApplicationMessage message) {
        return new StoredMessage(
                stored.sequence(),
                message,
                stored.clientFilter(),
                stored.qos(),
                stored.retain(),
                stored.identifiers(),
                stored.delivery());
    }

    void putReceived(long session, int packetId) {
        removeReceived(session, packetId);
        session(session).received.add(packetId);
    }

    void removeReceived(long session, int packetId) {
        session(session).received.remove(packetId);
        session(session).released.remove(packetId);
    }

    void putReleased(long session, int packetId, long number) {
        session(session).received.remove(packetId);
        session(session).released.put(packetId, number);
    }

    void putMessage(long session, StoredMessage message) {
        Entry entry = session(session);
        entry.messages.put(message.sequence(), message);
        entry.next = Math.max(entry.next, message.sequence() + 1);
    }

    void putDelivery(long session, long sequence, StoredDelivery delivery) {
        session(session)
                .messages
                .computeIfPresent(
                        sequence,
                        (key, message) -> new StoredMessage(
                                sequence,
                                message.message(),
                                message.clientFilter(),
                                message.qos(),
                                message.retain(),
                                message.identifiers(),
                                delivery));
    }

    private void showRetained(BrokerStore.RecoveryVisitor visitor) {
        retained.forEach((topic, message) -> {
            RetainedVersion version = versions.get(topic);
            if (version == null) {
                visitor.retained(message);
            } else {
                visitor.retained(message, version);
            }
        });
        versions.forEach((topic, version) -> {
            if (!retained.containsKey(topic)) {
                visitor.retainedRemoval(TopicName.of(topic), version);
            }
        });
    }

    /** Shows everything that belongs to a session with a header. */
    void show(BrokerStore.RecoveryVisitor visitor) {
        sessions.values().removeIf(entry -> entry.header == null);
        for (Entry entry : sessions.values()) {
            StoredSession header = entry.header;
            if (header == null) {
                continue;
            }
            visitor.session(header, entry.waiting());
            entry.subscriptions.values().forEach(visitor::subscription);
            entry.received.forEach(visitor::received);
            entry.released.forEach(visitor::released);
        }
        showRetained(visitor);
        notes.forEach(visitor::note);
    }
}
