// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Measures one event loop: the delay of due tasks, which is the time that a packet waits for the loop, and its CPU time.
 */
final class LoopProbe {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration[] BOUNDS = LongStream.of(
                    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    /** Samples of one delay at most: those of a minute. */
    private static final int MOST_SAMPLES = 600;

    /** The maximum covers two of these windows, so that a scrape every 15 seconds sees every lag. */
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(15);

    private final EventExecutor loop;
    private final Timer delays;
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
        delays = Timer.builder("smqtt.eventloop.delay")
                .description("delay of a due task on an event loop, sampled ten times a second")
                .tag("loop", name)
                .serviceLevelObjectives(BOUNDS)
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

    /** Records the delay of the probe's task. */
    @OnEventLoop
    void record(long lagNanos, long now) {
        sample(lagNanos);
        if (now - windowEndNanos >= 0) {
            greatestBeforeNanos = greatestNanos;
            greatestNanos = 0;
            windowEndNanos = now + WINDOW_NANOS;
        }
        if (lagNanos > greatestNanos) {
            greatestNanos = lagNanos;
        }
    }

    /** Adds a sample for each period that the loop missed, as tasks of that time would have had it. Otherwise long delays would count once. */
    private void sample(long lagNanos) {
        long late = lagNanos;
        int count = 0;
        do {
            delays.record(late, TimeUnit.NANOSECONDS);
            late -= PERIOD_NANOS;
            count++;
        } while (late > 0 && count < MOST_SAMPLES);
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
