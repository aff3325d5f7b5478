// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.config.RuleEngineConfig;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.concurrent.Queues;

/**
 * The threads that evaluate statements. All messages of a topic use the same one, so that their order is kept. What waits for a thread is bounded by
 * the messages that actions may have at the same time. A thread exists while there is work; it is woken up once for all messages that arrive
 * together, and then sends what they have become together.
 */
@AnyThread
final class RuleThreads {

    private static final int CORES_PER_THREAD = 4;
    private static final Duration IDLE = Duration.ofSeconds(30);

    /** The most messages that are evaluated before the lanes send their rows. */
    private static final int AT_ONCE = 64;

    private static final Logger LOG = LoggerFactory.getLogger(RuleThreads.class);

    private final List<Worker> workers = new ArrayList<>();

    RuleThreads(RuleEngineConfig config) {
        this(config, IDLE);
    }

    /** With the time after which a thread without work ends. */
    RuleThreads(RuleEngineConfig config, Duration idle) {
        int threads = config.threads() > 0
                ? config.threads()
                : Math.max(1, Runtime.getRuntime().availableProcessors() / CORES_PER_THREAD);
        for (int i = 0; i < threads; i++) {
            workers.add(new Worker(i, idle));
        }
    }

    /** One thread, with the messages that it has read lately. */
    static final class Worker {

        private final ThreadPoolExecutor executor;
        private RecentInputs inputs = new RecentInputs(); // those of the present thread, and on it
        private final Queue<Consumer<Worker>> tasks =
                Queues.<Consumer<Worker>>unboundedMultiproducer().get();
        private final AtomicInteger waiting = new AtomicInteger();
        private final Set<Runnable> atEnd = new LinkedHashSet<>(); // on the thread
        private @Nullable Runnable lastAtEnd; // one that is there already

        private Worker(int number, Duration idle) {
            executor = new ThreadPoolExecutor(
                    1,
                    1,
                    idle.toNanos(),
                    TimeUnit.NANOSECONDS,
                    new LinkedBlockingQueue<>(),
                    task -> thread(task, number));
            executor.allowCoreThreadTimeOut(true);
        }

        private Thread thread(Runnable task, int number) {
            Thread thread = new Thread(() -> run(task), "smqtt-rule-" + number);
            thread.setDaemon(true);
            return thread;
        }

        /** Runs a thread, which forgets what it has read when it ends. The next one may have begun by then. */
        private void run(Runnable thread) {
            RecentInputs own = new RecentInputs();
            inputs = own;
            try {
                thread.run();
            } finally {
                own.clear();
            }
        }

        private void add(Consumer<Worker> task) {
            tasks.add(task);
            if (waiting.getAndIncrement() == 0) {
                executor.execute(this::drain);
            }
        }

        private void drain() {
            int left;
            do {
                int done = 0;
                for (Consumer<Worker> task = tasks.poll(); task != null; task = done < AT_ONCE ? tasks.poll() : null) {
                    run(task);
                    done++;
                }
                atEnd.forEach(Worker::end);
                atEnd.clear();
                lastAtEnd = null;
                left = waiting.addAndGet(-done);
            } while (left > 0);
            inputs.forgetLarge();
        }

        /** An error of one message, such as of too little memory, must not end the messages behind it. */
        private void run(Consumer<Worker> task) {
            try {
                task.accept(this);
            } catch (Throwable e) {
                LOG.error("a message could not be treated by a rule", e);
            }
        }

        /** An error of one sink must not end the others. */
        private static void end(Runnable task) {
            try {
                task.run();
            } catch (Throwable e) {
                LOG.error("the rows of an action could not be sent", e);
            }
        }

        /** Runs a task once when the messages that have arrived together are evaluated: known by its identity; on this thread. */
        void atEnd(Runnable task) {
            if (task != lastAtEnd) {
                atEnd.add(task);
                lastAtEnd = task;
            }
        }

        /** What this thread has read lately; on it. */
        RecentInputs inputs() {
            return inputs;
        }
    }

    /**
     * Runs a task on the thread of a topic.
     *
     * @return false if the threads have ended
     */
    boolean execute(String topic, Consumer<Worker> task) {
        Worker worker = workers.get(Math.floorMod(spread(topic), workers.size()));
        if (worker.executor.isShutdown()) {
            return false;
        }
        try {
            worker.add(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Runs a task on a thread, behind those that wait for it. */
    static void execute(Worker worker, Consumer<Worker> task) {
        try {
            worker.add(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("the threads of rules have ended", e);
        }
    }

    /** Lets a lane send its next rows on one of the threads, behind the messages that wait for it. */
    void advance(Lane lane) {
        execute(
                workers.get(Math.floorMod(System.identityHashCode(lane), workers.size())),
                worker -> worker.atEnd(lane.advancing()));
    }

    /** A number for a topic, whose low bits depend on all characters. */
    static int spread(String topic) {
        int hash = topic.hashCode() * 0x9E3779B9;
        return hash ^ (hash >>> 16);
    }

    void close() {
        workers.forEach(worker -> worker.executor.shutdownNow());
    }
}
