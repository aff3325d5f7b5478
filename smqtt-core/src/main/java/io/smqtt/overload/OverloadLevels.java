// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.smqtt.config.OverloadConfig;
import io.smqtt.overload.OverloadSignal.State;

/**
 * The rule by which the level rises and falls: one step at a time, each after its time. Between the thresholds it stays, but not for ever: it
 * falls by a step after each {@value #PATIENCE} times the fall time in which nothing exceeds a threshold. For one thread.
 */
final class OverloadLevels {

    /** So many fall times without anything above a threshold are calm enough. */
    static final int PATIENCE = 6;

    private static final long NEVER = Long.MIN_VALUE;

    private final long riseNanos;
    private final long fallNanos;
    private int level;
    private State state = State.CALM;
    private long sinceNanos = NEVER;

    /** When something exceeded a threshold last, or the level changed. */
    private long quietSinceNanos = NEVER;

    OverloadLevels(OverloadConfig config) {
        riseNanos = config.riseTime().toNanos();
        fallNanos = config.fallTime().toNanos();
    }

    /** Takes the worst state of all signals, and returns the level. */
    int update(State worst, long nowNanos) {
        if (worst != state || sinceNanos == NEVER) {
            state = worst;
            sinceNanos = nowNanos;
        }
        if (worst == State.EXCEEDED || quietSinceNanos == NEVER) {
            quietSinceNanos = nowNanos;
        }
        long lasted = nowNanos - sinceNanos;
        if (worst == State.EXCEEDED && lasted >= riseNanos && level < Overload.HIGHEST) {
            level++;
            sinceNanos = nowNanos;
        } else if (level > 0 && (worst == State.CALM && lasted >= fallNanos || isQuiet(nowNanos))) {
            level--;
            sinceNanos = nowNanos;
            quietSinceNanos = nowNanos;
        }
        return level;
    }

    private boolean isQuiet(long nowNanos) {
        return nowNanos - quietSinceNanos >= PATIENCE * fallNanos;
    }
}
