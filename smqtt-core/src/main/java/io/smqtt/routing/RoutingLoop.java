// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.message.ApplicationMessage;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What routing keeps for one event loop: the scratch result of matching, and the deliveries that are on their way to
 * other loops. Deliveries to one loop travel together: one queue offer, and at most one wake-up, for all that a pass of
 * this loop produced. Only the loop itself may call the methods that say so.
 */
public final class RoutingLoop {

    private static final Logger LOG = LoggerFactory.getLogger(RoutingLoop.class);

    private final EventExecutor executor;
    private final int index;
    private final @Nullable DeliveryBatch[] outbound;
    private final Runnable flushTask = this::flush;
    private boolean flushScheduled;
    private @Nullable Matches spare = new Matches();

    RoutingLoop(EventExecutor executor, int index, int loops) {
        this.executor = executor;
        this.index = index;
        this.outbound = new @Nullable DeliveryBatch[loops];
    }

    /**
     * The event loop itself.
     *
     * @return where tasks for this loop go
     */
    public EventExecutor executor() {
        return executor;
    }

    /**
     * The number of the loop.
     *
     * @return 0 up to the number of loops, exclusive
     */
    public int index() {
        return index;
    }

    /** Takes the scratch result; a nested route gets another. On this loop. */
    Matches borrowMatches() {
        Matches borrowed = spare;
        spare = null;
        return borrowed == null ? new Matches() : borrowed;
    }

    /** Puts the scratch result back. On this loop. */
    void returnMatches(Matches borrowed) {
        borrowed.clear();
        spare = borrowed;
    }

    /** Adds a delivery for a subscriber of another loop. On this loop. */
    void send(
            RoutingLoop target,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket ticket,
            boolean forwarded) {
        DeliveryBatch batch = outbound[target.index];
        if (batch == null || batch.forwarded != forwarded) {
            flushTo(target.index);
            batch = new DeliveryBatch(target, forwarded);
            outbound[target.index] = batch;
        }
        batch.add(message, subscription, ticket);
        if (!flushScheduled) {
            flushScheduled = true;
            executor.execute(flushTask);
        }
    }

    /** Hands all deliveries on their way to their loops. On this loop. */
    void flush() {
        flushScheduled = false;
        for (int i = 0; i < outbound.length; i++) {
            flushTo(i);
        }
    }

    private void flushTo(int target) {
        DeliveryBatch batch = outbound[target];
        if (batch != null) {
            outbound[target] = null;
            batch.target.executor.execute(batch);
        }
    }

    /** Deliveries for subscribers that another loop owned when they were routed. */
    private static final class DeliveryBatch implements Runnable {

        private static final int FIRST_CAPACITY = 32;

        private final RoutingLoop target;
        private final boolean forwarded;
        private ApplicationMessage[] messages = new ApplicationMessage[FIRST_CAPACITY];
        private Subscription[] subscriptions = new Subscription[FIRST_CAPACITY];
        private RouteTicket[] tickets = new RouteTicket[FIRST_CAPACITY];
        private int size;

        DeliveryBatch(RoutingLoop target, boolean forwarded) {
            this.target = target;
            this.forwarded = forwarded;
        }

        void add(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            if (size == messages.length) {
                messages = Arrays.copyOf(messages, size * 2);
                subscriptions = Arrays.copyOf(subscriptions, size * 2);
                tickets = Arrays.copyOf(tickets, size * 2);
            }
            messages[size] = message;
            subscriptions[size] = subscription;
            tickets[size++] = ticket;
        }

        @Override
        public void run() {
            for (int i = 0; i < size; i++) {
                Subscription subscription = subscriptions[i];
                Subscriber subscriber = subscription.subscriber();
                RoutingLoop owner = subscriber.owner();
                if (owner != null && owner != target) { // it has moved since
                    target.send(owner, messages[i], subscription, tickets[i], true);
                    continue;
                }
                boolean taken = false;
                try {
                    if (forwarded) {
                        subscriber.deliverForwarded(messages[i], subscription, tickets[i]);
                    } else {
                        subscriber.deliver(messages[i], subscription, tickets[i]);
                    }
                    taken = true;
                } catch (RuntimeException e) { // one subscriber's defect must not cost others their messages
                    LOG.error("{} could not take a message", subscriber.id(), e);
                }
                tickets[i].release(taken);
            }
        }
    }
}
