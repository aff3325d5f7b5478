// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session on its way from one event loop to another. Messages that were routed to the old loop are passed on from there
 * and taken at once; what is routed straight to the new loop waits until the last of those has arrived, so that the order
 * of each publisher's messages survives the move [MQTT-4.6.0-6]. What waits is bounded like the session's queue. On the
 * new loop only.
 */
@OnEventLoop
final class SessionMove {

    private final @Nullable Session session;
    private final @Nullable ConsumerPressure pressure;
    private final SessionResources resources;
    private final DeliveryQueue held;
    private final ArrayDeque<RouteTicket> tickets = new ArrayDeque<>();
    private final List<Runnable> afterwards = new ArrayList<>();

    /**
     * Creates one that holds nothing.
     *
     * @param session whose messages these are; null if {@link #finish} is not called
     * @param pressure that of a consumer in this process, or null
     */
    SessionMove(@Nullable Session session, @Nullable ConsumerPressure pressure, SessionResources resources) {
        this.session = session;
        this.pressure = pressure;
        this.resources = resources;
        this.held = new DeliveryQueue(resources.budget());
    }

    void hold(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        DropReason full = refusal(message);
        if (full == null) {
            held.add(message, subscription);
            tickets.add(ticket);
            ticket.hold();
        } else {
            resources.observer().messageDropped(full, 1);
            ticket.dropped(full);
            if (pressure != null) {
                pressure.dropped(full);
            }
        }
    }

    private @Nullable DropReason refusal(ApplicationMessage message) {
        LimitsConfig limits = pressure == null ? resources.limits() : pressure.limits();
        return held.refusal(message.footprintBytes(), limits);
    }

    /** Lets something wait for the end of the move. */
    void afterwards(Runnable task) {
        afterwards.add(task);
    }

    /** Like {@link #hold}, but what does not fit is refused: its publisher is told. */
    void holdOrRefuse(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        boolean full = refusal(message) != null;
        hold(message, subscription, ticket);
        if (full) {
            ticket.hold();
            ticket.release(false);
        }
    }

    int size() {
        return held.size();
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** Takes off what has waited longest. The hold on its ticket is the taker's. */
    void poll(Session.Taker taker) {
        ApplicationMessage message = held.message();
        Subscription subscription = held.subscription();
        held.remove();
        taker.take(message, subscription, tickets.remove());
    }

    /** All that was passed on has arrived. */
    void finish() {
        Session taker = session;
        while (taker != null && !held.isEmpty()) {
            poll((message, subscription, ticket) -> {
                taker.take(message, subscription, ticket);
                ticket.release(true);
            });
        }
        afterwards.forEach(Runnable::run);
    }
}
