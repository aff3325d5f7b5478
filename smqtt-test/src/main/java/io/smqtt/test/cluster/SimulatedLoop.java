// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.cluster;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A thread of a simulated process: its tasks are events of the simulation. When the process crashes none of them runs any
 * more.
 */
public final class SimulatedLoop extends AbstractExecutorService implements ScheduledExecutorService {

    private final Simulation simulation;
    private boolean ended;

    /**
     * Creates a loop.
     *
     * @param simulation whose time it lives in
     */
    public SimulatedLoop(Simulation simulation) {
        this.simulation = simulation;
    }

    @Override
    public void execute(Runnable task) {
        simulation.after(0, () -> {
            if (!ended) {
                task.run();
            }
        });
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        Task scheduled = new Task(task, simulation.nanoTime() + unit.toNanos(delay));
        simulation.after(unit.toNanos(delay), () -> {
            if (!ended && !scheduled.isCancelled()) {
                task.run();
            }
        });
        return scheduled;
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException("tasks without a result only");
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, long first, long period, TimeUnit unit) {
        throw new UnsupportedOperationException("tasks that run once only");
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long first, long delay, TimeUnit unit) {
        throw new UnsupportedOperationException("tasks that run once only");
    }

    @Override
    public void shutdown() {
        ended = true;
    }

    @Override
    public List<Runnable> shutdownNow() {
        ended = true;
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return ended;
    }

    @Override
    public boolean isTerminated() {
        return ended;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return ended;
    }

    /** A scheduled task, which can be cancelled. */
    private final class Task extends FutureTask<Void> implements ScheduledFuture<Void> {

        private final long dueNanos;

        Task(Runnable task, long dueNanos) {
            super(task, null);
            this.dueNanos = dueNanos;
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(dueNanos - simulation.nanoTime(), TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }
}
