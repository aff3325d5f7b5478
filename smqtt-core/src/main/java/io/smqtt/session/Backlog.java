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
import org.jspecify.annotations.Nullable;

/**
 * Messages that wait behind a session's in-flight window, in order, bounded by count and bytes. A {@link DeliveryQueue} keeps
 * them in memory, a {@link DurableQueue} in the store with the first of them at hand.
 */
@OnEventLoop
abstract sealed class Backlog permits DeliveryQueue, DurableQueue {

    final SessionResources resources;
    int size;
    long bytes;

    Backlog(SessionResources resources) {
        this.resources = resources;
    }

    /**
     * The rule by which every queue refuses a message.
     *
     * @param messages that wait already
     * @param bytes of these and of the message
     * @param maximumMessages the limit of the queue
     * @param maximumBytes the limit of the queue
     * @param memory the budget that the queue counts against; null if its messages are in the store
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

    /** Why one more message does not fit, or null if it does. */
    final @Nullable DropReason refusal(int footprintBytes, LimitsConfig limits) {
        QueueBudget memory = isInMemory() ? resources.budget() : null;
        return refusal(size, bytes + footprintBytes, limits.maxQueuedMessages(), limits.maxQueuedBytes(), memory);
    }

    /** How many messages wait. */
    @AnyThread
    final int size() {
        return size;
    }

    /** The footprint of the messages that wait. */
    final long bytes() {
        return bytes;
    }

    /** Whether nothing waits, at hand or not: the next message need not wait either. */
    abstract boolean isEmpty();

    /** Whether the messages are in memory alone, also when they are in flight, and count against the {@link QueueBudget}. */
    abstract boolean isInMemory();

    /**
     * Drops messages until one more fits: those that have expired, then the oldest if the drop policy is so.
     *
     * @param slows whether the publisher is slowed down if there is no room, so that the oldest need not go
     * @return why the message does not fit, or null if it does now
     */
    abstract @Nullable DropReason makeRoom(int footprintBytes, LimitsConfig limits, boolean slows);

    /** Whether a message of a shared group may wait here and not in the queue of its group: up to half of the limits. */
    abstract boolean takesShared(int footprintBytes, LimitsConfig limits);

    /**
     * Adds a message, even beyond the limits.
     *
     * @param qos of the delivery
     * @param ticket held until the message is safe, if it is stored
     */
    abstract void append(ApplicationMessage message, Subscription subscription, QoS qos, RouteTicket ticket);

    /** Whether the oldest message is at hand, which the following methods are about. */
    abstract boolean hasNext();

    abstract ApplicationMessage message();

    abstract Subscription subscription();

    /** Whether the message was sent before, by an earlier run of the broker: it goes by {@link #delivery}. */
    boolean wasSent() {
        return false;
    }

    /** How far the delivery of the message has come. */
    StoredDelivery delivery() {
        return StoredDelivery.WAITING;
    }

    /** The number of the message in the store; 0 in memory. */
    long number() {
        return 0;
    }

    /** Takes off the oldest message, which goes into the window. */
    abstract void remove();

    /** Takes off the oldest message, which is not sent. */
    void drop(DropReason reason) {
        remove();
        resources.observer().messageDropped(reason, 1);
    }

    /** Brings the oldest messages to hand, in a while. Does nothing if there are enough, or no client is connected. */
    void fetch() {}

    /** The client is connected. */
    void attach() {}

    /** The client is gone. */
    void detach() {}
}
