// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.config.LimitsConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.LogText;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The back-pressure of an in-process consumer. A message above QoS 0 that arrives when the consumer's queue is full is
 * accepted, and its publisher's ticket is held until there is room. A client is not acknowledged and runs out of its
 * receive maximum; the result of an in-process publish stays incomplete. No message is lost unless all queues of the broker
 * together exceed their limit. Other nodes of a cluster do not wait: their messages are accepted above the consumer's
 * limits, up to that one.
 *
 * <p>A consumer that waits for a message which it publishes to itself would deadlock. Therefore in-process publishers are
 * released when the consumer has taken nothing for a while, and their messages stay above the limit. Clients stay held.
 *
 * <p>It also logs dropped messages: the first one at once, then a count once a minute.
 */
@AnyThread
public final class ConsumerPressure {

    private static final Logger LOG = LoggerFactory.getLogger(ConsumerPressure.class);
    private static final Object STALLED = "a consumer that takes nothing";
    private static final int RELEASED_AT_ONCE = 256;

    private final ScheduledExecutorService executor;
    private final QueueBudget budget;
    private volatile String name;
    private volatile LimitsConfig limits;
    private volatile boolean slows;
    private volatile Duration patience = Duration.ofSeconds(1);

    private final Object lock = new Object();
    private final ArrayDeque<Held> clients = new ArrayDeque<>(); // guarded by lock
    private final ArrayDeque<Held> application = new ArrayDeque<>(); // guarded by lock
    private long nextNumber; // guarded by lock
    private final AtomicInteger heldCount = new AtomicInteger();
    private final AtomicLong heldBytes = new AtomicLong();
    private final AtomicLong progress = new AtomicLong();
    private final AtomicBoolean watched = new AtomicBoolean();
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    /** A held publisher. Numbers ascend. */
    private record Held(RouteTicket ticket, int footprintBytes, long number) {}

    /** Returns the back-pressure of the session with a client identifier; null if it is not an in-process consumer. */
    static @Nullable ConsumerPressure of(
            String clientId, LimitsConfig limits, RoutingLoop loop, Router router, QueueBudget budget) {
        if (!InProcess.isReserved(clientId)) {
            return null;
        }
        router.ticketsAreHeld();
        return new ConsumerPressure(clientId, InProcess.limits(limits), loop.executor(), budget);
    }

    /**
     * Creates the pressure of a consumer that drops nothing.
     *
     * @param name the consumer's name in log messages
     * @param limits the consumer's queue limits
     * @param executor an event loop, for deferred checks
     * @param budget of all queues
     */
    public ConsumerPressure(String name, LimitsConfig limits, ScheduledExecutorService executor, QueueBudget budget) {
        this.name = name;
        this.limits = limits;
        this.executor = executor;
        this.budget = budget;
        this.slows = true;
    }

    /**
     * Sets the options of a consumer that attaches to an existing session.
     *
     * @param consumer its name in log messages
     * @param queue the consumer's queue limits
     * @param slowing false if messages above the limits are dropped
     * @param stalled how long the consumer may take nothing before in-process publishers are released
     */
    public void set(String consumer, LimitsConfig queue, boolean slowing, Duration stalled) {
        name = consumer;
        limits = queue;
        slows = slowing;
        patience = stalled;
    }

    /**
     * The name of the consumer in log messages.
     *
     * @return that of its options
     */
    public String name() {
        return name;
    }

    /**
     * The limits of the queue.
     *
     * @return limits, of which only those of the queue apply
     */
    public LimitsConfig limits() {
        return limits;
    }

    /**
     * Returns whether a message above QoS 0 is accepted although the queue is full.
     *
     * @return false if messages are dropped then, if all queues together are full, or if the consumer's share of held
     *     messages is used up
     */
    public boolean takesMore() {
        return slows && !budget.isFull() && heldBytes.get() < Math.max(limits.maxQueuedBytes(), budget.share());
    }

    /**
     * Returns whether the publisher of a message above QoS 0 is held although the consumer's queue has room.
     *
     * @return true if all queues together are nearly full
     */
    public boolean holdsEarly() {
        return slows && budget.isNearlyFull();
    }

    /**
     * Holds the publisher of a message that was accepted above the limits, until {@link #left} finds room for it.
     *
     * @param ticket the publisher's ticket; call this before {@code deliver} returns
     * @param footprintBytes of the message
     */
    public void hold(RouteTicket ticket, int footprintBytes) {
        if (ticket == RouteTicket.NONE || !ticket.mayBeSlowed()) {
            return;
        }
        ticket.hold();
        heldCount.incrementAndGet();
        heldBytes.addAndGet(footprintBytes);
        budget.holds(1);
        boolean watches = ticket.isOfApplication();
        synchronized (lock) {
            (watches ? application : clients).add(new Held(ticket, footprintBytes, nextNumber++));
        }
        if (watches) {
            watch();
        }
    }

