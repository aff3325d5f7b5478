// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Checkpoint;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The open database. It can be closed and reopened while it has users, which is how it recovers from a write error: users hold the shared
 * lock, opening and closing need the exclusive one. Never used on event loops.
 */
final class Database implements AutoCloseable {

    private static final long WAIT_NANOS = 1_000_000;

    private final Path directory;
    private final StoreSettings settings;
    private final boolean replicated;
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final AtomicLong submittedBytes = new AtomicLong();
    private volatile long syncedSequence;
    private volatile @Nullable CommitPath path;
    private List<Change> former = List.of(); // used by the committing thread
    private @Nullable Handles handles;
    private long writtenBeforeBytes; // by closed handles
    private @Nullable CompactRangeOptions compacting; // guarded by this
    private boolean closing; // guarded by this

    Database(Path directory, StoreSettings settings) {
        this(directory, settings, false);
    }

    /**
     * Creates a database that is not open.
     *
     * @param replicated whether its rows come from a log outside of it, by {@link #apply}. Then what was not flushed is lost when it is
     *     closed, and it must not be reopened meanwhile
     */
    Database(Path directory, StoreSettings settings, boolean replicated) {
        this.directory = directory;
        this.settings = settings;
        this.replicated = replicated;
    }

    boolean isReplicated() {
        return replicated;
    }

    /** Sets the way of the batches that are written from now on, or null if nothing may be written. */
    void commitBy(@Nullable CommitPath other) {
        path = other;
        former = List.of(); // a store that did not open has written its clock and numbers only
        allowCompacting(other != null);
    }

    Path directory() {
        return directory;
    }

    /**
     * Opens the database, or reopens it.
     *
     * @param create whether a new one may be created
     */
    void open(boolean create) throws RocksDBException {
        lock.writeLock().lock();
        try {
            closeHandles();
            handles = new Handles(directory, settings, create, !replicated);
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Closes the database when it has no users, however long that takes. */
    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            closeHandles();
        } finally {
            lock.writeLock().unlock();
        }
    }

