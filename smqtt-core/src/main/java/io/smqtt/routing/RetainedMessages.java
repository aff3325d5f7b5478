// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicLevels;
import io.smqtt.topic.TopicName;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The retained message of each topic (MQTT 5.0, section 3.3.1.3).
 *
 * <p>Topics are sorted by their text, so all topics below a level are adjacent. A wildcard filter is answered by jumping from one
 * candidate to the next. The position of a {@link RetainedCursor} is just a text: a cursor that is read slowly over minutes
 * holds no resources, sees changes, and never returns a topic twice.
 *
 * <p>Any thread may store a message. Changes are serialized by one lock, which is held for one look-up, so the last of concurrent
 * messages to one topic stays. Readers take no lock.
 *
 * <p>Messages of hidden topics, {@code $smqtt} and below, are state of the broker itself. They are stored and replicated as all others,
 * but no cursor returns them, and they count in no limit and no figure.
 */
public final class RetainedMessages {

    /** The result of storing a message. */
    public enum Outcome {
        /** The topic had no message. */
        STORED,
        /** The message has replaced another one. */
        REPLACED,
        /** The empty payload has removed the message of the topic. */
        REMOVED,
        /** The payload is empty, and the topic had no message. */
        NOTHING_TO_REMOVE,
        /** Refused: the maximum number of topics is reached. */
        COUNT_EXCEEDED,
        /** Refused: the maximum number of bytes is reached. The former message of the topic stays. */
        BYTES_EXCEEDED,
        /** Refused: the payload is larger than the rule for its topic allows. */
        PAYLOAD_EXCEEDED,
        /** Refused: the topic is hidden, and the publisher is not the broker itself. */
        HIDDEN,
        /** Not stored: the message came from another node, and the topic has a later change. */
        OVERTAKEN;

        /**
         * Whether the message was refused.
         *
         * @return true if a limit is reached, a rule does not allow it, or the topic is hidden
         */
        public boolean isRefusal() {
            return this == COUNT_EXCEEDED || this == BYTES_EXCEEDED || this == PAYLOAD_EXCEEDED || this == HIDDEN;
        }
    }

    private static final String HIDDEN_ROOT = "$smqtt";

    private final Object lock = new Object();

    // changed under the lock
    private final RetainedTree shown;
    private final RetainedTree hidden = new RetainedTree(Integer.MAX_VALUE, Long.MAX_VALUE);

    // guarded by lock; null without an observer
    private @Nullable Consumer<? super ApplicationMessage> observer;
    private @Nullable Consumer<? super ApplicationMessage> hiddenObserver;

    private volatile @Nullable RetainedReplication replication;

    /**
     * Creates an empty tree.
     *
     * @param maxCount maximum number of messages
     * @param maxBytes maximum number of bytes, by {@link HeapWeight#retained}
     */
    public RetainedMessages(int maxCount, long maxBytes) {
        this.shown = new RetainedTree(maxCount, maxBytes);
    }

    /**
     * Whether a topic is hidden from clients.
     *
     * @param topic a topic name, or a filter without wildcard in its first level
     * @return true for {@code $smqtt} and all topics below it
     */
    @AnyThread
    public static boolean isHidden(String topic) {
        return topic.startsWith(HIDDEN_ROOT)
                && (topic.length() == HIDDEN_ROOT.length()
                        || topic.charAt(HIDDEN_ROOT.length()) == TopicLevels.SEPARATOR);
    }

    private RetainedTree tree(String topic) {
        return isHidden(topic) ? hidden : shown;
    }

    /**
     * Stores a message in place of the former one of its topic [MQTT-3.3.1-5]. A message with an empty payload only removes the
     * former one [MQTT-3.3.1-6] [MQTT-3.3.1-7].
     *
     * @param message a message with the retain flag
     * @return the result
     */
    @AnyThread
    public Outcome store(ApplicationMessage message) {
        synchronized (lock) {
            RetainedReplication others = replication;
            if (others != null && !others.isLatest(message)) {
                return Outcome.OVERTAKEN;
            }
            RetainedTree tree = tree(message.topic().value());
            Outcome outcome = tree.store(message);
            if (observer != null && !outcome.isRefusal()) {
                observer.accept(message);
            }
            if (hiddenObserver != null && tree == hidden) {
                hiddenObserver.accept(message);
            }
            return outcome;
        }
    }

