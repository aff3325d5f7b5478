// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** What all queues of a broker hold together. Past the limit publishers are slowed before anything is lost. Any thread. */
public final class QueueBudget {

    private final LongAdder bytes = new LongAdder();
    private final LongAdder held = new LongAdder();
    private final AtomicInteger pressure = new AtomicInteger();
    private final long limitBytes;

    /**
     * Creates a budget.
     *
     * @param limitBytes bytes that all queues may hold before publishers are slowed
     */
    public QueueBudget(long limitBytes) {
        this.limitBytes = limitBytes;
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
