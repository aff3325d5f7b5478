// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits until no message has come for a while from a session at the other broker that is to be begun anew, but not for longer than {@value #LONGEST}
 * times that while. Of one connection.
 */
@OnEventLoop
final class SessionDrain {

    /** The longest drain, as a multiple of the time without a message. */
    static final int LONGEST = 10;

    private final long quietNanos;
    private final Runnable done;
    private long beganNanos;
    private long lastNanos;
    private @Nullable Future<?> timer;

    /**
     * Creates a drain that has not begun.
     *
     * @param quietMillis the time without a message
     * @param done runs once on the event loop when it is over
     */
    SessionDrain(long quietMillis, Runnable done) {
        this.quietNanos = TimeUnit.MILLISECONDS.toNanos(quietMillis);
        this.done = done;
    }

    /** The session at the other broker is resumed. */
    void begin(EventExecutor loop) {
        beganNanos = System.nanoTime();
        lastNanos = beganNanos;
        look(loop);
    }

    /** A packet of a message has come. */
    void arrived() {
        lastNanos = System.nanoTime();
    }

    private void look(EventExecutor loop) {
        long now = System.nanoTime();
        long left = Math.min(lastNanos + quietNanos, beganNanos + LONGEST * quietNanos) - now;
        if (left <= 0) {
            timer = null;
            done.run();
        } else {
            timer = loop.schedule(() -> look(loop), left, TimeUnit.NANOSECONDS);
        }
    }

    /** The connection has ended. */
    void end() {
        if (timer != null) {
            timer.cancel(false);
        }
    }
}
