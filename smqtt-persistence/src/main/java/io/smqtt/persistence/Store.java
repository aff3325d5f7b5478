// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.log.Outage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The state of the committing thread. Handles disk failures: a batch that could not be written is reported as failed and cut out of the
 * log. Everything after it fails until the database was reopened and written to. Then the removals that clients have acknowledged
 * meanwhile are repeated. With replicas it is the same without a majority: the batch whose outcome is unknown is reported as failed, and
 * when this member leads again its rows are restored as they were before it.
 */
final class Store {

    private static final long CUT = -1;
    private static final Logger LOG = LoggerFactory.getLogger(Store.class);
    private static final long CLOCK_WITH_COMMIT_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CLOCK_IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MEASURE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long REPAIR_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Database database;
    private final StoreClock clock;
    private final SessionNumbers numbers;
    private final Encoding encoding;
    private final DiskQuota quota;
    private final Tails tails;
    private final Heads heads;
    private final Sweeper sweeper = new Sweeper();
    private final PendingRemovals pendingRemovals = new PendingRemovals();
    private final Figures figures = new Figures();
    private final Outage outage = new Outage(
            LOG,
            Level.ERROR,
            "the store cannot be written to, and takes nothing until it can",
            "the store can be written to again");
    private Runnable everySecond = () -> {};
    private LongSupplier queuedBytes = () -> 0;
    private volatile @Nullable Throwable broken;
    private long uncutAfter = CUT;
    private long clockWrittenNanos = System.nanoTime();
    private long measuredNanos = System.nanoTime();
    private long repairNanos;

    Store(Database database, StoreClock clock, SessionNumbers numbers, long nextBody, DiskQuota quota, Heads heads) {
        this.database = database;
        this.clock = clock;
        this.numbers = numbers;
        this.encoding = new Encoding(clock, nextBody);
        this.quota = quota;
        this.tails = new Tails(database);
        this.heads = heads;
    }

    boolean isHealthy() {
        return broken == null && !quota.isExceeded() && database.isWritable();
    }

    Figures figures() {
        return figures;
    }

    /** Sets the supplier of the bytes of waiting operations. */
    void queue(LongSupplier bytes) {
        queuedBytes = bytes;
    }

    /** Sets a task that runs every second on the committing thread. */
    void everySecond(Runnable task) {
        everySecond = task;
    }

    /** Resumes the removals that an earlier run did not finish. Called after recovery, before the first commit. */
    void loadRemovals() throws RocksDBException {
        sweeper.load(database);
    }

    /** Commits flushes as one batch, and notifies their writers. */
    void commit(List<Operations> flushes, int operations, long bytes) {
        Throwable cause = broken;
        long nanos = 0;
        if (cause == null) {
            long beganNanos = System.nanoTime();
            try {
                cause = write(flushes);
            } catch (RuntimeException | Error e) { // a row cannot be encoded or decoded; the disk is not the cause
                forgetCached();
                pendingRemovals.clear(); // it may be the cause, and must not make all later commits fail
                if (flushes.size() > 1) {
                    flushes.forEach(flush -> commit(List.of(flush), flush.size(), flush.bytes()));
                    return;
                }
                LOG.error("a flush cannot be stored", e);
                cause = e;
            }
            nanos = System.nanoTime() - beganNanos;
        } else {
            flushes.forEach(pendingRemovals::add);
        }
        for (Operations flush : flushes) {
            Throwable why = cause == null && quota.refuses(flush) ? quota.refusal() : cause;
            flush.listener().completed(flush.position(), why);
        }
        figures.committed(operations, bytes, nanos, cause == null);
    }

    private @Nullable Throwable write(List<Operations> flushes) {
        Batch batch = new Batch(encoding, database, tails, heads);
        try {
            pendingRemovals.applyTo(batch);
            boolean sync = apply(flushes, batch);
            write(batch, sync);
            pendingRemovals.clear();
            batch.removedSessions().forEach(sweeper::add);
            return null;
        } catch (RocksDBException e) {
            flushes.forEach(pendingRemovals::add);
            fail(e);
            return e;
        }
    }

    /** Clears the caches, which may be ahead of the stored state. */
    private void forgetCached() {
        tails.forgetAll();
        heads.clear();
    }

    private boolean apply(List<Operations> flushes, Batch batch) {
        boolean sync = false;
        for (Operations flush : flushes) {
            if (quota.refuses(flush)) {
                batch.applyRemovals(flush);
            } else {
                batch.apply(flush);
                sync |= flush.isSync();
            }
        }
        return sync;
    }

    private void write(Batch batch, boolean sync) throws RocksDBException {
        batch.finish();
        long end = numbers.needsBlock() ? numbers.nextEnd() : 0;
        if (end != 0) {
            batch.add(new Change(Family.META, MetaRows.key(SessionNumbers.NAME), encoding.number(end)));
        }
        if (batch.isEmpty()) {
            return;
        }
        long now = System.nanoTime();
        boolean clockDue = now - clockWrittenNanos >= CLOCK_WITH_COMMIT_NANOS;
        if (clockDue) {
            batch.add(clockRow());
        }
        database.write(batch, sync);
        batch.committed();
        if (end != 0) {
            numbers.stored(end);
        }
        if (clockDue) {
            clockWrittenNanos = now;
        }
    }