    /**
     * Passes all messages to an observer, and then each message that is stored, including those with an empty payload, in order and
     * without a gap. Expiry is not reported. There is at most one observer.
     *
     * @param next called under the lock; must return at once and must not change the messages
     * @throws IllegalStateException if there is already one
     */
    public void observe(Consumer<? super ApplicationMessage> next) {
        synchronized (lock) {
            if (observer != null) {
                throw new IllegalStateException("the retained messages already have an observer");
            }
            observer = next;
            shown.messages().values().forEach(next);
            hidden.messages().values().forEach(next);
        }
    }

    /**
     * Shares the messages with other nodes from now on. Before the broker has clients.
     *
     * @param others stands for the other nodes
     */
    public void replicate(RetainedReplication others) {
        replication = others;
    }

    /**
     * The other nodes.
     *
     * @return null if there are none
     */
    @AnyThread
    public @Nullable RetainedReplication replication() {
        return replication;
    }

    /**
     * Passes the messages of hidden topics to an observer, as {@link #observe} does with those of all topics. There is at most one
     * observer.
     *
     * @param next called under the lock; must return at once and must not change the messages
     * @throws IllegalStateException if there is already one
     */
    public void observeHidden(Consumer<? super ApplicationMessage> next) {
        synchronized (lock) {
            if (hiddenObserver != null) {
                throw new IllegalStateException("the hidden messages already have an observer");
            }
            hiddenObserver = next;
            hidden.messages().values().forEach(next);
        }
    }

    /**
     * The messages of the hidden topics with a prefix, expired ones included until they are removed.
     *
     * @param prefix the first characters of the topics
     * @return a weakly consistent list, sorted by topic
     */
    @AnyThread
    public List<ApplicationMessage> hidden(String prefix) {
        return List.copyOf(hidden.messages()
                .subMap(prefix, true, prefix + Character.MAX_VALUE, false)
                .values());
    }

    /**
     * The message of a topic.
     *
     * @param topic a topic name
     * @return the message, which may have expired; null if there is none
     */
    @AnyThread
    public @Nullable ApplicationMessage get(TopicName topic) {
        return tree(topic.value()).messages().get(topic.value());
    }

    /**
     * Whether a filter may match a message. Takes as long as one look-up, and allocates nothing.
     *
     * @param filter a topic filter, without share name
     * @return false if it matches none; true for a filter with wildcards if there is any message
     */
    @AnyThread
    public boolean mayMatch(TopicFilter filter) {
        return filter.hasWildcard()
                ? !shown.messages().isEmpty()
                : shown.messages().containsKey(filter.value());
    }

    /**
     * Creates a cursor over the messages that a filter matches.
     *
     * @param filter a topic filter, without share name
     * @return a cursor before the first message
     */
    @AnyThread
    public RetainedCursor cursor(TopicFilter filter) {
        return new RetainedCursor(shown.messages(), filter);
    }

    /**
     * The number of messages, expired ones included until they are removed, without hidden ones.
     *
     * @return messages
     */
    @AnyThread
    public long count() {
        return shown.count();
    }

    /**
     * The heap that the messages occupy, by {@link HeapWeight#retained}, without hidden ones.
     *
     * @return bytes
     */
    @AnyThread
    public long bytes() {
        return shown.bytes();
    }

    /**
     * Removes expired messages, starting where the last call has ended. Costs nothing if no message has an expiry interval.
     *
     * @param nowNanos the broker's monotonic clock
     * @param maxSteps maximum number of messages to examine
     * @return number of removed messages
     */
    @AnyThread
    public int removeExpired(long nowNanos, int maxSteps) {
        return removeExpired(nowNanos, maxSteps, topic -> {});
    }

    /**
     * Removes expired messages, starting where the last call has ended. Costs nothing if no message has an expiry interval.
     *
     * @param nowNanos the broker's monotonic clock
     * @param maxSteps maximum number of messages to examine, and of hidden ones
     * @param removedTopics called with the topic of each removed message
     * @return number of removed messages, without hidden ones
     */
    @AnyThread
    public int removeExpired(long nowNanos, int maxSteps, Consumer<TopicName> removedTopics) {
        synchronized (lock) {
            int removed = shown.removeExpired(nowNanos, maxSteps, removedTopics);
            hidden.removeExpired(nowNanos, maxSteps, removedTopics);
            return removed;
        }
    }
}
