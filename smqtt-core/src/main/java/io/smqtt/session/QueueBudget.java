// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Bytes held by all queues and windows of a broker. Above the limit publishers are slowed; above one and a half times the
 * limit queues in memory reject messages. A message counts once for each session that holds it.
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
     * Adds to the bytes held.
     *
     * @param change bytes added, or negative for bytes removed
     */
    public void add(long change) {
        bytes.add(change);
    }

    void holds(int change) {
        held.add(change);
    }

    /**
     * The number of messages above the limits of their in-process consumers, whose publishers are held.
     *
     * @return messages
     */
    public long held() {
        return held.sum();
    }

    /**
     * The bytes held by all queues.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes.sum();
    }

    /** Updates {@link #isExhausted()}. Each event loop calls this several times a second. */
    public void look() {
        boolean now = bytes.sum() > lastBytes;
        if (now != exhausted) {
            exhausted = now;
        }
    }

    /**
     * Returns whether queues in memory reject messages, as of the last {@link #look()}.
     *
     * @return true above one and a half times the limit
     */
    public boolean isExhausted() {
        return exhausted;
    }

    /**
     * Returns whether publishers are to be slowed.
     *
     * @return true above the limit
     */
    public boolean isExceeded() {
        return pressure.get() > 0 || isFull();
    }

    /**
     * Returns whether the queues have reached their limit.
     *
     * @return true above the limit
     */
    public boolean isFull() {
        return bytes.sum() > limitBytes;
    }

    /**
     * Returns whether publishers to in-process consumers are held even if the consumer's own queue has room.
     *
     * @return true above three quarters of the limit
     */
    public boolean isNearlyFull() {
        return bytes.sum() > limitBytes - share();
    }

    /** A quarter of the limit. */
    long share() {
        return limitBytes / 4;
    }

    /**
     * Slows publishers because a queue outside of this budget is nearly full. Reverted by {@link #ease()}.
     */
    public void press() {
        pressure.incrementAndGet();
    }

    /** Reverts one {@link #press()}. */
    public void ease() {
        pressure.decrementAndGet();
    }
}
