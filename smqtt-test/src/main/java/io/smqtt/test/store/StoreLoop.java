// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.store;

import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.StoreWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Stands for an event loop with a writer: runs what a test does with the writer on the loop's own thread, and takes down
 * what the store says about commits.
 */
public final class StoreLoop implements BrokerStore.CommitListener, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ExecutorService executor;
    private final StoreWriter writer;
    private final List<Long> committed = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private @Nullable Thread thread;
    private long safe;
    private long told;
    private boolean calledElsewhere;

    /**
     * Opens a writer.
     *
     * @param store the store under test
     */
    public StoreLoop(BrokerStore store) {
        executor = Executors.newSingleThreadExecutor(task -> {
            Thread made = new Thread(task, "store-loop");
            made.setDaemon(true);
            thread = made;
            return made;
        });
        writer = store.writer(executor, this);
    }

    @Override
    public synchronized void committed(long position) {
        calledElsewhere |= Thread.currentThread() != thread;
        committed.add(position);
        safe = position;
        told = position;
        notifyAll();
    }

    @Override
    public synchronized void failed(long position, Throwable cause) {
        calledElsewhere |= Thread.currentThread() != thread;
        failures.add(cause);
        told = position;
        notifyAll();
    }

    /**
     * Does something with the writer, and flushes.
     *
     * @param operations what to do
     * @return the writer's position
     */
    public long flush(Consumer<StoreWriter> operations) {
        return call(own -> {
            operations.accept(own);
            own.flush();
            return own.position();
        });
    }

    /**
     * Does something with the writer, flushes, and waits until it is safe.
     *
     * @param operations what to do
     * @return the writer's position
     * @throws AssertionError if it fails or takes longer than 20 seconds
     */
    public long commit(Consumer<StoreWriter> operations) {
        long position = flush(operations);
        awaitTold(position);
        synchronized (this) {
            if (safe < position) {
                throw new AssertionError("not kept: " + failures);
            }
        }
        return position;
    }

    /**
     * Does something with the writer on the loop.
     *
     * @param use what to do
     * @param <T> the result
     * @return the result
     */
    public <T> T call(Function<StoreWriter, T> use) {
        return get(CompletableFuture.supplyAsync(() -> use.apply(writer), executor));
    }

    /**
     * Waits until the store has said what became of the operations up to a position.
     *
     * @param position a position of the writer
     */
    public synchronized void awaitTold(long position) {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (told < position) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new AssertionError("neither committed nor failed: " + position + ", the last was " + told);
            }
            try {
                wait(left);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }
    }

    /**
     * How far operations are safe.
     *
     * @return the position of the last commit
     */
    public synchronized long safe() {
        return safe;
    }

    /**
     * All positions of commits, in the order in which they were told.
     *
     * @return a copy
     */
    public synchronized List<Long> commits() {
        return List.copyOf(committed);
    }

    /**
     * Why flushes were not kept.
     *
     * @return a copy
     */
    public synchronized List<Throwable> failures() {
        return List.copyOf(failures);
    }

    /**
     * Whether the listener was called on another thread than the loop's.
     *
     * @return true if it was
     */
    public synchronized boolean wasCalledElsewhere() {
        return calledElsewhere;
    }

    /**
     * Where the store calls back.
     *
     * @return the loop
     */
    public ExecutorService executor() {
        return executor;
    }

    static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("no answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        executor.shutdown();
    }
}
