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

/** A thread that waits until a disk takes writes again, after a replica on it has ended. Thread-safe. */
final class DiskWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);

    private final Path directory;
    private final Duration interval;
    private final Probe probe;
    private final AtomicBoolean begun = new AtomicBoolean();
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean isWritable;

    /**
     * Creates a watch that has not begun.
     *
     * @param directory a directory on the disk
     * @param interval the time between two attempts
     */
    DiskWatch(Path directory, Duration interval, Probe probe) {
        this.directory = directory;
        this.interval = interval;
        this.probe = probe;
    }

    /** Begins, unless it has begun before. */
    void begin() {
        if (begun.compareAndSet(false, true)) {
            Thread made = new Thread(this::run, "smqtt-replica-disk");
            made.setDaemon(true);
            made.start();
        }
    }

    private void run() {
        try {
            while (!isWritable) {
                if (end.await(interval.toMillis(), TimeUnit.MILLISECONDS)) {
                    return;
                }
                isWritable = takesWrites();
            }
            LOG.error("the disk of {} takes writes again: start this node again, its replicas have ended", directory);
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

    /** Whether it has begun, and the disk takes writes since. */
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
}
