// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Messages for a session that are held back, in order, with the tickets of their publishers. Older messages are in transit
 * from another event loop or node and come first [MQTT-4.6.0-6]. Bounded like the session's queue.
 */
@OnEventLoop
final class HeldMessages {

    private final SessionResources resources;
    private final @Nullable ConsumerPressure pressure;
    private final @Nullable Taker ofGroups;
    private final DeliveryQueue messages;
    private final ArrayDeque<RouteTicket> tickets = new ArrayDeque<>();

    /** Held messages that precede these. */
    private @Nullable HeldMessages before;

    /** Takes a held message, together with the hold on its ticket. */
    @FunctionalInterface
    interface Taker {
        void take(ApplicationMessage message, Subscription subscription, RouteTicket ticket);
    }

    /**
     * Creates an empty instance.
     *
     * @param pressure the back-pressure of an in-process consumer; null for a client
     * @param ofGroups takes messages of shared groups at once if the session moves between nodes; null if all are held back
     */
    HeldMessages(SessionResources resources, @Nullable ConsumerPressure pressure, @Nullable Taker ofGroups) {
        this.resources = resources;
        this.pressure = pressure;
        this.ofGroups = ofGroups;
        this.messages = new DeliveryQueue(resources);
    }

    /** Sets the held messages that are released before these. */
    void follow(@Nullable HeldMessages others) {
        before = others;
    }

    @Nullable
    HeldMessages before() {
        return before;
    }

    void hold(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        if (ofGroups != null && subscription.shareName() != null) {
            ofGroups.take(message, subscription, ticket);
            return;
        }
        DropReason full =
                messages.refusal(message.footprintBytes(), pressure == null ? resources.limits() : pressure.limits());
        if (full == null) {
            messages.add(message, subscription);
            tickets.add(ticket);
            ticket.hold();
            return;
        }
        resources.observer().messageDropped(full, 1);
        TracedQueue.dropped(message, subscription, full);
        ticket.dropped(full);
        if (pressure != null) {
            pressure.dropped(full);
        }
        if (ofGroups != null) {
            ticket.hold();
            ticket.release(false);
        }
    }

    int size() {
        return messages.size();
    }

    boolean isEmpty() {
        return messages.isEmpty();
    }

    /** Removes the oldest message. The taker becomes responsible for the hold on its ticket. */
    void poll(Taker taker) {
        ApplicationMessage message = messages.message();
        Subscription subscription = messages.subscription();
        messages.remove();
        taker.take(message, subscription, tickets.remove());
    }

    /** Passes all messages on. */
    void letGo(Taker taker) {
        while (!isEmpty()) {
            poll((message, subscription, ticket) -> {
                taker.take(message, subscription, ticket);
                ticket.release(true);
            });
        }
    }
}