    /**
     * Closes the database if its users finish in time. No compaction starts after this.
     *
     * @param patience maximum time to wait for a copy or a read in progress
     * @return false if it is still in progress; then the database stays open
     */
    boolean close(Duration patience) {
        stopCompacting();
        try {
            if (!lock.writeLock().tryLock(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                return false;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        try {
            closeHandles();
            return true;
        } finally {
            lock.writeLock().unlock();
        }
    }

    /** Ends a compaction under way; no other starts. */
    void stopCompacting() {
        allowCompacting(false);
    }

    private synchronized void allowCompacting(boolean allowed) {
        closing = !allowed;
        if (closing && compacting != null) {
            compacting.setCanceled(true);
        }
    }

    /** Returns false if no compaction may start. */
    private synchronized boolean startCompacting(CompactRangeOptions options) {
        if (!closing) {
            compacting = options;
        }
        return !closing;
    }

    private synchronized void endCompacting() {
        compacting = null;
    }

    private void closeHandles() {
        Handles last = handles;
        handles = null;
        if (last != null) {
            writtenBeforeBytes += last.writtenBytes();
            last.close();
        }
    }

    void write(Rows rows, boolean sync) throws RocksDBException {
        if (replicated) {
            commit(rows);
            return;
        }
        use(open -> {
            RowBatch made = new RowBatch(syncedSequence);
            rows.writeTo(made, open);
            try (WriteBatch batch = new WriteBatch(made.toByteArray())) {
                write(open, sync ? open.synced : open.unsynced, batch);
                submittedBytes.addAndGet(batch.getDataSize());
            }
            if (sync) {
                syncedSequence = open.db.getLatestSequenceNumber();
            }
            return true;
        });
    }

    /**
     * The lock is not held meanwhile: another thread applies the batch. When its outcome is unknown, the rows are kept as they were before it.
     */
    private void commit(Rows rows) throws RocksDBException {
        CommitPath way = path;
        if (way == null) {
            throw new RocksDBException("the store is a replica, and takes nothing itself");
        }
        RowBatch batch = new RowBatch(0);
        View before = use(open -> {
            rows.writeTo(batch, open);
            return new View(open);
        });
        try {
            commit(way, batch.toByteArray(), rows, before);
        } finally {
            close(before);
        }
    }

    /** One of handles that were closed meanwhile has ended with them. */
    private void close(View view) {
        lock.readLock().lock();
        try {
            if (view.isOf(handles)) {
                view.close();
            }
        } finally {
            lock.readLock().unlock();
        }
    }

    private void commit(CommitPath way, byte[] batch, Rows rows, View before) throws RocksDBException {
        try {
            way.commit(batch);
        } catch (IOException e) {
            keep(rows, before);
            throw new RocksDBException(e.getMessage());
        }
    }

    private void keep(Rows rows, View before) throws RocksDBException {
        if (!former.isEmpty()) {
            return; // that of an earlier batch, which is restored first
        }
        former = use(open -> {
            List<Change> kept = new ArrayList<>();
            for (Change change : before.isOf(open) ? rows.changes() : List.<Change>of()) {
                kept.add(new Change(change.family(), change.key(), before.get(change.family(), change.key())));
            }
            return kept;
        });
    }

    /**
     * Restores the rows of the batch that has failed, because it may have been committed since. Does nothing if none has failed. Called on the
     * committing thread.
     */
    void restoreFormer() throws RocksDBException {
        List<Change> kept = former;
        if (!kept.isEmpty()) {
            commit(Change.all(kept));
            former = List.of();
        }
    }

    /** Whether batches are taken now; always true without replicas. */
    boolean isWritable() {
        CommitPath way = path;
        return !replicated || way != null && way.isOpen();
    }

    /**
     * Applies a batch that is committed.
     *
     * @param batch as it was given to the {@link CommitPath}, on this member or another one
     * @param mark a row that is written with it
     */
    void apply(byte[] batch, Change mark) throws RocksDBException {
        use(open -> {
            try (WriteBatch rows = new WriteBatch(batch)) {
                rows.put(open.of(mark.family()), mark.key(), Objects.requireNonNull(mark.value()));
                write(open, open.unlogged, rows);
                submittedBytes.addAndGet(rows.getDataSize());
            }
            return true;
        });
    }

    /** Flushes what was applied. */
    void flush() throws RocksDBException {
        use(open -> {
            open.flush();
            return true;
        });
    }

    /** Whether batches of other members name the column families as this database does. */
    boolean hasUsualNumbers() throws RocksDBException {
        return use(open -> Arrays.stream(Family.values()).allMatch(family -> open.idOf(family) == family.ordinal()));
    }

    /**
     * Writes as soon as the library accepts it. The library makes writers wait while table files are behind, and would never wake them if
     * the files cannot be written because the disk is full or broken.
     */
    private static void write(Handles open, WriteOptions options, WriteBatch batch) throws RocksDBException {
        long errors = Long.MAX_VALUE;
        while (true) {
            try {
                open.db.write(options, batch);
                return;
            } catch (RocksDBException e) {
                if (!wantsToWait(e)) {
                    throw e;
                }
                long now = open.db.getLongProperty("rocksdb.background-errors");
                if (now > errors) {
                    throw new RocksDBException("table files cannot be written: " + e.getMessage());
                }
                errors = now;
            }
            LockSupport.parkNanos(WAIT_NANOS);
        }
    }

    private static boolean wantsToWait(RocksDBException e) {
        Status status = e.getStatus();
        return status != null && status.getCode() == Status.Code.Incomplete;
    }

    /**
     * Reads several rows from one snapshot.
     *
     * @throws MalformedBytesException if a file is damaged
     */
    <T> T read(Reading<T> reading) throws RocksDBException {
        return use(open -> {
            try (View view = new View(open)) {
                return reading.from(view);
            } catch (RocksDBException e) {
                throw Damage.rowOrFailure(e);
            }
        });
    }

    /**
     * Reads the current value of one row.
     *
     * @throws MalformedBytesException if a file is damaged
     */
    byte @Nullable [] get(Family family, byte[] key) throws RocksDBException {
        return this.<byte @Nullable []>use(open -> {
            try {
                return open.db.get(open.of(family), key);
            } catch (RocksDBException e) {
                throw Damage.rowOrFailure(e);
            }
        });
    }

    long latestSequence() throws RocksDBException {
        return use(open -> open.db.getLatestSequenceNumber());
    }

    /** Bytes of rows that were written since this object was created. */
    long submittedBytes() {
        return submittedBytes.get();
    }

    /** Bytes that were written to logs and table files for these rows. */
    long writtenBytes() {
        lock.readLock().lock();
        try {
            return writtenBeforeBytes + (handles == null ? 0 : handles.writtenBytes());
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Reads all table files and verifies their checksums. */
    void verify() throws RocksDBException {
        use(open -> {
            open.db.verifyChecksum();
            return true;
        });
    }

    /** Copies the database as it is now to a directory that does not exist; files are linked where that is possible. */
    void checkpoint(Path target) throws RocksDBException {
        use(open -> {
            try (Checkpoint checkpoint = Checkpoint.create(open.db)) {
                checkpoint.createCheckpoint(target.toString());
            }
            return true;
        });
    }

    /** Compacts the database to free the space of removed rows. Slow. */
    void compact() throws RocksDBException {
        use(open -> {
            try (FlushOptions flush = new FlushOptions().setWaitForFlush(true);
                    CompactRangeOptions options = new CompactRangeOptions()) {
                if (startCompacting(options)) {
                    compact(open, flush, options);
                }
            }
            return true;
        });
    }

    private void compact(Handles open, FlushOptions flush, CompactRangeOptions options) throws RocksDBException {
        try {
            for (Family family : Family.values()) {
                open.db.flush(flush, open.of(family));
                open.db.compactRange(open.of(family), null, null, options);
            }
        } finally {
            endCompacting(); // before the options are closed
        }
    }

    private <T> T use(Use<T> use) throws RocksDBException {
        lock.readLock().lock();
        try {
            Handles open = handles;
            if (open == null) {
                throw new RocksDBException("the database is closed");
            }
            return use.with(open);
        } finally {
            lock.readLock().unlock();
        }
    }

    private interface Use<T> {
        T with(Handles open) throws RocksDBException;
    }

    /** Reads from a view. */
    interface Reading<T> {

        /**
         * Reads.
         *
         * @param view valid until the method returns
         */
        T from(View view) throws RocksDBException;
    }

    /** Rows that are written in one batch. */
    interface Rows {

        List<Change> changes();

        default void writeTo(RowBatch batch, Handles open) {
            for (Change change : changes()) {
                change.writeTo(batch, open);
            }
        }
    }
}
