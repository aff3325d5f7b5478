// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An event loop whose tasks run when the test says so, and that counts them. */
final class ManualLoop extends AbstractEventExecutor {

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    int offered;

    int runTasks() {
        int count = 0;
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
            count++;
        }
        return count;
    }

    @Override
    public void execute(Runnable task) {
        offered++;
        tasks.add(task);
    }

    /** What is to happen later never happens: tests with deadlines have a wheel. */
    @Override
    public @Nullable ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return null;
    }

    @Override
    public boolean inEventLoop(Thread thread) {
        return true;
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
