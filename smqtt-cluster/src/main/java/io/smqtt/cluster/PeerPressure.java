// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.QueueBudget;
import io.smqtt.thread.AnyThread;

/**
 * Slows publishers while the queue to a peer is more than half full, until it is a quarter full. All publishers of the node are slowed, so
 * this is done only for a peer that can be expected to make room by it, and lasts for {@value #LONGEST_TICKS} ticks at most. A peer
 * that has taken less than a quarter of a queue in such a time counts as slow, and slows no publisher until its queue has been less than a
 * quarter full for {@value #CALM_TICKS} ticks. Meanwhile the upper half of its queue is for messages above QoS 0.
 */
@OnClusterLoop
final class PeerPressure {

    /** Time enough to send a quarter of a queue to a peer that receives at the usual speed. */
    static final int LONGEST_TICKS = 3;

    /** Longer than the pauses of a peer that stops again and again. */
    static final int CALM_TICKS = 300;

    private static final double QUARTER = 0.25;

    private final QueueBudget budget;

    /** The share of its queue that the peer has accepted in each of the last ticks, the current one first. */
    private final double[] accepted = new double[LONGEST_TICKS + 1];

    /** The number of ticks for which the queue has been more than a quarter full. */
    private int busyTicks;

    private boolean pressing;
    private int ticks;
    private volatile boolean slow;

    PeerPressure(QueueBudget budget) {
        this.budget = budget;
    }

    /** Whether messages of QoS 0 are to leave the upper half of the queue to others. */
    @AnyThread
    boolean isSlow() {
        return slow;
    }

    /** The peer has accepted messages: a share of what its queue may hold. */
    void accepted(double share) {
        accepted[0] += share;
    }

    /** The queue has changed. */
    void adjust(boolean isReachable, boolean isHalfFull, boolean isQuarterFull) {
        if (isReachable && !pressing && !slow && isHalfFull) {
            if (busyTicks > LONGEST_TICKS && isTooSlow()) {
                slow = true; // to slow publishers would not help
                ticks = 0;
            } else {
                pressing = true;
                ticks = 0;
                budget.press();
            }
        } else if (pressing && !(isReachable && isQuarterFull)) {
            release();
        }
    }

    private boolean isTooSlow() {
        double sum = 0;
        for (double share : accepted) {
            sum += share;
        }
        return sum < QUARTER;
    }

    /** Called ten times in the interval of a digest. */
    void tick(boolean isQuarterFull) {
        System.arraycopy(accepted, 0, accepted, 1, LONGEST_TICKS);
        accepted[0] = 0;
        busyTicks = isQuarterFull ? Math.min(busyTicks + 1, CALM_TICKS) : 0;
        if (pressing && ++ticks >= LONGEST_TICKS) {
            release();
            slow = true;
            ticks = 0;
        } else if (slow) {
            ticks = isQuarterFull ? 0 : ticks + 1;
            slow = ticks < CALM_TICKS;
        }
    }

    private void release() {
        pressing = false;
        budget.ease();
    }
}
