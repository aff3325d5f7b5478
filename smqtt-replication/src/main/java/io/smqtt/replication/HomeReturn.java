// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.concurrent.TimeUnit;

/**
 * Decides when the home of a group asks for the leadership: when it has followed one leader for some time. If it loses the leadership soon
 * after it got it, the next time is longer.
 *
 * <p>Used by the group's thread. Times are those of {@link System#nanoTime}.
 */
final class HomeReturn {

    /** The time for which the home follows, at first. */
    static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The longest time for which it follows: meanwhile no node serves its sessions. */
    static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(4);

    /** A leadership that ends before this time has ended soon. */
    static final long SOON_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final long REPEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long NONE = -1;

    private long patienceNanos = FIRST_NANOS;
    private long followedTerm = NONE;
    private long dueNanos;
    private boolean leads;
    private long ledNanos;

    /** The member leads. */
    void leads(long now) {
        leads = true;
        ledNanos = now;
        followedTerm = NONE;
    }

    /** The member does not lead any more. */
    void lost(long now) {
        if (leads) {
            boolean soon = now - ledNanos < SOON_NANOS;
            patienceNanos = soon ? Math.min(LONGEST_NANOS, patienceNanos * 2) : FIRST_NANOS;
        }
        leads = false;
        followedTerm = NONE;
    }

    /**
     * Whether to ask for the leadership now.
     *
     * @param term the term of the leader that is followed, or a negative number if there is none
     */
    boolean isDue(long now, long term) {
        if (term < 0 || leads) {
            followedTerm = NONE;
            return false;
        }
        if (term != followedTerm) {
            followedTerm = term;
            dueNanos = now + patienceNanos;
            return false;
        }
        if (now - dueNanos < 0) {
            return false;
        }
        dueNanos = now + REPEAT_NANOS;
        return true;
    }
}
