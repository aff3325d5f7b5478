// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Takes down what a store finds at its start. */
public final class RecoveredStore implements BrokerStore.RecoveryVisitor {

    private final Map<Long, Found> sessions = new TreeMap<>();
    private final Map<String, ApplicationMessage> retained = new TreeMap<>();
    private final Map<String, RetainedVersion> versions = new TreeMap<>();
    private final Map<String, byte[]> notes = new TreeMap<>();
    private @Nullable Found last;

    /** Creates an empty one. */
    public RecoveredStore() {}

    @Override
    public void session(StoredSession session, StoredQueue waiting) {
        last = new Found(session, waiting, new LinkedHashMap<>(), new TreeSet<>(), new TreeMap<>());
        if (sessions.put(session.number(), last) != null) {
            throw new AssertionError("session " + session.number() + " was visited twice");
        }
    }

    @Override
    public void subscription(StoredSubscription subscription) {
        if (current().subscriptions.put(subscription.clientFilter(), subscription) != null) {
            throw new AssertionError(subscription + " was visited twice");
        }
    }

    @Override
    public void received(int packetId) {
        if (!current().received.add(packetId)) {
            throw new AssertionError("packet identifier " + packetId + " was visited twice");
        }
    }

    @Override
    public void released(int packetId, long number) {
        if (current().released.put(packetId, number) != null
                || current().received.contains(packetId)) {
            throw new AssertionError("packet identifier " + packetId + " was visited twice");
        }
    }

    private Found current() {
        if (last == null) {
            throw new AssertionError("no session was visited yet");
        }
        return last;
    }

    @Override
    public void retained(ApplicationMessage message) {
        if (retained.put(message.topic().value(), message) != null) {
            throw new AssertionError("the retained message of " + message.topic() + " was visited twice");
        }
    }

    @Override
    public void retained(ApplicationMessage message, RetainedVersion version) {
        retained(message);
        versions.put(message.topic().value(), version);
    }

    @Override
    public void retainedRemoval(TopicName topic, RetainedVersion version) {
        if (retained.containsKey(topic.value()) || versions.put(topic.value(), version) != null) {
            throw new AssertionError("the removal of " + topic + " was visited twice, or beside its message");
        }
    }

    @Override
    public void note(String name, byte[] note) {
        if (notes.put(name, note) != null) {
            throw new AssertionError("the note " + name + " was visited twice");
        }
    }

    /**
     * The versions of retained messages and of their removals.
     *
     * @return by topic
     */
    public Map<String, RetainedVersion> versions() {
        return versions;
    }

    /**
     * The notes.
     *
     * @return by name
     */
    public Map<String, byte[]> notes() {
        return notes;
    }

    /**
     * The sessions.
     *
     * @return by number
     */
    public Map<Long, Found> sessions() {
        return sessions;
    }

    /**
     * One session.
     *
     * @param number its number
     * @return what was found of it
     * @throws AssertionError if there is none
     */
    public Found session(long number) {
        Found found = sessions.get(number);
        if (found == null) {
            throw new AssertionError("there is no session " + number + " among " + sessions.keySet());
        }
        return found;
    }

    /**
     * The retained messages.
     *
     * @return by topic
     */
    public Map<String, ApplicationMessage> retained() {
        return retained;
    }

    /**
     * One retained message.
     *
     * @param topic its topic
     * @return the message
     * @throws AssertionError if there is none
     */
    public ApplicationMessage retained(String topic) {
        ApplicationMessage found = retained.get(topic);
        if (found == null) {
            throw new AssertionError("there is no retained message of " + topic + " among " + retained.keySet());
        }
        return found;
    }

    /**
     * The recovered state of a session.
     *
     * @param header the session
     * @param waiting its messages
     * @param subscriptions by filter
     * @param received packet identifiers of QoS 2 messages that wait for PUBREL
     * @param released the identifiers of the next messages by packet identifier
     */
    public record Found(
            StoredSession header,
            StoredQueue waiting,
            Map<String, StoredSubscription> subscriptions,
            Set<Integer> received,
            Map<Integer, Long> released) {}
}
