// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait behind a session's in-flight window, in order, bounded by count and bytes. A {@link DeliveryQueue}
 * keeps them in memory. A {@link DurableQueue} keeps them in the store, with a prefetched head in memory.
 */
@OnEventLoop
abstract class Backlog {

    final SessionResources resources;
    int size;
    long bytes;

    /** Messages that were dropped before they were sent. */
    long dropped;

    Backlog(SessionResources resources) {
        this.resources = resources;
    }

    /**
     * The rule by which every queue refuses a message.
     *
     * @param messages messages already waiting
     * @param bytes bytes of these messages and of the new one
     * @param maximumMessages the limit of the queue
     * @param maximumBytes the limit of the queue
     * @param memory the budget that the queue counts against; null if its messages are stored
     * @return null if the message fits
     */
    static @Nullable DropReason refusal(
            int messages, long bytes, long maximumMessages, long maximumBytes, @Nullable QueueBudget memory) {
        if (messages >= maximumMessages) {
            return DropReason.QUEUE_COUNT;
        }
        if (bytes > maximumBytes) {
            return DropReason.QUEUE_BYTES;
        }
        return memory != null && memory.isExhausted() ? DropReason.TOTAL_QUEUE_BYTES : null;
    }

    /** Returns why one more message does not fit, or null if it fits. */
    final @Nullable DropReason refusal(int footprintBytes, LimitsConfig limits) {
        QueueBudget memory = isInMemory() ? resources.budget() : null;
        return refusal(size, bytes + footprintBytes, limits.maxQueuedMessages(), limits.maxQueuedBytes(), memory);
    }

    /** Opens the journal of the flow that sends the messages of this backlog. */
    DeliveryJournal open(OutboundFlow flow, InFlightWindow window) {
        return DeliveryJournal.UNSTORED;
    }

    /** The number of waiting messages. */
    @AnyThread
    final int size() {
        return size;
    }

    /** The footprint of the waiting messages, in bytes. */
    final long bytes() {
        return bytes;
    }

    /** Whether no message waits, in memory or in the store. If so, the next message need not wait either. */
    abstract boolean isEmpty();

    /** Whether messages exist in memory only, in flight too, and count against the {@link QueueBudget}. */
    abstract boolean isInMemory();

    /**
     * Drops messages until one more fits: first expired ones, then the oldest ones if the drop policy says so.
     *
     * @param slows whether the publisher is slowed down when there is no room, so that the oldest message need not be
     *     dropped
     * @return why the message does not fit, or null if it fits now
     */
    abstract @Nullable DropReason makeRoom(int footprintBytes, LimitsConfig limits, boolean slows);

    /** Whether a message of a shared group may wait here and not in the queue of its group: up to half of the limits. */
    abstract boolean takesShared(int footprintBytes, LimitsConfig limits);

    /**
     * Adds a message, even beyond the limits.
     *
     * @param qos of the delivery
     * @param ticket held until the message is committed, if it is stored
     */
    abstract void append(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket);

    /** Whether the oldest message is in memory. The following methods refer to this message. */
    abstract boolean hasNext();

    abstract ApplicationMessage message();

    abstract Subscription subscription();

    /** Whether an earlier run of the broker has sent the message. Its packet identifier and QoS are in {@link #delivery}. */
    boolean wasSent() {
        return false;
    }

    /** The state of the message's delivery. */
    StoredDelivery delivery() {
        return StoredDelivery.WAITING;
    }

    /** The number of the message in the store; 0 in memory. */
    long number() {
        return 0;
    }

    /** Removes the oldest message, which moves to the in-flight window. */
    abstract void remove();

    /** Removes the oldest message without sending it. */
    void drop(DropReason reason) {
        TracedQueue.dropped(message(), subscription(), reason);
        remove();
        dropped++;
        resources.observer().messageDropped(reason, 1);
    }

    /**
     * Lists the oldest messages that are in memory, without changing anything.
     *
     * @param most the maximum number of messages
     * @param target receives them in order
     */
    abstract void list(int most, List<WaitingMessage> target);

    /** Loads the oldest messages asynchronously. Does nothing if enough are loaded, or no client is connected. */
    void fetch() {}

    /** Called when the client has connected. */
    void attach() {}

    /** Called when the client has disconnected. */
    void detach() {}
}
