// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one event loop writes to the store. The operations of a pass of the loop are handed over together at its end, and
 * whoever waits for one is told when it is safe, in the order of the operations. Waiting costs a few numbers in a ring. On
 * the event loop only.
 */
public final class StoreLoop implements BrokerStore.CommitListener {

    private static final Logger LOG = LoggerFactory.getLogger(StoreLoop.class);
    private static final int FIRST_CAPACITY = 64;
    private static final int KEPT_CAPACITY = 4_096;
    private static final int AGAIN_MILLIS = 500;
    private static final long WARN_EVERY_NANOS = 10_000_000_000L;

    /** Messages that were just sent are held back for one to two turns. */
    static final int TURN_MILLIS = 5;

    private final EventExecutor executor;
    private final DeadlineWheel wheel;
    private final boolean awaited;
    private final boolean stable;
    private final Runnable flushTask = this::flushAtEnd;
    private @Nullable StoreWriter opened;
    private long settled;
    private final Runnable turnTask = this::turn;
    private final List<HeldBack> heldBack = new ArrayList<>();
    private boolean turnQueued;
    private boolean flushQueued;
    private boolean failing;
    private boolean warned;
    private long warnedNanos;

    // who waits, in order of positions
    private long[] positions = new long[FIRST_CAPACITY];
    private @Nullable Object[] waiters = new @Nullable Object[FIRST_CAPACITY];
    private long[] values = new long[FIRST_CAPACITY];
    private int[] details = new int[FIRST_CAPACITY];
    private int head;
    private int size;

    private List<Attempt> attempts = new ArrayList<>();
    private final Deadline nextAttempts = new Deadline() {
        @Override
        protected void expired() {
            tryAgain();
        }
    };

    private record Attempt(StoreWaiter waiter, long value, int detail) {}

    /**
     * Creates the state of an event loop, without a writer.
     *
     * @param executor the event loop
     * @param wheel its deadlines
     * @param awaited whether the broker waits for the store unless told otherwise
     * @param stable whether what it waits for must be on stable storage
     */
    public StoreLoop(EventExecutor executor, DeadlineWheel wheel, boolean awaited, boolean stable) {
        this.awaited = awaited;
        this.executor = executor;
        this.wheel = wheel;
        this.stable = stable;
    }

    /**
     * Whether the broker waits for the store unless told otherwise.
     *
     * @return false if acknowledgements leave at once
     */
    public boolean isAwaited() {
        return awaited;
    }

    /**
     * Whether the broker waits for stable storage unless told otherwise.
     *
     * @return false if surviving the end of the process is enough
     */
    public boolean isStable() {
        return stable;
    }

    /** Opens the writer, once the store was read. Before the loop has anything to write; any thread. */
    void open(BrokerStore store) {
        opened = store.writer(executor, this);
    }

    /** The writer, for an operation that follows at once: it will be flushed at the end of this pass. */
    StoreWriter writer() {
        if (!flushQueued) {
            flushQueued = true;
            executor.execute(flushTask);
        }
        return written();
    }

    private StoreWriter written() {
        StoreWriter writer = opened;
        if (writer == null) {
            throw new IllegalStateException("the store was not read yet");
        }
        return writer;
    }

    /** Holds a ticket until the last operation is safe. */
    void await(RouteTicket ticket) {
        if (isSettled() || !ticket.waitsForStore()) {
            return;
        }
        ticket.hold();
        if (ticket.wantsStable()) {
            written().requireSync();
        }
        add(ticket, 0, 0);
    }

    /** Tells a waiter when the last operation is safe, or that it failed. */
    void await(StoreWaiter waiter, long value, int detail) {
        await(waiter, value, detail, stable);
    }

    /** Tells a waiter when the last operation is safe, on stable storage if it wants that, or that it failed. */
    void await(StoreWaiter waiter, long value, int detail, boolean wantsStable) {
        if (isSettled()) {
            waiter.settled(value, detail, true);
            return;
        }
        if (wantsStable) {
            written().requireSync();
        }
        add(waiter, value, detail);
    }

    /** Whether there is nothing to wait for. */
    private boolean isSettled() {
        return written().position() <= settled;
    }

    /** Tells a waiter only if the last operation failed; nobody else waits for it. */
    void watch(StoreWaiter waiter, long value, int detail) {
        add(waiter, value, detail);
    }

