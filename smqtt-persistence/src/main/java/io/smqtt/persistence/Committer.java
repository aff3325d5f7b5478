// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The committing thread. It takes whole flushes from its queue until there are some thousand operations, four mebibytes, or no more
 * flushes. It writes them as one batch, and syncs once if one of them requires it. It does not wait for more: while a batch is being
 * written the next one is collected, so batches grow with the load. Large batches cost least: a message that is acknowledged before its
 * batch is taken is never written. For the same reason the thread yields before it takes a batch; then an event loop on the same core
 * collects until it is idle or preempted.
 */
final class Committer implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(Committer.class);
    private static final long FAILURE_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int OPERATIONS_AT_ONCE = 16_384;
    private static final long BYTES_AT_ONCE = 4L << 20;
    private static final long SWEEP_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private final Store store;
    private final Queue<Object> queue = new ConcurrentLinkedQueue<>();
    private final AtomicLong queuedBytes = new AtomicLong();
    private final long maxQueuedBytes;
    private final Thread thread = new Thread(this, "smqtt-store");
    private final List<Operations> flushes = new ArrayList<>();
    private final List<Runnable> reads = new ArrayList<>();
    private volatile boolean parked;
    private volatile boolean closing;
    private boolean ended; // guarded by this
    private long lastSweepNanos;

    Committer(Store store, long maxQueuedBytes) {
        this.store = store;
        this.maxQueuedBytes = maxQueuedBytes;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void submit(Operations operations) {
        queuedBytes.addAndGet(operations.bytes());
        enqueue(operations);
    }

    /** Runs a task on the committing thread after everything that was submitted before is committed or has failed. */
    void afterwards(Runnable task) {
        enqueue(task);
    }

    private void enqueue(Object request) {
        queue.add(request);
        if (parked) {
            LockSupport.unpark(thread);
        }
        if (closing) {
            drainIfEnded();
        }
    }

    boolean isOverloaded(long moreBytes) {
        return queuedBytes.get() + moreBytes > maxQueuedBytes;
    }

    /** Bytes of operations that wait. */
    long queuedBytes() {
        return queuedBytes.get();
    }

    @Override
    public void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = step();
            } catch (RuntimeException | Error e) { // all writers wait for this thread
                LOG.error("unexpected failure in the commit thread, which continues", e);
                LockSupport.parkNanos(this, FAILURE_PAUSE_NANOS);
            }
        }
    }

    private boolean step() {
        if (!queue.isEmpty()) {
            letOthersGoFirst();
        }
        Object next = queue.poll();
        if (next != null) {
            round(next);
        } else if (closing) {
            end();
            return false;
        } else {
            idle();
        }
        return true;
    }

    @SuppressWarnings("ThreadPriorityCheck") // only cheaper, right without it
    private static void letOthersGoFirst() {
        Thread.yield();
    }

    private void round(Object first) {
        int operations = 0;
        long bytes = 0;
        for (Object next = first; next != null; next = queue.poll()) {
            if (next instanceof Operations flush) {
                flushes.add(flush);
                operations += flush.size();
                bytes += flush.bytes();
            } else {
                reads.add((Runnable) next);
            }
            if (operations >= OPERATIONS_AT_ONCE || bytes >= BYTES_AT_ONCE) {
                break;
            }
        }
        store.figures().working(true);
        try {
            commit(bytes);
            store.tick();
            sweepSometimes();
        } finally {
            store.figures().working(false);
        }
    }

    private void commit(long bytes) {
        try {
            store.commit(flushes, operationsOf(flushes), bytes);
        } finally {
            queuedBytes.addAndGet(-bytes);
            flushes.clear();
            runReads();
        }
    }

    private void runReads() {
        for (Runnable read : reads) {
            try {
                read.run();
            } catch (RuntimeException | Error e) {
                LOG.error("starting a read failed", e);
            }
        }
        reads.clear();
    }

    private static int operationsOf(List<Operations> flushes) {
        int operations = 0;
        for (Operations flush : flushes) {
            operations += flush.size();
        }
        return operations;
    }

    private void idle() {
        if (store.sweep()) {
            return;
        }
        long waitNanos = store.tick();
        parked = true;
        if (queue.isEmpty() && !closing) {
            LockSupport.parkNanos(this, waitNanos);
        }
        parked = false;
    }

    private void sweepSometimes() {
        long now = System.nanoTime();
        if (now - lastSweepNanos > SWEEP_EVERY_NANOS) {
            lastSweepNanos = now;
            store.sweep();
        }
    }

    /** Commits the submitted operations, then ends the thread. */
    void close() {
        closing = true;
        if (thread.getState() == Thread.State.NEW) {
            end(); // opened, but never used
        }
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        drainIfEnded();
    }

    private synchronized void end() {
        ended = true;
    }

    /** Operations after the end fail at once. */
    private synchronized void drainIfEnded() {
        if (!ended) {
            return;
        }
        IllegalStateException closed = new IllegalStateException("the store is closed");
        for (Object next = queue.poll(); next != null; next = queue.poll()) {
            if (next instanceof Operations flush) {
                flush.listener().completed(flush.position(), closed);
            } else {
                ((Runnable) next).run();
            }
        }
    }
}
