// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import java.util.concurrent.TimeUnit;

/**
 * The share of a memory that is in use. A figure that has not changed for a while does not count: a broker that takes no more work also
 * collects nothing and allocates nothing, and would never see that its memory is free again.
 */
final class MemorySignal implements OverloadSignal {

    /** How long a figure counts. */
    static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final int CALM_PERCENT = 5;

    private final MemoryFigure memory;
    private final int limitPercent;
    private long evidence;
    private long changedNanos;
    private boolean sampled;
    private int percent;

    MemorySignal(MemoryFigure memory, int limitPercent) {
        this.memory = memory;
        this.limitPercent = limitPercent;
    }

    @Override
    public State sample(long nowNanos) {
        percent = (int) Math.min(100, memory.usedBytes() * 100 / Math.max(1, memory.maximumBytes()));
        long seen = memory.evidence();
        if (!sampled || seen != evidence) {
            sampled = true;
            evidence = seen;
            changedNanos = nowNanos;
        }
        if (percent <= limitPercent - CALM_PERCENT || nowNanos - changedNanos >= FRESH_NANOS) {
            return State.CALM;
        }
        return percent > limitPercent ? State.EXCEEDED : State.RAISED;
    }

    @Override
    public String text() {
        return percent + " % of " + memory.name() + " are in use";
    }
}
