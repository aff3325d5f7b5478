// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Waits until no message has come for a while from a session at the other broker that is to be begun anew, but not for longer than {@value #LONGEST}
 * times that while. Silence counts only while our broker reads and has answered all that came. Of one connection.
 */
@OnEventLoop
final class SessionDrain {

    /** The longest drain, as a multiple of the time without a message. */
    static final int LONGEST = 10;

    private final long quietNanos;
    private final BooleanSupplier reads;
    private final End done;
    private long beganNanos;
    private long lastNanos;
    private int unanswered;
    private @Nullable Future<?> timer;

    /** Learns on the event loop how the drain has ended. */
    interface End {

        /**
         * Called once.
         *
         * @param empty whether no more messages came; if not, the session still has some, or perhaps has
         */
        void drained(boolean empty);
    }

    /**
     * Creates a drain that has not begun.
     *
     * @param quietMillis the time without a message, longer than an answer of the other broker takes
     * @param reads whether our broker wants more bytes of the other one
     * @param done learns the end
     */
    SessionDrain(long quietMillis, BooleanSupplier reads, End done) {
        this.quietNanos = TimeUnit.MILLISECONDS.toNanos(quietMillis);
        this.reads = reads;
        this.done = done;
    }

    /** The session at the other broker is resumed. */
    void begin(EventExecutor loop) {
        beganNanos = System.nanoTime();
        lastNanos = beganNanos;
        look(loop);
    }

    /** A message has come. */
    void arrived(int qos) {
        lastNanos = System.nanoTime();
        if (qos > 0) {
            unanswered++;
        }
    }

    /** Our broker has answered a message, which is stored here: the other one may send the next. */
    void answered() {
        lastNanos = System.nanoTime();
        unanswered = Math.max(0, unanswered - 1);
    }

    private void look(EventExecutor loop) {
        long now = System.nanoTime();
        if (unanswered > 0 || !reads.getAsBoolean()) {
            lastNanos = now;
        }
        long silence = lastNanos + quietNanos - now;
        long left = Math.min(silence, beganNanos + LONGEST * quietNanos - now);
        if (left <= 0) {
            timer = null;
            done.drained(silence <= 0);
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
