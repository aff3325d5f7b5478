// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * The thread that calls methods of Kafka's clients which may block. It exists while there is something to do. Classes that Kafka looks up by name,
 * such as those of SASL, come from the extension.
 */
@AnyThread
final class KafkaThread {

    private static final int IDLE_SECONDS = 60;
    private static final int CLOSE_SECONDS = 3;

    private final ThreadPoolExecutor executor;

    KafkaThread(String name) {
        executor = new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            made.setContextClassLoader(KafkaProducer.class.getClassLoader());
            return made;
        });
        executor.allowCoreThreadTimeOut(true);
    }

    /** Runs a task that makes a client, on any thread. */
    static <T> T withOwnClasses(Supplier<T> task) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(KafkaProducer.class.getClassLoader());
        try {
            return task.get();
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    /**
     * Runs a task after those before it.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the thread has ended
     */
    void execute(Runnable task) {
        executor.execute(task);
    }

    /** Ends the thread. Blocks for a few seconds at most. Returns the tasks that have not begun. */
    List<Runnable> close() {
        List<Runnable> rest = executor.shutdownNow();
        try {
            executor.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return rest;
    }
}