    private void add(Object waiter, long value, int detail) {
        if (size == positions.length) {
            resize(positions.length * 2);
        }
        int at = (head + size++) & (positions.length - 1);
        positions[at] = written().position();
        waiters[at] = waiter;
        values[at] = value;
        details[at] = detail;
    }

    private void resize(int capacity) {
        long[] newPositions = new long[capacity];
        @Nullable Object[] newWaiters = new @Nullable Object[capacity];
        long[] newValues = new long[capacity];
        int[] newDetails = new int[capacity];
        for (int i = 0; i < size; i++) {
            int at = (head + i) & (positions.length - 1);
            newPositions[i] = positions[at];
            newWaiters[i] = waiters[at];
            newValues[i] = values[at];
            newDetails[i] = details[at];
        }
        positions = newPositions;
        waiters = newWaiters;
        values = newValues;
        details = newDetails;
        head = 0;
    }

    /** Whether the store did not take what was written to it last. */
    boolean isFailing() {
        return failing;
    }

    /** Is to have its turn, until it does not want another one. */
    void holdsBack(HeldBack messages) {
        heldBack.add(messages);
        queueTurn();
    }

    private void queueTurn() {
        if (!turnQueued) {
            turnQueued = true;
            executor.schedule(turnTask, TURN_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void turn() {
        turnQueued = false;
        heldBack.removeIf(messages -> !messages.turn());
        if (!heldBack.isEmpty()) {
            queueTurn();
        }
    }

    /** Hands over what was submitted and what is held back: the store is about to be closed. */
    public void finish() {
        heldBack.forEach(HeldBack::writeAll);
        flush();
    }

    private void flushAtEnd() {
        flushQueued = false;
        written().flush();
    }

    /** Hands over what was submitted: now it comes before everything that is submitted on another event loop later. */
    public void flush() {
        if (opened != null) {
            opened.flush();
        }
    }

    /**
     * Whether so much waits for the disk that publishers are to be slowed.
     *
     * @return true while a bound is passed
     */
    public boolean isOverloaded() {
        return opened != null && opened.isOverloaded();
    }

    @Override
    public void committed(long position) {
        if (failing) {
            failing = false;
            LOG.debug("the store takes operations again");
        }
        settle(position, true);
    }

    @Override
    public void failed(long position, Throwable cause) {
        long now = System.nanoTime();
        if (!failing && (!warned || now - warnedNanos > WARN_EVERY_NANOS)) {
            warned = true;
            warnedNanos = now;
            LOG.warn("the store does not take what is written to it; acknowledgements are withheld", cause);
        }
        failing = true;
        settle(position, false);
    }

    private void settle(long position, boolean kept) {
        settled = position;
        int most = size; // since the last time
        while (size > 0 && positions[head] <= position) {
            Object waiter = waiters[head];
            long value = values[head];
            int detail = details[head];
            waiters[head] = null;
            head = (head + 1) & (positions.length - 1);
            size--;
            try {
                if (waiter instanceof RouteTicket ticket) {
                    ticket.release(kept);
                } else if (waiter instanceof StoreWaiter other && other.settled(value, detail, kept)) {
                    later(other, value, detail);
                }
            } catch (RejectedExecutionException e) { // the event loop of whoever waited has ended with the broker
                LOG.debug("nobody is left who waits for an operation of the store", e);
            } catch (RuntimeException e) { // one that fails must not keep the others waiting
                LOG.error("the end of an operation of the store could not be dealt with", e);
            }
        }
        if (positions.length > KEPT_CAPACITY && most < positions.length / 8 && size < positions.length / 8) {
            resize(positions.length / 2); // a slow disk made it large
        }
    }

    /** How many may wait before the ring has to grow. */
    int capacity() {
        return positions.length;
    }

    /** Asks a waiter to submit an operation again in a while. */
    void later(StoreWaiter waiter, long value, int detail) {
        attempts.add(new Attempt(waiter, value, detail));
        if (!nextAttempts.isArmed()) {
            wheel.arm(nextAttempts, AGAIN_MILLIS);
        }
    }

    private void tryAgain() {
        List<Attempt> due = attempts;
        attempts = new ArrayList<>();
        for (Attempt attempt : due) {
            try {
                attempt.waiter.again(attempt.value, attempt.detail);
            } catch (RuntimeException e) { // one that fails must not keep the others waiting
                LOG.error("an operation of the store could not be submitted again", e);
            }
        }
    }
}
