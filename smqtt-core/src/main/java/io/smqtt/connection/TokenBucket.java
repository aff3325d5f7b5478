// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.session.DeadlineWheel;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A rate with a burst, of one client or shared by many on all event loops: the generic cell rate algorithm, one time stamp and no lock.
 * Tokens are spent after the data is received. A caller that spends more than the bucket holds gets the time until its debt is paid,
 * which includes the debts of earlier callers, so that each of many gets its turn. The debt is what all callers together have spent last, each
 * of whom waits. A caller that does not wait because it is gone takes its debt with it, as far as others would wait longer than
 * {@link #MAX_LEFT_NANOS}.
 */
@AnyThread
public final class TokenBucket {

    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The debt that callers may leave behind. */
    static final long MAX_LEFT_NANOS = 5 * SECOND_NANOS;

    /** Reads are postponed by ticks of the wheel: with a smaller burst the rate would not be reached. */
    private static final long MIN_BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(2 * DeadlineWheel.TICK_MILLIS);

    private final long perSecond;
    private final long burstNanos;
    private final AtomicLong paidUntilNanos;

    private TokenBucket(long perSecond, long burst, long nowNanos) {
        this.perSecond = perSecond;
        this.burstNanos = Math.max(MIN_BURST_NANOS, nanos(burst == 0 ? perSecond : burst));
        this.paidUntilNanos = new AtomicLong(nowNanos - burstNanos);
    }

    /**
     * Creates a full bucket.
     *
     * @param perSecond the rate; 0 for no limit
     * @param burst what may be spent at once after a pause; 0 for what the rate gives in a second
     * @param nowNanos the time, of any monotonic clock
     * @return null without a limit
     */
    public static @Nullable TokenBucket of(long perSecond, long burst, long nowNanos) {
        return perSecond == 0 ? null : new TokenBucket(perSecond, burst, nowNanos);
    }

    private long nanos(long count) {
        return (long) ((double) count * SECOND_NANOS / perSecond);
    }

    /**
     * Spends what was received.
     *
     * @param count the number of messages, bytes or connections
     * @param nowNanos the time
     * @return nanoseconds until it is paid; 0 if there was enough
     */
    public long spend(long count, long nowNanos) {
        long cost = nanos(count);
        while (true) {
            long before = paidUntilNanos.get();
            long full = nowNanos - burstNanos;
            long after = (before - full < 0 ? full : before) + cost;
            if (paidUntilNanos.compareAndSet(before, after)) {
                return Math.max(0, after - nowNanos);
            }
        }
    }

    /**
     * Spends one, if the bucket holds it: there is no debt of the caller. While others owe, it holds none.
     *
     * @param nowNanos the time
     * @return false if nothing was spent
     */
    boolean spendOneOfStock(long nowNanos) {
        long cost = nanos(1);
        while (true) {
            long before = paidUntilNanos.get();
            long full = nowNanos - burstNanos;
            long after = (before - full < 0 ? full : before) + cost;
            if (after - nowNanos > 0) {
                return false;
            }
            if (paidUntilNanos.compareAndSet(before, after)) {
                return true;
            }
        }
    }

    /** Takes one back that was spent by {@link #spendOneOfStock} a moment ago. */
    void returnOne() {
        paidUntilNanos.addAndGet(-nanos(1));
    }

    /**
     * Takes back what a caller that is gone has spent last and not paid, if the debt exceeds {@link #MAX_LEFT_NANOS}, and no further.
     *
     * @param count what it has spent
     * @param nowNanos the time
     */
    void forgive(long count, long nowNanos) {
        long cost = nanos(count);
        while (true) {
            long before = paidUntilNanos.get();
            long excess = before - nowNanos - MAX_LEFT_NANOS;
            if (excess <= 0 || paidUntilNanos.compareAndSet(before, before - Math.min(cost, excess))) {
                return;
            }
        }
    }

    /**
     * The time until all that was spent is paid.
     *
     * @param nowNanos the time
     * @return nanoseconds; 0 if nothing is owed
     */
    public long owedNanos(long nowNanos) {
        return Math.max(0, paidUntilNanos.get() - nowNanos);
    }

    /** Whether nothing would be lost if the bucket were replaced by a new one. */
    boolean isFull(long nowNanos) {
        return paidUntilNanos.get() - (nowNanos - burstNanos) <= 0;
    }
}
