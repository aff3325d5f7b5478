// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.thread.AnyThread;

/** The level of overload as the broker has last told it, and its meter. */
@AnyThread
final class OverloadLevel {

    private volatile State state = new State(0, "");

    /**
     * A level.
     *
     * @param level 0 to 3
     * @param cause why it has risen last
     */
    private record State(int level, String cause) {}

    OverloadLevel(MeterRegistry registry) {
        Gauge.builder("smqtt.overload.level", this, OverloadLevel::level)
                .description(
                        "level of overload: from 1 connections are accepted a few at a time, from 2 CONNECT is refused, at 3"
                                + " clients that publish at QoS 0 are not read")
                .register(registry);
    }

    void changed(int level, String cause) {
        state = new State(level, cause.isEmpty() ? state.cause : cause);
    }

    int level() {
        return state.level;
    }

    /** The level and its cause, for people. */
    @Override
    public String toString() {
        State now = state;
        return now.level == 0 ? "none" : "level " + now.level + ": " + now.cause;
    }
}
