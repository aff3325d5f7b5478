// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.ReasonCode;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The writes of one event loop to the store. Operations submitted in one pass of the loop are flushed together at its end.
 * Waiters are notified in the order of the operations when these are committed. Waiting costs a few numbers in a ring.
 */
@OnEventLoop
public final class StoreLoop implements BrokerStore.CommitListener {

    private static final Logger LOG = LoggerFactory.getLogger(StoreLoop.class);
    private static final int FIRST_CAPACITY = 64;
    private static final int KEPT_CAPACITY = 4_096;
    private static final int AGAIN_MILLIS = 500;
    private static final String WRITES = "writes to the store that failed";
    private static final String READS = "reads of the store that failed";

    /** The interval between turns. QoS 1 messages just sent are held back for one to two turns. */
    static final int TURN_MILLIS = 5;

    private final EventExecutor executor;
    private final DeadlineWheel wheel;
    private final boolean awaited;
    private final boolean stable;
    private final Runnable flushTask = this::flushAtEnd;
    private @Nullable BrokerStore store;
    private @Nullable StoreWriter opened;
    private TakenNotes taken = new TakenNotes("");
    private long settled;
    private final Runnable turnTask = this::turn;
    private final List<WriteBehindWindow> writeBehind = new ArrayList<>();
    private boolean turnQueued;
    private boolean flushQueued;
    private boolean failing;
    private boolean over;

    /** The writes of the same event loop to the stores of other nodes. */
    private List<StoreLoop> adopted = List.of();

    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    // waiters, in order of positions
    private long[] positions = new long[FIRST_CAPACITY];
    private @Nullable Object[] waiters = new @Nullable Object[FIRST_CAPACITY];
    private long[] values = new long[FIRST_CAPACITY];
    private @Nullable Object[] steps = new @Nullable Object[FIRST_CAPACITY];
    private int[] bytes = new int[FIRST_CAPACITY];
    private int head;
    private int size;

    private List<Runnable> attempts = new ArrayList<>();
    private final Deadline nextAttempts = new Deadline() {
        @Override
        protected void expired() {
            tryAgain();
        }
    };

    /**
     * Creates the state of an event loop, without a writer.
     *
     * @param executor the event loop
     * @param wheel its deadlines
     * @param awaited whether acknowledgements wait for the store by default
     * @param stable whether they wait for stable storage by default
     */
    public StoreLoop(EventExecutor executor, DeadlineWheel wheel, boolean awaited, boolean stable) {
        this.awaited = awaited;
        this.executor = executor;
        this.wheel = wheel;
        this.stable = stable;
    }

    /**
     * Whether acknowledgements wait for the store by default.
     *
     * @return false if acknowledgements leave at once
     */
    public boolean isAwaited() {
        return awaited;
    }

    /**
     * Whether acknowledgements wait for stable storage by default.
     *
     * @return false if surviving the end of the process is enough
     */
    public boolean isStable() {
        return stable;
    }

    /** Creates one of the same event loop for another store, without a writer. */
    @AnyThread
    StoreLoop another() {
        return new StoreLoop(executor, wheel, awaited, stable);
    }

    /** Nothing that fails from now on is tried again: another node has the store. */
    void end() {
        over = true;
        attempts.clear();
    }

    /**
     * Opens the writer after the store was read, and before the loop writes.
     *
     * @param notes the notes of the loop
     */
    @AnyThread
    void open(BrokerStore source, TakenNotes notes) {
        taken = notes;
        store = source;
        opened = source.writer(executor, this);
    }

    /**
     * The reason code for a client whose session would be stored, if it is known that nothing can be stored now.
     *
     * @return null if it may be stored
     */
    public @Nullable ReasonCode refusal() {
        BrokerStore source = store;
        return source != null && source.isCutOff() ? source.refusal() : null;
    }

    /** Records a delivery whose message was submitted last; see {@link TakenNotes}. */
    void took(long delivery) {
        taken.took(delivery);
    }

