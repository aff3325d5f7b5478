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
 * The last retained message of each topic (MQTT 5.0, section 3.3.1.3).
 *
 * <p>The topics are kept in the order of their text, in which all topics below a level stand together: a wildcard filter is
 * answered by jumping from one candidate to the next, and where a {@link RetainedCursor} stands is just a text. So a
 * cursor that a slow client paces over minutes holds on to nothing, sees changes, and never gives a topic twice.
 *
 * <p>Any thread may store: changes are serialized by one lock, held for one look-up, so of concurrent messages to one topic
 * the last one stored stays. Reading takes no lock.
 */
public final class RetainedMessages {

    /** The result of storing a message. */
    public enum Outcome {
        /** It is the first one of its topic. */
        STORED,
        /** It has taken the place of another. */
        REPLACED,
        /** Its empty payload has removed the one that was there. */
        REMOVED,
        /** Its payload is empty, and there was none. */
        NOTHING_TO_REMOVE,
        /** Refused: there are as many topics as there may be. */
        COUNT_EXCEEDED,
        /** Refused: there are as many bytes as there may be. What the topic had stays. */
        BYTES_EXCEEDED;

        /**
         * Tells whether the message was not kept.
         *
         * @return true if a limit stood against it
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

    // guarded by lock; null until somebody asks
    private @Nullable Consumer<? super ApplicationMessage> observer;

    // guarded by lock: where the next sweep goes on, null at the beginning
    private @Nullable String swept;

    /**
     * Creates a tree without messages.
     *
     * @param maxCount the most messages that are kept
     * @param maxBytes the most bytes, by {@link HeapWeight#retained}
     */
    public RetainedMessages(int maxCount, long maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
    }

    /**
     * Stores a message in the place of the one that its topic had [MQTT-3.3.1-5], or, if its payload is empty, just removes
     * that one [MQTT-3.3.1-6] [MQTT-3.3.1-7].
     *
     * @param message a message with the retain flag
     * @return what has become of it
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
     * Shows all messages to an observer and tells it of every one that is stored from then on, those with an empty payload
     * included, in order and without a gap. What expires is not told. There is one observer at most.
     *
     * @param next called under the lock: notes what it is told, and does not touch the messages
     * @throws IllegalStateException if there is one already
     */
    public void observe(Consumer<? super ApplicationMessage> next) {
        synchronized (lock) {
            if (observer != null) {
                throw new IllegalStateException("the retained messages are observed already");
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
     * @return the message, maybe expired; null if there is none
     */
    @AnyThread
    public @Nullable ApplicationMessage get(TopicName topic) {
        return messages.get(topic.value());
    }

    /**
     * Starts to look for the messages that a filter matches.
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
     * What the messages hold on to, by {@link HeapWeight#retained}.
     *
     * @return bytes
     */
    @AnyThread
    public long bytes() {
        return bytes;
    }

    /**
     * Removes expired messages, going on where the last call has ended. Costs nothing if no message has an expiry interval.
     *
     * @param nowNanos the broker's monotonic clock
     * @param maxSteps the most messages to look at
     * @return how many were removed
     */
    @AnyThread
    public int removeExpired(long nowNanos, int maxSteps) {
        return removeExpired(nowNanos, maxSteps, topic -> {});
    }

    /**
     * Removes expired messages, going on where the last call has ended. Costs nothing if no message has an expiry interval.
     *
     * @param nowNanos the broker's monotonic clock
     * @param maxSteps the most messages to look at
     * @param removedTopics is told the topic of each message that is removed
     * @return how many were removed
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
