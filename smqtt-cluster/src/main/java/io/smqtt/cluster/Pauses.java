// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.TimeUnit;

/** Notices that this process has not run for a while. What has arrived meanwhile comes all at once. */
@OnClusterLoop
final class Pauses {

    /** Much longer than the interval of the timer. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The time in which the frames from before a pause are handled. */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Ticker ticker;
    private Runnable whenPaused = () -> {};
    private volatile long aliveNanos;
    private boolean paused;
    private long pauseEndNanos;

    Pauses(Ticker ticker) {
        this.ticker = ticker;
        this.aliveNanos = ticker.nanoTime();
    }

    /** Sets a task that runs after each pause, on the loop. */
    void whenPaused(Runnable task) {
        whenPaused = task;
    }

    /** The loop runs. Called more often than once a second. */
    void alive(long nowNanos) {
        if (nowNanos - aliveNanos > PAUSE_NANOS) {
            paused = true;
            pauseEndNanos = nowNanos;
            whenPaused.run(); // before other threads see that the loop runs
        }
        aliveNanos = nowNanos;
    }

    /** Whether the loop has not run for a while, and may not have noticed it. */
    @AnyThread
    boolean isOverdue() {
        return ticker.nanoTime() - aliveNanos > PAUSE_NANOS;
    }

    /** Whether a pause has ended a few seconds ago. */
    boolean isRecent() {
        paused &= ticker.nanoTime() - pauseEndNanos < RECENT_NANOS;
        return paused;
    }
}
