// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes held by all queues and windows of a broker. Past the limit publishers are slowed; past one and a half times of it
 * queues in memory take nothing more. A message counts once for each session that holds it.
 */
@AnyThread
public final class QueueBudget {

    private final LongAdder bytes = new LongAdder();
    private final LongAdder held = new LongAdder();
    private final AtomicInteger pressure = new AtomicInteger();
    private final long limitBytes;
    private final long lastBytes;
    private volatile boolean exhausted;

    /**
     * Creates a budget.
     *
     * @param limitBytes bytes that all queues and windows may hold before publishers are slowed
     */
    public QueueBudget(long limitBytes) {
        this.limitBytes = limitBytes;
        this.lastBytes = limitBytes > Long.MAX_VALUE / 2 ? Long.MAX_VALUE : limitBytes + limitBytes / 2;
    }

    /**
     * Counts what a queue holds.
     *
     * @param change bytes that have come, or negative ones that have gone
     */
    public void add(long change) {
        bytes.add(change);
    }

    void holds(int change) {
        held.add(change);
    }

    /**
     * How many messages are above the limits of their consumers in this process, so that their publishers wait.
     *
     * @return messages
     */
    public long held() {
        return held.sum();
    }

    /**
     * What all queues hold.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes.sum();
    }

    /** Compares what is held with what may be held at most, for {@link #isExhausted()}. Each event loop does so several times a second. */
    public void look() {
        boolean now = bytes.sum() > lastBytes;
        if (now != exhausted) {
            exhausted = now;
        }
    }

    /**
     * Tells whether queues in memory take nothing more, as it was at the last {@link #look()}.
     *
     * @return true past one and a half times of the limit
     */
    public boolean isExhausted() {
        return exhausted;
    }

    /**
     * Tells whether publishers are to be slowed.
     *
     * @return true past the limit
     */
    public boolean isExceeded() {
        return pressure.get() > 0 || isFull();
    }

    /**
     * Tells whether the queues hold as much as they may.
     *
     * @return true past the limit
     */
    public boolean isFull() {
        return bytes.sum() > limitBytes;
    }

    /**
     * Tells whether publishers to consumers in this process wait for them although these have room by themselves.
     *
     * @return true past three quarters of the limit
     */
    public boolean isNearlyFull() {
        return bytes.sum() > limitBytes - share();
    }

    /** A quarter of the limit. */
    long share() {
        return limitBytes / 4;
    }

    /**
     * Has publishers slowed because a queue of somebody else's is nearly full. To be taken back by {@link #ease()}.
     */
    public void press() {
        pressure.incrementAndGet();
    }

    /** Takes one {@link #press()} back. */
    public void ease() {
        pressure.decrementAndGet();
    }
}
