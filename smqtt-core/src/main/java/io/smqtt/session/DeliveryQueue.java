// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import java.util.Objects;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A backlog in memory: all waiting messages of a session that is not stored, or the waiting QoS 0 messages of a stored one.
 * A ring buffer that is allocated at its first use and released when it becomes empty.
 */
@OnEventLoop
final class DeliveryQueue extends Backlog {

    private static final int FIRST_CAPACITY = 8;
    private static final @Nullable Object[] NOTHING = {};

    private @Nullable Object[] entries = NOTHING; // message, subscription, message, subscription, …
    private int head;

    DeliveryQueue(SessionResources resources) {
        super(resources);
    }

    @Override
    boolean isEmpty() {
        return size == 0;
    }

    @Override
    boolean isInMemory() {
        return true;
    }

    @Override
    @Nullable
    DropReason makeRoom(int footprintBytes, LimitsConfig limits, boolean slows) {
        DropReason full = refusal(footprintBytes, limits);
        while (full != null && size > 0 && isExpired(message())) {
            drop(DropReason.EXPIRED);
            full = refusal(footprintBytes, limits);
        }
        boolean oldest = !slows
                && full != DropReason.TOTAL_QUEUE_BYTES // dropping this queue's oldest message would not help
                && footprintBytes <= limits.maxQueuedBytes()
                && resources.config().dropPolicy() == DropPolicy.OLDEST;
        while (full != null && oldest && size > 0) {
            drop(full);
            full = refusal(footprintBytes, limits);
        }
        return full;
    }

    private boolean isExpired(ApplicationMessage message) {
        return message.expiryIntervalSeconds() != ApplicationMessage.NEVER
                && message.isExpired(resources.ticker().nanoTime());
    }

    @Override
    boolean takesShared(int footprintBytes, LimitsConfig limits) {
        return size * 2L < limits.maxQueuedMessages()
                && (bytes + footprintBytes) * 2 <= limits.maxQueuedBytes()
                && refusal(footprintBytes, limits) == null;
    }

    @Override
    void append(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket) {
        add(message, subscription);
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

    @Override
    boolean hasNext() {
        return size > 0;
    }

    @Override
    ApplicationMessage message() {
        return (ApplicationMessage) Objects.requireNonNull(entries[head]);
    }

    @Override
    Subscription subscription() {
        return (Subscription) Objects.requireNonNull(entries[head + 1]);
    }

    @Override
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

    @Override
    void list(int most, List<WaitingMessage> target) {
        for (int i = 0; i < Math.min(most, size); i++) {
            ApplicationMessage message = (ApplicationMessage) Objects.requireNonNull(entries[index(i)]);
            Subscription subscription = (Subscription) Objects.requireNonNull(entries[index(i) + 1]);
            target.add(WaitingMessage.of(message, subscription, 0));
        }
    }

    /** Removes the messages that match a condition, and returns their number. The condition is evaluated in order. */
    int removeIf(BiPredicate<ApplicationMessage, Subscription> condition) {
        int before = size;
        for (int i = before; i > 0; i--) {
            ApplicationMessage message = message();
            Subscription subscription = subscription();
            remove();
            if (!condition.test(message, subscription)) {
                add(message, subscription);
            }
        }
        return before - size;
    }

    /** Removes all messages. */
    void clear() {
        while (size > 0) {
            remove();
        }
    }

    private void account(int change) {
        bytes += change;
        resources.budget().add(change);
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
