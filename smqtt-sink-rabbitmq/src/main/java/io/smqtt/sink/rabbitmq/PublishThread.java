// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.rabbitmq;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that calls methods of the client, which may block. It exists while there is something to do. */
@AnyThread
final class PublishThread {

    private static final Logger LOG = LoggerFactory.getLogger(PublishThread.class);
    private static final int IDLE_SECONDS = 60;
    private static final int LEAVE_SECONDS = 2;

    private final ThreadPoolExecutor executor;

    PublishThread(String name) {
        executor = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
        executor.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs a task after those before it.
     *
     * @throws RejectedExecutionException if the thread has ended
     */
    void execute(Runnable task) {
        executor.execute(task);
    }

    /**
     * Ends the thread. Blocks for a few seconds at most.
     *
     * @param last the last task
     * @param release ends what the thread may be waiting for
     * @return the tasks that have not begun
     */
    List<Runnable> close(Runnable last, Runnable release) {
        try {
            executor.execute(last);
        } catch (RejectedExecutionException e) {
            LOG.debug("closed again", e);
        }
        executor.shutdown();
        try {
            executor.awaitTermination(LEAVE_SECONDS, TimeUnit.SECONDS);
            release.run();
            executor.awaitTermination(LEAVE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            release.run();
            Thread.currentThread().interrupt();
        }
        return executor.shutdownNow();
    }
}
