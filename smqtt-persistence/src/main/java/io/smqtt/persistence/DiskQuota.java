// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limit on disk. Past it nothing is added. Removals are accepted, and table files are compacted to free the space of removed rows.
 * Used on the committing thread, except {@link #isExceeded}.
 */
final class DiskQuota {

    private static final Logger LOG = LoggerFactory.getLogger(DiskQuota.class);
    private static final long LEAST_BYTES = 1L << 20;
    private static final int PARTS = 64;

    private final Database database;
    private final long maxBytes;
    private final ExecutorService background;
    private final AtomicBoolean compacting = new AtomicBoolean();
    private volatile boolean exceeded;
    private volatile long usedBytes;
    private long measuredAtBytes;

    DiskQuota(Database database, long maxBytes, ExecutorService background) {
        this.database = database;
        this.maxBytes = maxBytes;
        this.background = background;
    }

    boolean isExceeded() {
        return exceeded;
    }

    long usedBytes() {
        return usedBytes;
    }

    boolean refuses(Operations flush) {
        return exceeded && flush.addsSomething();
    }

    Throwable refusal() {
        return new IllegalStateException("the store is full: it takes " + usedBytes + " bytes of " + maxBytes);
    }

    /** Whether so much was written since the last measurement that a new one is needed at once. */
    boolean isDue() {
        return maxBytes > 0 && database.submittedBytes() - measuredAtBytes > Math.max(LEAST_BYTES, maxBytes / PARTS);
    }

    void measure() {
        Path directory = database.directory();
        measuredAtBytes = database.submittedBytes();
        usedBytes = StoreFolder.bytesOf(directory);
        StoreFolder.restrict(directory);
        boolean now = maxBytes > 0 && usedBytes > maxBytes;
        if (now != exceeded) {
            LOG.warn(
                    "the store is {} its limit of {} bytes",
                    now ? "full and accepts nothing new: past" : "below",
                    maxBytes);
            exceeded = now;
        }
        if (now && compacting.compareAndSet(false, true)) {
            compact();
        }
    }

    private void compact() {
        try {
            background.execute(() -> {
                try {
                    database.compact();
                } catch (RocksDBException e) {
                    LOG.info("compacting the store failed: {}", e.getMessage());
                } finally {
                    compacting.set(false);
                }
            });
        } catch (RejectedExecutionException e) {
            compacting.set(false); // the store is closing
        }
    }
}
