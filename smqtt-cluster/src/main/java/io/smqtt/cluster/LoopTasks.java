// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.thread.AnyThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs tasks on the cluster's loop. A failing task does not end the loop, and a task after the loop's end is dropped. */
@AnyThread
final class LoopTasks {

    private static final Logger LOG = LoggerFactory.getLogger(LoopTasks.class);

    private final ScheduledExecutorService loop;
    private final Consumer<RuntimeException> failures;

    /**
     * Creates the tasks of a loop.
     *
     * @param loop one thread
     * @param failures receives the exceptions of tasks, on the loop
     */
    LoopTasks(ScheduledExecutorService loop, Consumer<RuntimeException> failures) {
        this.loop = loop;
        this.failures = failures;
    }

    /** Runs a task. Returns false if the loop has ended. */
    boolean execute(Runnable task) {
        try {
            loop.execute(() -> guarded(task));
            return true;
        } catch (RejectedExecutionException e) {
            return ended(e);
        }
    }

    /** Runs a task later. */
    void schedule(Runnable task, long time, TimeUnit unit) {
        try {
            loop.schedule(() -> guarded(task), time, unit);
        } catch (RejectedExecutionException e) {
            ended(e);
        }
    }

    private static boolean ended(RejectedExecutionException e) {
        LOG.debug("the cluster's loop has ended", e);
        return false;
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            failures.accept(e);
        }
    }
}
