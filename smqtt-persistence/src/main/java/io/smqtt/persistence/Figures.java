// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.log.LogLimiter;
import io.smqtt.spi.StoreFigures;
import io.smqtt.spi.StoreObserver;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Counts for {@link StoreStatistics}, and notifies the observer. Written on the committing thread; readable on any thread. */
final class Figures {

    private static final Logger LOG = LoggerFactory.getLogger(Figures.class);

    private final LongAdder commits = new LongAdder();
    private final LongAdder operations = new LongAdder();
    private final LongAdder commitNanos = new LongAdder();
    private volatile StoreObserver observer = StoreObserver.NONE;
    private volatile long diskBytes;
    private volatile long submittedBytes;
    private volatile long writtenBytes;
    private final LogLimiter lines = new LogLimiter(LOG, Level.ERROR, 1);

    void observe(StoreObserver told) {
        observer = told;
    }

    void committed(int count, long bytes, long nanos, boolean kept) {
        if (count == 0) {
            return; // the batch had reads only
        }
        if (kept) {
            commits.increment();
            operations.add(count);
            commitNanos.add(nanos);
        }
        tell(() -> observer.storeCommitted(count, bytes, nanos, kept));
    }

    void working(boolean now) {
        tell(() -> observer.storeWorking(now));
    }

    /** Records the size of the files, and the bytes submitted to the database and written by it. */
    void measured(long onDisk, long submitted, long written) {
        diskBytes = onDisk;
        submittedBytes = submitted;
        writtenBytes = written;
    }

    void tellMeasured(boolean healthy, long queuedBytes) {
        tell(() -> observer.storeMeasured(
                new StoreFigures(healthy, queuedBytes, diskBytes, submittedBytes, writtenBytes)));
    }

    /** An observer that throws must not stop the store. */
    private void tell(Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            if (lines.allows("observers")) {
                LOG.error("an observer failed", e);
            }
        }
    }

    StoreStatistics read(long queuedBytes) {
        return new StoreStatistics(
                commits.sum(),
                operations.sum(),
                commitNanos.sum(),
                queuedBytes,
                diskBytes,
                submittedBytes,
                writtenBytes);
    }
}
