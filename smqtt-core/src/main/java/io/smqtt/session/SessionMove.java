// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.DropReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * A session on its way from one event loop to another. Messages that were routed to the old loop are passed on from there
 * and taken at once; what is routed straight to the new loop waits until the last of those has arrived, so that the order
 * of each publisher's messages survives the move [MQTT-4.6.0-6]. What waits is bounded like the session's queue. On the
 * new loop only.
 */
final class SessionMove {

    private final Session session;
    private final SessionResources resources;
    private final DeliveryQueue held;
    private final ArrayDeque<RouteTicket> tickets = new ArrayDeque<>();
    private final List<Runnable> afterwards = new ArrayList<>();

    SessionMove(Session session, SessionResources resources) {
        this.session = session;
        this.resources = resources;
        this.held = new DeliveryQueue(resources.budget());
    }

    void hold(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        DropReason full = held.refusal(message.footprintBytes(), resources.limits());
        if (full == null) {
            held.add(message, subscription);
            tickets.add(ticket);
            ticket.hold();
        } else {
            resources.observer().messageDropped(full, 1);
        }
    }

    /** Lets something wait for the end of the move. */
    void afterwards(Runnable task) {
        afterwards.add(task);
    }

    /** All that was passed on has arrived. */
    void finish() {
        while (!held.isEmpty()) {
            ApplicationMessage message = held.message();
            Subscription subscription = held.subscription();
            held.remove();
            RouteTicket ticket = tickets.remove();
            session.take(message, subscription, ticket);
            ticket.release(true);
        }
        afterwards.forEach(Runnable::run);
    }
}
