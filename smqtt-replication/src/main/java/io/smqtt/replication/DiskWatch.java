// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A thread that waits until a disk takes writes again, after a replica on it has ended, and opens the replicas then. Thread-safe. */
final class DiskWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);

    private final Path directory;
    private final Duration interval;
    private final Probe probe;
    private final Recovery recovery;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean isWritable;

    /**
     * Creates a watch that has not begun.
     *
     * @param directory a directory on the disk
     * @param interval the time between two attempts
     * @param recovery opens the replicas
     */
    DiskWatch(Path directory, Duration interval, Probe probe, Recovery recovery) {
        this.directory = directory;
        this.interval = interval;
        this.probe = probe;
        this.recovery = recovery;
    }

    /** Begins, unless it is under way. Can be called again when the replicas were opened. */
    void begin() {
        if (!isWritable && begun.compareAndSet(false, true)) {
            Thread made = new Thread(this::run, "smqtt-replica-disk");
            made.setDaemon(true);
            made.start();
        }
    }

    private void run() {
        try {
            while (!end.await(interval.toMillis(), TimeUnit.MILLISECONDS)) {
                Result result = takesWrites() ? recovery.recover() : Result.LATER;
                if (result == Result.NEVER) {
                    isWritable = true;
                    LOG.error(
                            "the disk of {} takes writes again: start this node again, its replicas have ended",
                            directory);
                    return;
                }
                if (result == Result.DONE) {
                    LOG.info(
                            "the disk of {} takes writes again: the replicas of this node are in use again", directory);
                    begun.set(false);
                    if (!recovery.isNeeded() || !begun.compareAndSet(false, true)) {
                        return;
                    }
                }
            }
        } catch (InterruptedException e) { // by no caller
            Thread.currentThread().interrupt();
        }
    }

    private boolean takesWrites() {
        try {
            probe.write(directory);
            return true;
        } catch (IOException e) {
            LOG.debug("the disk takes no writes yet: {}", e.getMessage());
            return false;
        }
    }

    /** Whether the disk takes writes, and the replicas can be opened by a restart only. */
    boolean isWritable() {
        return isWritable;
    }

    @Override
    public void close() {
        end.countDown();
    }

    /** Writes to a disk, and removes what it has written. */
    interface Probe {

        void write(Path directory) throws IOException;
    }

    /** The outcome of an attempt to open the replicas. */
    enum Result {
        /** They are in use. */
        DONE,
        /** The disk is full again, or another node is missing. */
        LATER,
        /** They can be opened by a restart only. */
        NEVER
    }

    /** Opens the replicas on a disk. */
    interface Recovery {

        /** Opens them. Blocks. */
        Result recover();

        /** Whether one of them has ended. */
        boolean isNeeded();
    }
}
