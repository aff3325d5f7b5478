// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Measures the delay of due tasks on one event loop. */
final class LoopLag {

    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final EventExecutor loop;
    private final Ticker ticker;
    private final AtomicLong greatestNanos = new AtomicLong();
    private volatile long dueNanos;
    private volatile boolean stopped;
    private volatile @Nullable ScheduledFuture<?> next;

    LoopLag(EventExecutor loop, Ticker ticker) {
        this.loop = loop;
        this.ticker = ticker;
        dueNanos = ticker.nanoTime();
    }

    void start() {
        dueNanos = ticker.nanoTime();
        loop.execute(this::run);
    }

    @AnyThread
    void stop() {
        stopped = true;
        ScheduledFuture<?> waiting = next;
        if (waiting != null) {
            waiting.cancel(false);
        }
    }

    @OnEventLoop
    private void run() {
        if (stopped || loop.isShuttingDown()) {
            return;
        }
        long now = ticker.nanoTime();
        greatestNanos.accumulateAndGet(now - dueNanos, Math::max);
        dueNanos = now + PERIOD_NANOS;
        next = loop.schedule(this::run, PERIOD_NANOS, TimeUnit.NANOSECONDS);
    }

    /** The greatest delay in nanoseconds since the last call, including that of a task that is due and has not run yet. */
    @AnyThread
    long take(long nowNanos) {
        long pending = stopped ? 0 : nowNanos - dueNanos;
        return Math.max(pending, greatestNanos.getAndSet(0));
    }
}
