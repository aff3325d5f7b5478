// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An event loop whose tasks run when the test says so, and that counts them. A test itself is on any loop. */
final class ManualLoop extends AbstractEventExecutor {

    private static final ThreadLocal<@Nullable ManualLoop> CURRENT = new ThreadLocal<>();

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final Queue<Runnable> scheduled = new ArrayDeque<>();
    int offered;

    int runTasks() {
        return runTasks(Integer.MAX_VALUE);
    }

    /** Runs the next tasks, so many at most. */
    int runTasks(int most) {
        ManualLoop outer = CURRENT.get();
        CURRENT.set(this);
        try {
            int count = 0;
            while (count < most && !tasks.isEmpty()) {
                tasks.remove().run();
                count++;
            }
            return count;
        } finally {
            CURRENT.set(outer);
        }
    }

    @Override
    public void execute(Runnable task) {
        offered++;
        tasks.add(task);
    }

    /** What is to happen later happens by {@link #timePasses}; tests with deadlines have a wheel. */
    @Override
    public @Nullable ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        scheduled.add(task);
        return null;
    }

    /** Lets all scheduled tasks become due, whatever their delay. */
    void timePasses() {
        tasks.addAll(scheduled);
        scheduled.clear();
    }

    @Override
    public boolean inEventLoop(Thread thread) {
        ManualLoop current = CURRENT.get();
        return current == null || current == this;
    }

    @Override
    public boolean isShuttingDown() {
        return false;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Future<?> terminationFuture() {
        throw new UnsupportedOperationException();
    }

    @Override
    @Deprecated
    public void shutdown() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return false;
    }
}
