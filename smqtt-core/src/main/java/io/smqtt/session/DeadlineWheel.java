// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.concurrent.EventExecutor;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A timer wheel for the deadlines of one event loop: keep alive, connect timeouts, will delays, session expiry. One
 * recurring task turns the wheel, whatever the number of deadlines. An idle client costs one list node. The wheel uses the
 * broker's monotonic clock, so that steps of the wall clock have no effect. A deadline never expires early, and expires
 * little more than {@link #TICK_MILLIS} late.
 */
public final class DeadlineWheel {

    /** The interval between two turns of the wheel, in milliseconds. */
    public static final int TICK_MILLIS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(DeadlineWheel.class);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
    private static final int SLOTS = 1024;
    private static final long MAXIMUM_MILLIS = Long.MAX_VALUE / 4;

    private final Ticker ticker;
    private final long startNanos;
    private final @Nullable Deadline[] slots = new @Nullable Deadline[SLOTS];
    private long tick;

    /** The next entry while a slot is traversed; {@link #remove} keeps it valid. */
    private @Nullable Deadline upcoming;

    /**
     * Creates a wheel.
     *
     * @param ticker the broker's monotonic clock
     */
    public DeadlineWheel(Ticker ticker) {
        this.ticker = ticker;
        this.startNanos = ticker.nanoTime();
    }

    /**
     * Schedules the wheel on an event loop until the loop ends.
     *
     * @param executor the event loop that owns the wheel
     */
    public void runOn(EventExecutor executor) {
        executor.scheduleAtFixedRate(this::advance, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * The current tick: a coarse clock that costs one field read.
     *
     * @return ticks of {@link #TICK_MILLIS} since the wheel was created
     */
    public long tick() {
        return tick;
    }

    /**
     * The time of the broker's monotonic clock.
     *
     * @return nanoseconds
     */
    public long nanoTime() {
        return ticker.nanoTime();
    }

    /**
     * Arms or rearms a deadline.
     *
     * @param deadline the deadline
     * @param delayMillis the delay in milliseconds
     */
    public void arm(Deadline deadline, long delayMillis) {
        long nowMillis = TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime() - startNanos) + 1; // rounded up: never early
        armAt(deadline, (nowMillis + Math.min(MAXIMUM_MILLIS, delayMillis)) / TICK_MILLIS + 1);
    }

    /**
     * Arms or rearms a deadline for a tick of {@link #tick()}'s clock.
     *
     * @param deadline the deadline
     * @param dueTick the tick; the next tick if it has passed
     */
    public void armAt(Deadline deadline, long dueTick) {
        deadline.cancel();
        deadline.dueTick = Math.max(tick + 1, dueTick);
        deadline.slot = (int) (deadline.dueTick & (SLOTS - 1));
        deadline.wheel = this;
        Deadline first = slots[deadline.slot];
        deadline.next = first;
        if (first != null) {
            first.previous = deadline;
        }
        slots[deadline.slot] = deadline;
    }

    void remove(Deadline deadline) {
        Deadline previous = deadline.previous;
        Deadline next = deadline.next;
        if (deadline == upcoming) {
            upcoming = next;
        }
        if (previous == null) {
            slots[deadline.slot] = next;
        } else {
            previous.next = next;
        }
        if (next != null) {
            next.previous = previous;
        }
        deadline.previous = null;
        deadline.next = null;
        deadline.wheel = null;
    }

    /** Turns the wheel up to the present and expires due deadlines. */
    @OnEventLoop
    public void advance() {
        long now = nowTick();
        if (now - tick >= SLOTS) { // after a long pause, visiting each slot once is enough
            tick = now - SLOTS;
        }
        while (tick < now) {
            tick++;
            expire((int) (tick & (SLOTS - 1)), now);
        }
    }

    private void expire(int slot, long now) {
        upcoming = slots[slot];
        while (upcoming != null) {
            Deadline deadline = upcoming;
            upcoming = deadline.next;
            if (deadline.dueTick <= now) {
                remove(deadline);
                run(deadline); // may arm and cancel others, in this slot too
            }
        }
    }

    private static void run(Deadline deadline) {
        try {
            deadline.expired();
        } catch (RuntimeException e) { // one failing entry must not stop the others
            LOG.error("a deadline failed: {}", deadline.getClass().getSimpleName(), e);
        }
    }

    /**
     * The tick of the present moment. It is ahead of {@link #tick()} if the event loop, or the whole process, could not
     * run.
     *
     * @return ticks of {@link #TICK_MILLIS} since the wheel was created
     */
    public long nowTick() {
        return (ticker.nanoTime() - startNanos) / TICK_NANOS;
    }
}
