// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.message.MessageIds;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import io.smqtt.trace.RunningTraces;
import io.smqtt.trace.TracedLoop;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Routing state of one event loop: the deliveries that are in flight to other event loops. All
 * deliveries of one pass to one event loop travel together: one queue offer, and at most one wake-up. Methods that are annotated
 * with {@code OnEventLoop} may be called only on this event loop.
 */
public final class RoutingLoop implements TracedLoop {

    private static final Logger LOG = LoggerFactory.getLogger(RoutingLoop.class);

    /** One of this many messages is timed: enough for a distribution, at no measurable cost. */
    private static final int TIMED_EVERY = 1_024;

    /** Stack traces of failed deliveries in a minute. */
    private static final int FAILURES_PER_SUBSCRIBER = 1;

    private static final int FAILURES_IN_ALL = 10;

    private final LogLimiter failures = new LogLimiter(LOG, Level.ERROR, FAILURES_PER_SUBSCRIBER, FAILURES_IN_ALL);
    private final EventExecutor executor;
    private final int index;
    private final BrokerObserver observer;
    private final @Nullable DeliveryBatch[] outbound;
    private final Runnable flushTask = this::flush;
    private final MessageIds ids = new MessageIds();
    private boolean flushScheduled;
    private int untilTimed = TIMED_EVERY;
    private boolean matching;
    private @Nullable RunningTraces traces;

    RoutingLoop(EventExecutor executor, int index, int loops, BrokerObserver observer) {
        this.executor = executor;
        this.observer = observer;
        this.index = index;
        this.outbound = new @Nullable DeliveryBatch[loops];
    }

    /**
     * The traces that run.
     *
     * @return null if there are none
     */
    @OnEventLoop
    public @Nullable RunningTraces traces() {
        return traces;
    }

    @Override
    @OnEventLoop
    public void traces(@Nullable RunningTraces running) {
        traces = running;
    }

    /** Reports a message that did not reach a subscriber. */
    @OnEventLoop
    void traceDrop(ApplicationMessage message, Subscription subscription, DropReason reason) {
        if (traces != null) {
            Subscriber subscriber = subscription.subscriber();
            traces.dropped(subscriber.id(), subscriber.client(), message, reason);
        }
    }

    /**
     * The event loop itself.
     *
     * @return the executor of the event loop
     */
    @Override
    @AnyThread
    public EventExecutor executor() {
        return executor;
    }

    /**
     * The index of the event loop.
     *
     * @return 0 up to the number of loops, exclusive
     */
    public int index() {
        return index;
    }

    /**
     * Gives a message its identifier, when the broker accepts it.
     *
     * @return what no other message has
     */
    @OnEventLoop
    public long nextMessageId() {
        return ids.next();
    }

    /**
     * Whether the next message is to be timed.
     *
     * @return true for one of 1,024
     */
    @OnEventLoop
    public boolean timesNext() {
        if (--untilTimed > 0) {
            return false;
        }
        untilTimed = TIMED_EVERY;
        return true;
    }

    /** Begins a match; false if this is a route inside of another one. */
    @OnEventLoop
    boolean beginMatch() {
        boolean first = !matching;
        matching = true;
        return first;
    }

    /** Ends the match that has begun first. */
    @OnEventLoop
    void endMatch() {
        matching = false;
    }

    /** Adds a delivery for a subscriber of another loop. */
    @OnEventLoop
    void send(
            RoutingLoop target,
            ApplicationMessage message,
            Subscription subscription,
            RouteTicket ticket,
            boolean passedOn) {
        assert executor.inEventLoop();
        DeliveryBatch batch = outbound[target.index];
        if (batch == null || batch.passedOn != passedOn) {
            flushTo(target.index);
            batch = new DeliveryBatch(target, passedOn);
            outbound[target.index] = batch;
        }
        batch.add(message, subscription, ticket);
        if (!flushScheduled) {
            flushScheduled = true;
            executor.execute(flushTask);
        }
    }

    /**
     * Delivers a message to a subscriber. An exception of the subscriber is logged, and does not affect other subscribers. This includes errors:
     * Netty throws one when the memory outside of the heap is used up, and the other deliveries of a batch must not be lost with this one.
     */
    @OnEventLoop
    boolean deliver(ApplicationMessage message, Subscription subscription, RouteTicket ticket, boolean passedOn) {
        Subscriber subscriber = subscription.subscriber();
        try {
            if (passedOn) {
                subscriber.deliverPassedOn(message, subscription, ticket);
            } else {
                subscriber.deliver(message, subscription, ticket);
            }
            return true;
        } catch (RuntimeException | Error e) {
            if (failures.allows(subscriber.id())) {
                LOG.error("a message could not be delivered to {}", LogText.escape(subscriber.id()), e);
            }
            observer.messageDropped(DropReason.FAILED, 1);
            traceDrop(message, subscription, DropReason.FAILED);
            return false;
        }
    }

    /** Sends all batches to their event loops. */
    @OnEventLoop
    void flush() {
        assert executor.inEventLoop();
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

    /** Deliveries to subscribers that another event loop owned at the time of routing. */
    private static final class DeliveryBatch implements Runnable {

        private static final int FIRST_CAPACITY = 32;

        private final RoutingLoop target;
        private final boolean passedOn;
        private ApplicationMessage[] messages = new ApplicationMessage[FIRST_CAPACITY];
        private Subscription[] subscriptions = new Subscription[FIRST_CAPACITY];
        private RouteTicket[] tickets = new RouteTicket[FIRST_CAPACITY];
        private int size;

        DeliveryBatch(RoutingLoop target, boolean passedOn) {
            this.target = target;
            this.passedOn = passedOn;
        }

        void add(ApplicationMessage message, Subscription subscription, RouteTicket ticket) {
            if (size == messages.length) {
                messages = Arrays.copyOf(messages, size * 2);
                subscriptions = Arrays.copyOf(subscriptions, size * 2);
                tickets = Arrays.copyOf(tickets, size * 2);
            }
            message.payload().retain();
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
                if (owner != null && owner != target) { // moved in the meantime
                    target.send(owner, messages[i], subscription, tickets[i], true);
                } else {
                    tickets[i].release(target.deliver(messages[i], subscription, tickets[i], passedOn));
                }
                messages[i].payload().release();
            }
        }
    }
}
