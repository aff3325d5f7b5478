// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait for a session, in order, bounded by count and bytes. A ring that takes no memory before its first
 * use and gives it back when it runs empty.
 */
@OnEventLoop
final class DeliveryQueue {

    private static final int FIRST_CAPACITY = 8;
    private static final @Nullable Object[] NOTHING = {};

    private final QueueBudget budget;
    private @Nullable Object[] entries = NOTHING; // message, subscription, message, subscription, …
    private int head;
    private int size;
    private long bytes;

    DeliveryQueue(QueueBudget budget) {
        this.budget = budget;
    }

    boolean isEmpty() {
        return size == 0;
    }

    @AnyThread
    int size() {
        return size;
    }

    long bytes() {
        return bytes;
    }

    /** Why one more message does not fit, or null if it does. */
    @Nullable
    DropReason refusal(int footprintBytes, LimitsConfig limits) {
        if (size >= limits.maxQueuedMessages()) {
            return DropReason.QUEUE_COUNT;
        }
        if (bytes + footprintBytes > limits.maxQueuedBytes()) {
            return DropReason.QUEUE_BYTES;
        }
        return budget.isExhausted() ? DropReason.TOTAL_QUEUE_BYTES : null;
    }

    void add(ApplicationMessage message, Subscription subscription) {
        if (size * 2 == entries.length) {
            grow();
        }
        int at = index(size);
        entries[at] = message;
        entries[at + 1] = subscription;
        size++;
        account(message.footprintBytes());
    }

    /** The message that has waited longest; the queue must not be empty. */
    ApplicationMessage message() {
        return (ApplicationMessage) Objects.requireNonNull(entries[head]);
    }

    /** The subscription of {@link #message()}. */
    Subscription subscription() {
        return (Subscription) Objects.requireNonNull(entries[head + 1]);
    }

    /** Takes off what has waited longest. */
    void remove() {
        account(-message().footprintBytes());
        entries[head] = null;
        entries[head + 1] = null;
        head = index(1);
        size--;
        if (size == 0) {
            entries = NOTHING;
            head = 0;
        }
    }

    private void account(int change) {
        bytes += change;
        budget.add(change);
    }

    private int index(int offset) {
        return (head + offset * 2) & (entries.length - 1);
    }

    private void grow() {
        @Nullable Object[] larger = new @Nullable Object[Math.max(FIRST_CAPACITY, entries.length * 2)];
        int tail = entries.length - head;
        System.arraycopy(entries, head, larger, 0, tail);
        System.arraycopy(entries, 0, larger, tail, head);
        entries = larger;
        head = 0;
    }
}
