// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.smqtt.config.OverloadConfig;
import io.smqtt.overload.OverloadSignal.State;

/** The rule by which the level rises and falls: one step at a time, each after its time. For one thread. */
final class OverloadLevels {

    private static final long NEVER = Long.MIN_VALUE;

    private final long riseNanos;
    private final long fallNanos;
    private int level;
    private State state = State.CALM;
    private long sinceNanos = NEVER;

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
        long lasted = nowNanos - sinceNanos;
        if (worst == State.EXCEEDED && lasted >= riseNanos && level < Overload.HIGHEST) {
            level++;
            sinceNanos = nowNanos;
        } else if (worst == State.CALM && lasted >= fallNanos && level > 0) {
            level--;
            sinceNanos = nowNanos;
        }
        return level;
    }
}