    private Change clockRow() {
        return new Change(
                Family.META, MetaRows.key(MetaRows.CLOCK), clock.read().encode());
    }

    private void fail(RocksDBException failure) {
        outage.failed(String.valueOf(failure.getMessage()));
        forgetCached();
        broken = failure;
        repairNanos = System.nanoTime();
        if (database.isReplicated()) {
            return; // the outcome is unknown: this member does not lead any more, or is being closed
        }
        try {
            uncutAfter = database.latestSequence();
            cut();
        } catch (RocksDBException | IOException | RuntimeException e) {
            LOG.warn("failed operations may reappear after a crash: {}", e.getMessage());
        }
    }

    /** Cuts the log before the database reads it again; otherwise operations that were reported as failed would be committed. */
    private void cut() throws IOException {
        if (uncutAfter != CUT) {
            WriteAheadLog.cutAfter(database.directory(), uncutAfter);
            uncutAfter = CUT;
        }
    }

    /**
     * Runs the due tasks: clock, size, repair.
     *
     * @return nanoseconds until the next call, if nothing happens before
     */
    long tick() {
        long now = System.nanoTime();
        if (broken != null) {
            if (now - repairNanos >= REPAIR_NANOS) {
                repairNanos = now;
                if (database.isWritable()) {
                    repair();
                }
                figures.tellMeasured(isHealthy(), queuedBytes.getAsLong());
                look();
            }
            return REPAIR_NANOS;
        }
        if (now - measuredNanos >= MEASURE_NANOS || quota.isDue()) {
            measuredNanos = now;
            measure();
        }
        if (now - clockWrittenNanos >= CLOCK_IDLE_NANOS) {
            clockWrittenNanos = now;
            writeAlone(clockRow());
        }
        return MEASURE_NANOS;
    }

    private void measure() {
        try {
            quota.measure();
            figures.measured(quota.usedBytes(), database.submittedBytes(), database.writtenBytes());
            figures.tellMeasured(isHealthy(), queuedBytes.getAsLong());
            everySecond.run();
        } catch (RuntimeException e) { // the directory cannot be read; the next write reports it
            LOG.warn("the size of the store cannot be measured: {}", e.getMessage());
        }
    }

    /** While nothing can be written, too: it may be possible to read. */
    private void look() {
        try {
            everySecond.run();
        } catch (RuntimeException e) {
            LOG.warn("the directory of the store cannot be read: {}", e.getMessage());
        }
    }

    private void writeAlone(Change change) {
        try {
            database.write(Change.all(List.of(change)), false);
        } catch (RocksDBException e) {
            fail(e);
        }
    }

    private void repair() {
        Path directory = database.directory();
        try {
            if (database.isReplicated()) {
                database.restoreFormer();
            } else {
                DiskProbe.write(directory);
                cut();
                database.open(false);
            }
            Batch batch = new Batch(encoding, database, tails, heads);
            pendingRemovals.applyTo(batch);
            batch.finish();
            batch.add(clockRow());
            database.write(batch, true);
            batch.committed();
            pendingRemovals.clear();
            broken = null;
            outage.recovered();
        } catch (RocksDBException | IOException e) {
            forgetCached();
            outage.failed(String.valueOf(e.getMessage()));
        } catch (RuntimeException e) { // a row that cannot be read; the next attempt skips it
            forgetCached();
            pendingRemovals.clear();
            LOG.warn("the store cannot be written to yet", e);
        }
    }

    /**
     * Removes some rows of removed sessions.
     *
     * @return whether there may be more to do
     */
    boolean sweep() {
        if (!sweeper.hasWork() || broken != null) {
            return false;
        }
        Batch batch = new Batch(encoding, database, tails, heads);
        try {
            boolean last = sweeper.step(database, batch);
            batch.finish();
            database.write(batch, false);
            batch.committed();
            if (last) {
                sweeper.done();
            }
            return true;
        } catch (RocksDBException e) {
            sweeper.startAgain();
            fail(e);
            return false;
        } catch (RuntimeException e) {
            LOG.error("rows of a removed session cannot be read, and are not removed: {}", e.getMessage());
            sweeper.done();
            return true;
        }
    }

    /** The first write of a run: clock and numbers, before either is used. */
    void commitAlone() throws RocksDBException {
        Batch batch = new Batch(encoding, database, tails, heads);
        batch.add(clockRow());
        write(batch, true);
    }

    /** The last write before the files are closed. */
    void finish() {
        if (broken == null) {
            try {
                database.write(Change.all(List.of(clockRow())), true);
            } catch (RocksDBException e) {
                LOG.error("the last write to the store failed: {}", e.getMessage());
            }
        } else {
            try {
                cut();
            } catch (IOException | RuntimeException e) {
                LOG.warn("failed operations may reappear at the next start: {}", e.getMessage());
            }
        }
    }
}
