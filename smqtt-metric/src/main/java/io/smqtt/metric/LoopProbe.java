// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.smqtt.thread.AnyThread;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures one event loop: the delay of due tasks, which is the time that a packet waits for the loop, and its CPU time.
 */
final class LoopProbe {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The maximum covers two of these windows, so that a scrape every 15 seconds sees every lag. */
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(15);

    private final EventExecutor loop;
    private volatile long dueNanos;
    private volatile long greatestNanos;
    private volatile long greatestBeforeNanos;
    private long windowEndNanos; // only on the loop
    private volatile long threadId = -1;
    private volatile @Nullable ScheduledFuture<?> next;
    private volatile boolean stopped;

    LoopProbe(EventExecutor loop, int index, MeterRegistry registry) {
        this.loop = loop;
        dueNanos = System.nanoTime();
        windowEndNanos = dueNanos + WINDOW_NANOS;
        String name = Integer.toString(index);
        TimeGauge.builder("smqtt.eventloop.lag", this, TimeUnit.NANOSECONDS, LoopProbe::greatestLag)
                .description("maximum delay of a due task on an event loop within the last 15 to 30 seconds")
                .tag("loop", name)
                .register(registry);
        FunctionCounter.builder("smqtt.eventloop.cpu", this, probe -> probe.cpuNanos() / 1e9)
                .description("CPU time of an event loop; its rate is the utilisation, at most 1")
                .baseUnit("seconds")
                .tag("loop", name)
                .register(registry);
        Gauge.builder("smqtt.eventloop.pending.tasks", loop, LoopProbe::pendingTasks)
                .description("tasks that wait for an event loop")
                .tag("loop", name)
                .register(registry);
    }

    void start() {
        dueNanos = System.nanoTime();
        loop.execute(() -> {
            threadId = Thread.currentThread().getId();
            tick();
        });
    }

    void stop() {
        stopped = true;
        ScheduledFuture<?> waiting = next;
        if (waiting != null) {
            waiting.cancel(false);
        }
    }

    private void tick() {
        if (stopped || loop.isShuttingDown()) {
            return;
        }
        long now = System.nanoTime();
        record(now - dueNanos, now);
        dueNanos = now + PERIOD_NANOS;
        next = loop.schedule(this::tick, PERIOD_NANOS, TimeUnit.NANOSECONDS);
    }

    private void record(long lagNanos, long now) {
        if (now - windowEndNanos >= 0) {
            greatestBeforeNanos = greatestNanos;
            greatestNanos = 0;
            windowEndNanos = now + WINDOW_NANOS;
        }
        if (lagNanos > greatestNanos) {
            greatestNanos = lagNanos;
        }
    }

    /** The maximum lag in nanoseconds, including the current one of a blocked loop. */
    @AnyThread
    double greatestLag() {
        return Math.max(lateNanos(), Math.max(greatestNanos, greatestBeforeNanos));
    }

    /** The current lag in nanoseconds. */
    @AnyThread
    long lateNanos() {
        return stopped ? 0 : Math.max(0, System.nanoTime() - dueNanos);
    }

    private double cpuNanos() {
        long id = threadId;
        return id < 0 || !THREADS.isThreadCpuTimeSupported() ? 0 : Math.max(0, THREADS.getThreadCpuTime(id));
    }

    private static double pendingTasks(EventExecutor loop) {
        return loop instanceof SingleThreadEventExecutor single ? single.pendingTasks() : 0;
    }
}