    /** The consumer has taken a message. */
    public void taken() {
        progress.incrementAndGet();
    }

    /**
     * Releases the publishers whose messages are within the limits now.
     *
     * @param waiting waiting messages, including those of held publishers
     * @param waitingBytes the footprint of these messages
     */
    public void left(int waiting, long waitingBytes) {
        if (heldCount.get() == 0) {
            return;
        }
        List<Held> free = new ArrayList<>();
        synchronized (lock) {
            for (ArrayDeque<Held> next = oldest(); next != null; next = oldest()) {
                if (!hasRoom(next.element(), waiting, waitingBytes)) {
                    break;
                }
                free.add(take(next));
            }
        }
        letGo(free);
    }

    /** The queue with the publisher that has waited longest; null if none waits. */
    private @Nullable ArrayDeque<Held> oldest() {
        Held client = clients.peek();
        Held own = application.peek();
        if (client == null) {
            return own == null ? null : application;
        }
        return own == null || client.number < own.number ? clients : application;
    }

    private Held take(ArrayDeque<Held> from) {
        Held one = from.remove();
        heldCount.decrementAndGet();
        heldBytes.addAndGet(-one.footprintBytes);
        budget.holds(-1);
        return one;
    }

    private static void letGo(List<Held> free) {
        for (Held one : free) { // outside of the lock: a publisher may publish again here
            one.ticket.release(true);
        }
    }

    private boolean hasRoom(Held next, int waiting, long waitingBytes) {
        int within = waiting - heldCount.get();
        long withinBytes = waitingBytes - heldBytes.get();
        return within <= 0
                || (!budget.isNearlyFull()
                        && within < limits.maxQueuedMessages()
                        && withinBytes + next.footprintBytes <= limits.maxQueuedBytes());
    }

    /** Releases all publishers: the consumer has disconnected. */
    public void releaseAll() {
        List<Held> free = new ArrayList<>();
        synchronized (lock) {
            for (ArrayDeque<Held> next = oldest(); next != null; next = oldest()) {
                free.add(take(next));
            }
        }
        letGo(free);
    }

    // --- consumers that wait for themselves

    private void watch() {
        if (watched.compareAndSet(false, true)) {
            long seen = progress.get();
            later(() -> releaseIfStalled(seen), patience.toNanos());
        }
    }

    private void releaseIfStalled(long seen) {
        if (progress.get() == seen) {
            long end;
            synchronized (lock) {
                end = nextNumber;
            }
            releaseStalled(end, 0);
        } else {
            watchOn();
        }
    }

    /** Releases in-process publishers with lower numbers, in small batches because the event loop is shared. */
    private void releaseStalled(long end, int before) {
        List<Held> free = new ArrayList<>();
        boolean more;
        synchronized (lock) {
            while (isBefore(application.peek(), end) && free.size() < RELEASED_AT_ONCE) {
                free.add(take(application));
            }
            more = isBefore(application.peek(), end);
        }
        letGo(free);
        int released = before + free.size();
        if (more) {
            later(() -> releaseStalled(end, released), 0);
            return;
        }
        watchOn();
        if (released > 0) {
            stalled(released);
        }
    }

    private static boolean isBefore(@Nullable Held one, long end) {
        return one != null && one.number < end;
    }

    private void watchOn() {
        watched.set(false);
        boolean more;
        synchronized (lock) {
            more = !application.isEmpty();
        }
        if (more) {
            watch();
        }
    }

    private void later(Runnable task, long delayNanos) {
        try {
            executor.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) { // the broker has ended
            releaseAll();
        }
    }

    // --- the log

    /**
     * Logs that a message for the consumer was dropped.
     *
     * @param reason the reason for the drop
     */
    public void dropped(DropReason reason) {
        if (reason != DropReason.NOT_AUTHORIZED && reason != DropReason.EXPIRED) { // expected losses are not logged
            String consumer = name;
            if (lines.allows(consumer)) {
                LOG.warn(
                        "messages dropped for {}; it takes less than is published, and its queue is full",
                        LogText.escape(consumer));
            }
        }
    }

    private void stalled(int released) {
        if (lines.allows(STALLED)) {
            LOG.warn(
                    "{} has taken nothing for {}, and {} publishes of this process went on without its having room:"
                            + " does it wait for what it publishes itself?",
                    LogText.escape(name),
                    patience,
                    released);
        }
    }

    @Override
    public String toString() {
        return "ConsumerPressure[" + name + ", held " + heldCount + ']';
    }
}
