// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Subscription;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A stored message of a shared subscription on its way to another member: forgotten here when it is safe there, and waiting
 * here again when it was refused or could not be kept.
 */
final class Departure implements RouteTicket {

    private final Session session;
    private final DurableQueue queue;
    private final long number;
    private final ApplicationMessage message;
    private final Subscription subscription;
    private final AtomicInteger holds = new AtomicInteger();
    private volatile boolean failed;
    private volatile boolean refused;

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

    /** The other member has no room; it asks again. While the ticket is held. */
    void refused() {
        refused = true;
    }

    private void arrived() {
        if (session.hasEnded()) {
            if (failed || refused) {
                session.take(message, subscription, RouteTicket.NONE);
            }
        } else if (failed || refused) {
            queue.cameBack(number, message, subscription, failed);
        } else {
            queue.departed(number);
        }
    }
}
