// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.QueueBudget;
import io.smqtt.thread.AnyThread;

/**
 * Slows publishers while the queue to a peer is more than half full, until it is a quarter full. All publishers of the node are slowed, so
 * this lasts for {@value #LONGEST_TICKS} ticks at most: then the peer counts as slow, and slows no publisher until its queue has been less than a
 * quarter full for {@value #CALM_TICKS} ticks. Meanwhile the upper half of its queue is for messages above QoS 0.
 */
@OnClusterLoop
final class PeerPressure {

    /** Time enough to send a quarter of a queue to a peer that receives at the usual speed. */
    static final int LONGEST_TICKS = 3;

    /** Longer than the pauses of a peer that stops again and again. */
    static final int CALM_TICKS = 300;

    private final QueueBudget budget;
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

    /** The queue has changed. */
    void adjust(boolean isReachable, boolean isHalfFull, boolean isQuarterFull) {
        if (isReachable && !pressing && !slow && isHalfFull) {
            pressing = true;
            ticks = 0;
            budget.press();
        } else if (pressing && !(isReachable && isQuarterFull)) {
            release();
        }
    }

    /** Called ten times in the interval of a digest. */
    void tick(boolean isQuarterFull) {
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
