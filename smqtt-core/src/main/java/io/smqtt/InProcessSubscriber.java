// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.session.QueueBudget;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/**
 * A consumer in this process without a session. Messages without demand wait in a bounded buffer. Beyond the bound QoS 0 messages
 * are dropped and counted, and publishers of other messages wait. Messages come from all event loops; the sink serializes them.
 */
final class InProcessSubscriber implements Subscriber {

    private final String id;
    private final FluxSink<ApplicationMessage> sink;
    private final BrokerObserver observer;
    private final QueueBudget budget;
    private final ConsumerPressure pressure;
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicLong waitingBytes = new AtomicLong();
    private volatile boolean left;

    /**
     * Creates a subscriber.
     *
     * @param pressure the limits of the buffer; delays publishers
     */
    InProcessSubscriber(
            String id,
            FluxSink<ApplicationMessage> sink,
            BrokerObserver observer,
            QueueBudget budget,
            ConsumerPressure pressure) {
        this.id = id;
        this.sink = sink;
        this.observer = observer;
        this.budget = budget;
        this.pressure = pressure;
    }

    @Override
    public String id() {
        return id;
    }

    @Override
    public @Nullable RoutingLoop owner() {
        return null;
    }

    @Override
    public void deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
        int footprint = message.footprintBytes();
        boolean full = waiting.get() >= pressure.limits().maxQueuedMessages()
                || waitingBytes.get() + footprint > pressure.limits().maxQueuedBytes();
        boolean queues = waiting.get() > 0; // without a backlog the limit of all queues does not apply
        boolean slowed = message.qos() != QoS.AT_MOST_ONCE;
        if (full ? !slowed || !pressure.takesMore() : queues && budget.isExhausted()) {
            DropReason reason = full ? DropReason.NO_DEMAND : DropReason.TOTAL_QUEUE_BYTES;
            observer.messageDropped(reason, 1);
            ticket.dropped(reason);
            pressure.dropped(reason);
            return;
        }
        account(1, footprint);
        boolean holds = full || (slowed && queues && pressure.holdsEarly());
        if (holds) {
            ticket.queued();
            pressure.hold(ticket, footprint);
        }
        sink.next(message);
        if (holds) { // the consumer may have taken messages in the meantime
            pressure.left(waiting.get(), waitingBytes.get());
        }
        if (left) {
            end();
        }
        observer.messageDelivered(message.qos(), message.payload().size());
    }

    private void account(int messages, int footprintBytes) {
        waiting.addAndGet(messages);
        waitingBytes.addAndGet(footprintBytes);
        budget.add(footprintBytes);
    }

    /** The consumer has taken a message. */
    @AnyThread
    void taken(ApplicationMessage message) {
        pressure.taken();
        account(-1, -message.footprintBytes());
        pressure.left(waiting.get(), waitingBytes.get());
        if (left) { // corrects what both threads have counted
            end();
        }
    }

    /** The consumer has ended: releases its budget and the publishers that wait. Has no effect the second time. */
    @AnyThread
    void end() {
        left = true;
        budget.add(-waitingBytes.getAndSet(0));
        pressure.releaseAll();
    }

    @Override
    public boolean isOnline() {
        return true;
    }

    @Override
    public int inFlightCount() {
        return waiting.get();
    }
}
