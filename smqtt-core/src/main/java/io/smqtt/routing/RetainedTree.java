// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.HeapWeight;
import io.smqtt.routing.RetainedMessages.Outcome;
import io.smqtt.topic.TopicName;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Retained messages sorted by topic, with their limits. Changed under the lock of {@link RetainedMessages}; readers take no lock. */
final class RetainedTree {

    private final ConcurrentNavigableMap<String, ApplicationMessage> messages = new ConcurrentSkipListMap<>();
    private final int maxCount;
    private final long maxBytes;
    private volatile long count;
    private volatile long bytes;
    private volatile long expiring;

    /** Start of the next sweep, null for the beginning. */
    private @Nullable String swept;

    /**
     * Creates an empty tree.
     *
     * @param maxCount maximum number of messages
     * @param maxBytes maximum number of bytes, by {@link HeapWeight#retained}
     */
    RetainedTree(int maxCount, long maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
    }

    /** The messages by topic; changed only by this object. */
    ConcurrentNavigableMap<String, ApplicationMessage> messages() {
        return messages;
    }

    long count() {
        return count;
    }

    long bytes() {
        return bytes;
    }

    Outcome store(ApplicationMessage message) {
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

    /** Removes expired messages, starting where the last call has ended; returns their number. */
    int removeExpired(long nowNanos, int maxSteps, Consumer<TopicName> removedTopics) {
        int removed = 0;
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
