// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
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
        BYTES_EXCEEDED;

        /**
         * Whether the message was refused.
         *
         * @return true if a limit is reached
         */
        public boolean isRefusal() {
            return this == COUNT_EXCEEDED || this == BYTES_EXCEEDED;
        }
    }

    private final ConcurrentNavigableMap<String, ApplicationMessage> messages = new ConcurrentSkipListMap<>();
    private final Object lock = new Object();
    private final int maxCount;
    private final long maxBytes;
    private volatile long count;
    private volatile long bytes;
    private volatile long expiring;

    // guarded by lock; null without an observer
    private @Nullable Consumer<? super ApplicationMessage> observer;

    // guarded by lock: start of the next sweep, null for the beginning
    private @Nullable String swept;

    /**
     * Creates an empty tree.
     *
     * @param maxCount maximum number of messages
     * @param maxBytes maximum number of bytes, by {@link HeapWeight#retained}
     */
    public RetainedMessages(int maxCount, long maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
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
            Outcome outcome = storeLocked(message);
            if (observer != null && !outcome.isRefusal()) {
                observer.accept(message);
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
            messages.values().forEach(next);
        }
    }

    private Outcome storeLocked(ApplicationMessage message) {
        String topic = message.topic().value();
        if (message.payload().isEmpty()) {
            return remove(topic) ? Outcome.REMOVED : Outcome.NOTHING_TO_REMOVE;
        }
        ApplicationMessage before = messages.get(topic);
        if (before == null && count >= maxCount) {
            return Outcome.COUNT_EXCEEDED;
        }
        if (bytes - footprint(before) + footprint(message) > maxBytes) {
            return Outcome.BYTES_EXCEEDED;
        }
        messages.put(topic, message);
        account(before, message);
        return before == null ? Outcome.STORED : Outcome.REPLACED;
    }

    /**
     * The message of a topic.
     *
     * @param topic a topic name
     * @return the message, which may have expired; null if there is none
     */
    @AnyThread
    public @Nullable ApplicationMessage get(TopicName topic) {
        return messages.get(topic.value());
    }

    /**
     * Whether a filter may match a message. Takes as long as one look-up, and allocates nothing.
     *
     * @param filter a topic filter, without share name
     * @return false if it matches none; true for a filter with wildcards if there is any message
     */
    @AnyThread
    public boolean mayMatch(TopicFilter filter) {
        return filter.hasWildcard() ? !messages.isEmpty() : messages.containsKey(filter.value());
    }

    /**
     * Creates a cursor over the messages that a filter matches.
     *
     * @param filter a topic filter, without share name
     * @return a cursor before the first message
     */
    @AnyThread
    public RetainedCursor cursor(TopicFilter filter) {
        return new RetainedCursor(messages, filter);
    }

    /**
     * The number of messages, expired ones included until they are removed.
     *
     * @return messages
     */
    @AnyThread
    public long count() {
        return count;
    }

    /**
     * The heap that the messages occupy, by {@link HeapWeight#retained}.
     *
     * @return bytes
     */
    @AnyThread
    public long bytes() {
        return bytes;
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
     * @param maxSteps maximum number of messages to examine
     * @param removedTopics called with the topic of each removed message
     * @return number of removed messages
     */
    @AnyThread
    public int removeExpired(long nowNanos, int maxSteps, Consumer<TopicName> removedTopics) {
        int removed = 0;
        synchronized (lock) {
            for (int step = 0; step < maxSteps && expiring > 0; step++) {
                Map.Entry<String, ApplicationMessage> next =
                        swept == null ? messages.firstEntry() : messages.higherEntry(swept);
                if (next == null) {
                    swept = null;
                    return removed;
                }
                swept = next.getKey();
                if (next.getValue().isExpired(nowNanos) && remove(next.getKey())) {
                    removed++;
                    removedTopics.accept(next.getValue().topic());
                }
            }
        }
        return removed;
    }

    private boolean remove(String topic) {
        ApplicationMessage removed = messages.remove(topic);
        account(removed, null);
        return removed != null;
    }

    private void account(@Nullable ApplicationMessage before, @Nullable ApplicationMessage after) {
        count = count + one(after != null) - one(before != null);
        bytes = bytes + footprint(after) - footprint(before);
        expiring = expiring + one(expires(after)) - one(expires(before));
    }

    private static int one(boolean counted) {
        return counted ? 1 : 0;
    }

    private static boolean expires(@Nullable ApplicationMessage message) {
        return message != null && message.expiryIntervalSeconds() != ApplicationMessage.NEVER;
    }

    private static long footprint(@Nullable ApplicationMessage message) {
        return HeapWeight.retained(message);
    }
}