    /** The writer, for an operation that is submitted at once: it is flushed at the end of this pass. */
    StoreWriter writer() {
        assert executor.inEventLoop();
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

    /** Holds a ticket until the last operation is committed. */
    void await(RouteTicket ticket) {
        if (isSettled() || !ticket.waitsForStore()) {
            return;
        }
        ticket.hold();
        if (ticket.wantsStable()) {
            written().requireSync();
        }
        add(ticket, null, 0, 0);
    }

    /** Calls back when the last operation is committed, on stable storage if requested, or has failed. */
    void await(CommitCallback callback, boolean wantsStable) {
        if (isSettled()) {
            callback.committed(true);
        } else {
            require(wantsStable);
            add(callback, null, 0, 0);
        }
    }

    /** Notifies a waiter when the last operation is committed, on stable storage if requested, or has failed. */
    void await(StoreWaiter waiter, boolean wantsStable) {
        if (isSettled()) {
            waiter.completed(true);
        } else {
            require(wantsStable);
            add(waiter, null, 0, 0);
        }
    }

    /** Notifies an owner when the last operation is committed by the broker's default, or has failed. */
    <T> void await(T owner, StoreStep<T> step, long value) {
        if (isSettled()) {
            step.completed(owner, value, 0, true);
        } else {
            require(stable);
            add(owner, step, value, 0);
        }
    }

    private void require(boolean wantsStable) {
        if (wantsStable) {
            written().requireSync();
        }
    }

    /** Whether no operation is pending. */
    private boolean isSettled() {
        return written().position() <= settled;
    }

    /** Notifies a waiter of the outcome of the last operation; no client waits for it. */
    void watch(StoreWaiter waiter) {
        add(waiter, null, 0, 0);
    }

    /** Notifies an owner of the outcome of the last operation; no client waits for it. */
    <T> void watch(T owner, StoreStep<T> step, long value, int size) {
        add(owner, step, value, size);
    }

    private void add(Object waiter, @Nullable Object step, long value, int length) {
        if (size == positions.length) {
            resize(positions.length * 2);
        }
        int at = (head + size++) & (positions.length - 1);
        positions[at] = written().position();
        waiters[at] = waiter;
        values[at] = value;
        steps[at] = step;
        bytes[at] = length;
    }

    private void resize(int capacity) {
        long[] newPositions = new long[capacity];
        @Nullable Object[] newWaiters = new @Nullable Object[capacity];
        long[] newValues = new long[capacity];
        @Nullable Object[] newSteps = new @Nullable Object[capacity];
        int[] newBytes = new int[capacity];
        for (int i = 0; i < size; i++) {
            int at = (head + i) & (positions.length - 1);
            newPositions[i] = positions[at];
            newWaiters[i] = waiters[at];
            newValues[i] = values[at];
            newSteps[i] = steps[at];
            newBytes[i] = bytes[at];
        }
        positions = newPositions;
        waiters = newWaiters;
        values = newValues;
        steps = newSteps;
        bytes = newBytes;
        head = 0;
    }

    /** Whether the store has rejected the latest writes. */
    boolean isFailing() {
        return failing;
    }

    /** Schedules turns for a window, until it wants no more. */
    void holdsBack(WriteBehindWindow messages) {
        writeBehind.add(messages);
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
        writeBehind.removeIf(messages -> !messages.turn());
        if (!writeBehind.isEmpty()) {
            queueTurn();
        }
    }

    /** Flushes submitted and held back operations: the store is about to be closed. */
    public void finish() {
        writeBehind.forEach(WriteBehindWindow::writeAll);
        flush();
    }

    private void flushAtEnd() {
        flushQueued = false;
        flush();
    }

    /** Flushes submitted operations: they precede all that are submitted on another event loop later. */
    public void flush() {
        StoreWriter writer = opened;
        if (writer != null) {
            StoreWaiter note = taken.write(writer);
            if (note != null) {
                watch(note);
            }
            writer.flush();
        }
    }

    /**
     * Returns whether the storage backlog is over its limit, so that publishers are slowed: that of this store, or of one that the node has adopted.
     *
     * @return true while a limit is exceeded
     */
    public boolean isOverloaded() {
        if (opened != null && opened.isOverloaded()) {
            return true;
        }
        for (StoreLoop other : adopted) {
            if (other.isOverloaded()) {
                return true;
            }
        }
        return false;
    }

    /** The event loop writes to the store of another node, too: its backlog counts. Can be called more than once. */
    void adopted(StoreLoop other) {
        if (!adopted.contains(other)) {
            List<StoreLoop> all = new ArrayList<>(adopted);
            all.add(other);
            adopted = List.copyOf(all);
        }
    }

    /** It does not any more. */
    void gone(StoreLoop other) {
        adopted = adopted.stream().filter(each -> each != other).toList();
    }

    @Override
    public void committed(long position) {
        failing = false;
        settle(position, true);
    }

    @Override
    public void failed(long position, Throwable cause) {
        if (!over && lines.allows(WRITES)) {
            LOG.warn("the store rejects writes; acknowledgements are withheld", cause);
        }
        failing = true;
        settle(position, false);
    }

    /** Logs a failed read of messages, which is retried. */
    void readFailed(Throwable cause) {
        if (lines.allows(READS)) {
            LOG.warn("messages of a session cannot be read; trying again", cause);
        }
    }

    private void settle(long position, boolean kept) {
        settled = position;
        int most = size; // the maximum since the last time
        while (size > 0 && positions[head] <= position) {
            Object waiter = waiters[head];
            long value = values[head];
            Object step = steps[head];
            int length = bytes[head];
            waiters[head] = null;
            head = (head + 1) & (positions.length - 1);
            size--;
            try {
                completed(Objects.requireNonNull(waiter), step, value, length, kept);
            } catch (RejectedExecutionException e) { // the waiter's event loop has ended with the broker
                LOG.debug("nobody is left who waits for an operation of the store", e);
            } catch (RuntimeException e) { // a failing waiter must not block the others
                LOG.error("completing an operation of the store failed", e);
            }
        }
        if (positions.length > KEPT_CAPACITY && most < positions.length / 8 && size < positions.length / 8) {
            resize(positions.length / 2); // a slow disk caused the growth
        }
    }

    @SuppressWarnings("unchecked") // owner and step were submitted together
    private void completed(Object waiter, @Nullable Object step, long value, int length, boolean kept) {
        if (step != null) {
            StoreStep<Object> operation = (StoreStep<Object>) step;
            if (operation.completed(waiter, value, length, kept)) {
                later(() -> operation.retry(waiter, value));
            }
        } else if (waiter instanceof RouteTicket ticket) {
            ticket.release(kept);
        } else if (waiter instanceof CommitCallback callback) {
            callback.committed(kept);
        } else if (waiter instanceof StoreWaiter other && other.completed(kept)) {
            later(other::retry);
        }
    }

    /** The number of waiters that fit without growing the ring. */
    int capacity() {
        return positions.length;
    }

    /** Runs a task on the event loop. */
    @AnyThread
    void execute(Runnable task) {
        executor.execute(task);
    }

    /** Runs an attempt after a delay. */
    void later(Runnable attempt) {
        if (over) {
            return;
        }
        attempts.add(attempt);
        if (!nextAttempts.isArmed()) {
            wheel.arm(nextAttempts, AGAIN_MILLIS);
        }
    }

    private void tryAgain() {
        List<Runnable> due = attempts;
        attempts = new ArrayList<>();
        for (Runnable attempt : due) {
            try {
                attempt.run();
            } catch (RuntimeException e) { // a failing attempt must not block the others
                LOG.error("resubmitting an operation of the store failed", e);
            }
        }
    }
}
