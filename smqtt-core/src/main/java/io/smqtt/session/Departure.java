// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import java.util.concurrent.atomic.AtomicInteger;

/** A stored message of a shared subscription on its way to another member: forgotten here when it is safe there. */
final class Departure implements RouteTicket {

    private final Session session;
    private final DurableQueue queue;
    private final long number;
    private final ApplicationMessage message;
    private final Subscription subscription;
    private final AtomicInteger holds = new AtomicInteger();
    private volatile boolean failed;

    Departure(Session session, DurableQueue queue, long number, ApplicationMessage message, Subscription subscription) {
        this.session = session;
        this.queue = queue;
        this.number = number;
        this.message = message;
        this.subscription = subscription;
    }

    @Override
    public void hold() {
        holds.incrementAndGet();
    }

    @Override
    public void release(boolean success) {
        if (!success) {
            failed = true;
        }
        if (holds.decrementAndGet() == 0) {
            session.execute(this::arrived);
        }
    }

    private void arrived() {
        if (session.hasEnded()) {
            return;
        }
        if (failed) { // it waits here again, behind the others
            session.take(message, subscription, RouteTicket.NONE);
        }
        queue.departed(number);
    }
}
