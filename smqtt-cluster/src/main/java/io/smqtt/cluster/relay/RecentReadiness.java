// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.function.BooleanSupplier;

/** Whether this node serves new clients, asked at most ten times a second: the checks of a node may be many, and so may clients. */
@AnyThread
final class RecentReadiness implements BooleanSupplier {

    /** The age of an answer that is used again. */
    static final long AGE_NANOS = 100_000_000;

    private final BooleanSupplier checks;
    private final Ticker ticker;
    private volatile Answer answer;

    /** An answer, and when it was given. */
    private record Answer(boolean ready, long atNanos) {}

    /**
     * Creates it without an answer.
     *
     * @param checks whether this node is ready
     * @param ticker the clock
     */
    RecentReadiness(BooleanSupplier checks, Ticker ticker) {
        this.checks = checks;
        this.ticker = ticker;
        this.answer = new Answer(false, ticker.nanoTime() - AGE_NANOS);
    }

    @Override
    public boolean getAsBoolean() {
        long now = ticker.nanoTime();
        Answer last = answer;
        if (now - last.atNanos() >= AGE_NANOS) {
            last = new Answer(checks.getAsBoolean(), now);
            answer = last;
        }
        return last.ready();
    }
}
