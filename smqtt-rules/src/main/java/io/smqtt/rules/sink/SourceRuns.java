// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/** The runs of a {@link Source} whose client blocks: each has a thread of its own, ends when it is cancelled, and tells when its thread has ended. */
@AnyThread
public final class SourceRuns implements AutoCloseable {

    /** One run. */
    public interface Run {

        /**
         * Reads until {@link #end} is called. Called once, on the thread of the run, which may be blocked.
         *
         * @throws Exception why the run has ended by itself; after {@link #end} it is ignored
         */
        void read() throws Exception;

        /** Lets {@link #read} return soon, also if it has not begun yet. Called once at most, on any thread, which must not be blocked. */
        void end();
    }

    private final ThreadFactory threads;
    private final Duration patience;
    private final Set<Running> present = ConcurrentHashMap.newKeySet();
    private boolean closed; // guarded by this

    /**
     * Creates it without a run.
     *
     * @param threadName the name of the threads
     * @param patience how long {@link #close} waits for the threads at most
     */
    public SourceRuns(String threadName, Duration patience) {
        this(
                run -> {
                    Thread thread = new Thread(run, threadName);
                    thread.setDaemon(true);
                    return thread;
                },
                patience);
    }

    /** The same with some threads. */
    SourceRuns(ThreadFactory threads, Duration patience) {
        this.threads = threads;
        this.patience = patience;
    }

    /**
     * Begins a run with each subscription.
     *
     * @param runs makes it; must not block
     * @return completes or fails as {@link Run#read} does; fails at once after {@link #close}, and if there can be no thread. Cancelling ends the
     *     run
     */
    public Mono<Void> run(Supplier<Run> runs) {
        return Mono.create(outcome -> {
            Running begun = new Running(runs.get(), outcome);
            if (!add(begun)) {
                outcome.error(new SinkException("the source is closed", true));
                return;
            }
            outcome.onCancel(begun::end);
            try {
                threads.newThread(begun).start();
            } catch (Exception | Error e) { // such as no memory for a thread
                begun.withoutThread(e);
            }
        });
    }

    private synchronized boolean add(Running begun) {
        return !closed && present.add(begun);
    }

    /**
     * Waits for the threads of runs that were cancelled, for {@link Source#ended}.
     *
     * @return completes when no thread is left
     */
    public Mono<Void> ended() {
        return Mono.defer(
                () -> Mono.when(present.stream().map(each -> each.over.asMono()).toList()));
    }

    /** Ends all runs; none begins any more. Blocks until their threads have ended, up to the patience. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        present.forEach(Running::end);
        long endNanos = System.nanoTime() + patience.toNanos();
        try {
            for (Running each : present) {
                each.left.await(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A run with its thread. */
    private final class Running implements Runnable {

        final Sinks.Empty<Void> over = Sinks.empty();
        final CountDownLatch left = new CountDownLatch(1);
        private final Run run;
        private final MonoSink<Void> outcome;
        private final AtomicBoolean isEnded = new AtomicBoolean();

        Running(Run run, MonoSink<Void> outcome) {
            this.run = run;
            this.outcome = outcome;
        }

        void end() {
            if (isEnded.compareAndSet(false, true)) {
                run.end();
            }
        }

        /** Ends it before it has begun. */
        void withoutThread(Throwable error) {
            end();
            leave();
            outcome.error(new SinkException("no thread can be started: " + error.getMessage(), true));
        }

        private void leave() {
            present.remove(this);
            left.countDown();
            over.tryEmitEmpty();
        }

        @Override
        public void run() {
            Throwable error = null;
            try {
                run.read();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception | Error e) { // such as a class that is missing
                error = e;
            }
            leave();
            if (error == null || isEnded.get()) {
                outcome.success();
            } else {
                outcome.error(error);
            }
        }
    }
}
