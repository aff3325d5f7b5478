// SPDX-License-Identifier: Apache-2.0
package io.smqtt;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.FluxSink;

/**
 * A consumer in the broker's own process. Messages that it has no demand for wait in a bounded buffer; past the bound they
 * are dropped and counted. Messages come from all event loops; the sink puts them in a row.
 */
final class InProcessSubscriber implements Subscriber {

    private final String id;
    private final FluxSink<ApplicationMessage> sink;
    private final BrokerObserver observer;
    private final int maximumWaiting;
    private final AtomicLong taken;
    private final AtomicLong given = new AtomicLong();

    /**
     * Creates a subscriber.
     *
     * @param taken how many messages the consumer has taken
     */
    InProcessSubscriber(
            String id,
            FluxSink<ApplicationMessage> sink,
            BrokerObserver observer,
            AtomicLong taken,
            int maximumWaiting) {
        this.id = id;
        this.sink = sink;
        this.observer = observer;
        this.taken = taken;
        this.maximumWaiting = maximumWaiting;
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
        if (inFlightCount() >= maximumWaiting) {
            observer.messageDropped(DropReason.NO_DEMAND, 1);
            ticket.dropped(DropReason.NO_DEMAND);
            return;
        }
        given.incrementAndGet();
        sink.next(message);
        observer.messageDelivered(message.qos(), message.payload().size());
    }

    @Override
    public boolean isOnline() {
        return true;
    }

    @Override
    public int inFlightCount() {
        return (int) (given.get() - taken.get());
    }

    @Override
    public boolean mayHold() {
        return false;
    }
}
