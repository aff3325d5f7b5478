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
 * All deadlines of one event loop: keep alive, connect timeouts, will delays, session expiry. One recurring task turns
 * the wheel, whatever the number of deadlines; an idle client costs one link in a list. Times are the broker's monotonic
 * clock, so that steps of the wall clock change nothing. A deadline expires never early, and little more
 * than {@link #TICK_MILLIS} late.
 */
public final class DeadlineWheel {

    /** How often the wheel turns. */
    public static final int TICK_MILLIS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(DeadlineWheel.class);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS);
    private static final int SLOTS = 1024;
    private static final long MAXIMUM_MILLIS = Long.MAX_VALUE / 4;

    private final Ticker ticker;
    private final long startNanos;
    private final @Nullable Deadline[] slots = new @Nullable Deadline[SLOTS];
    private long tick;

    /** The entry that is looked at next while a slot is walked; {@link #remove} keeps it valid. */
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
     * Lets an event loop turn the wheel until the loop ends.
     *
     * @param executor the event loop that owns the wheel
     */
    public void runOn(EventExecutor executor) {
        executor.scheduleAtFixedRate(this::advance, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * The current tick, a coarse clock that costs a field read.
     *
     * @return ticks of {@link #TICK_MILLIS} since the wheel was made
     */
    public long tick() {
        return tick;
    }

    /**
     * Arms a deadline, or arms it anew.
     *
     * @param deadline what is to happen
     * @param delayMillis when, in milliseconds from now
     */
    public void arm(Deadline deadline, long delayMillis) {
        long nowMillis = TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime() - startNanos) + 1; // rounded up: never early
        armAt(deadline, (nowMillis + Math.min(MAXIMUM_MILLIS, delayMillis)) / TICK_MILLIS + 1);
    }

    /**
     * Arms a deadline, or arms it anew, for a tick of {@link #tick()}'s clock.
     *
     * @param deadline what is to happen
     * @param dueTick when; the next tick if that has passed
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

    /** Turns the wheel up to the present and lets happen what is due. */
    @OnEventLoop
    public void advance() {
        long now = nowTick();
        if (now - tick >= SLOTS) { // a long pause: each slot once is enough
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
                run(deadline); // may arm and cancel others, of this slot too
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
     * The tick of this moment, which is ahead of {@link #tick()} if the loop, or the whole process, could not run.
     *
     * @return ticks of {@link #TICK_MILLIS} since the wheel was made
     */
    public long nowTick() {
        return (ticker.nanoTime() - startNanos) / TICK_NANOS;
    }
}
