// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** The greatest lag of all event loops within the last samples: one packet that takes long does not count for longer than that. */
final class LoopSignal implements OverloadSignal {

    /** Samples that count; with the interval of {@link OverloadWatch} one second. */
    static final int SAMPLES = 4;

    private final List<LoopLag> loops;
    private final long limitNanos;
    private final long[] recent = new long[SAMPLES];
    private int next;
    private long greatestNanos;

    LoopSignal(List<LoopLag> loops, long limitNanos) {
        this.loops = loops;
        this.limitNanos = limitNanos;
    }

    @Override
    public State sample(long nowNanos) {
        long now = 0;
        for (LoopLag loop : loops) {
            now = Math.max(now, loop.take(nowNanos));
        }
        recent[next] = now;
        next = (next + 1) % SAMPLES;
        greatestNanos = 0;
        for (long one : recent) {
            greatestNanos = Math.max(greatestNanos, one);
        }
        return greatestNanos > limitNanos ? State.EXCEEDED : greatestNanos > limitNanos / 2 ? State.RAISED : State.CALM;
    }

    @Override
    public String text() {
        return "an event loop is " + TimeUnit.NANOSECONDS.toMillis(greatestNanos) + " ms behind";
    }
}
