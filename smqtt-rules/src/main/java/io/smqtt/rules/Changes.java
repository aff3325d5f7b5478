// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Changes of live objects, made one after the other, on a thread that exists while there are some. A change that waits for the broker or a peer waits without
 * the thread.
 */
@AnyThread
public final class Changes {

    private static final int IDLE_SECONDS = 10;

    private final Scheduler thread;
    private final Runnable afterEach;
    private final ArrayDeque<Change> waiting = new ArrayDeque<>(); // on the thread
    private boolean changing; // on the thread

    /** A change, and what follows its end. */
    private record Change(Supplier<Mono<Void>> work, Consumer<Throwable> failed, Runnable done) {}

    /**
     * Creates a queue without changes.
     *
     * @param threadName the name of the thread
     * @param afterEach runs on the thread after each change that has succeeded, before the next one
     */
    public Changes(String threadName, Runnable afterEach) {
        this.thread = Schedulers.fromExecutorService(executor(threadName));
        this.afterEach = afterEach;
    }

    private static ThreadPoolExecutor executor(String threadName) {
        ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread made = new Thread(task, threadName);
                    made.setDaemon(true);
                    return made;
                });
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /**
     * The thread, for work that is no change.
     *
     * @return the scheduler of the thread
     */
    public Scheduler thread() {
        return thread;
    }

    /**
     * Makes a change after those before it.
     *
     * @param work begins the change, on the thread
     * @return completes when the change has been made, or fails as it does
     */
    public Mono<Void> change(Supplier<Mono<Void>> work) {
        return Mono.create(over -> thread.schedule(() -> {
            waiting.add(new Change(work, over::error, over::success));
            next();
        }));
    }

    /**
     * Adds a change whose end is of no interest to a caller. On the thread.
     *
     * @param work begins the change, on the thread
     * @param failed receives its failure
     */
    public void add(Supplier<Mono<Void>> work, Consumer<Throwable> failed) {
        waiting.add(new Change(work, failed, () -> {}));
        next();
    }

    /**
     * Adds changes before those that wait. On the thread.
     *
     * @param earlier adds them by {@link #add}
     */
    public void first(Runnable earlier) {
        List<Change> later = List.copyOf(waiting);
        waiting.clear();
        boolean before = changing;
        changing = true; // none begins yet
        earlier.run();
        changing = before;
        waiting.addAll(later);
        next();
    }

    private void next() {
        Change change = changing ? null : waiting.poll();
        if (change != null) {
            changing = true;
            Mono.defer(() -> begun(change))
                    .publishOn(thread)
                    .doOnTerminate(() -> changing = false)
                    .subscribe(
                            done -> {},
                            error -> {
                                change.failed().accept(error);
                                next();
                            },
                            () -> {
                                change.done().run();
                                afterEach.run();
                                next();
                            });
        }
    }

    private static Mono<Void> begun(Change change) {
        try {
            return change.work().get();
        } catch (LinkageError e) { // of an extension; Reactor would let it pass, and no further change would be made
            return Mono.error(new ConfigurationException("an extension does not fit this broker: " + e));
        }
    }

    /** Ends the thread. Changes that wait are not made. */
    public void close() {
        thread.dispose();
    }
}
