// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.Ticker;
import java.util.concurrent.TimeUnit;

/** Notices that this process has not run for a while. What has arrived meanwhile comes all at once. */
@OnClusterLoop
final class Pauses {

    /** Much longer than the interval of the timer. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** The time in which the frames from before a pause are handled. */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Ticker ticker;
    private long aliveNanos;
    private boolean paused;
    private long pauseEndNanos;

    Pauses(Ticker ticker) {
        this.ticker = ticker;
        this.aliveNanos = ticker.nanoTime();
    }

    /** The loop runs. Called more often than once a second. */
    void alive(long nowNanos) {
        if (nowNanos - aliveNanos > PAUSE_NANOS) {
            paused = true;
            pauseEndNanos = nowNanos;
        }
        aliveNanos = nowNanos;
    }

    /** Whether a pause has ended a few seconds ago. */
    boolean isRecent() {
        paused &= ticker.nanoTime() - pauseEndNanos < RECENT_NANOS;
        return paused;
    }
}
