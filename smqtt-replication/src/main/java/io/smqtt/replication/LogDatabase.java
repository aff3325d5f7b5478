// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Range;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.SizeApproximationFlag;
import org.rocksdb.Slice;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The database of a log: entries by their index, and one row for the rest. Native: its user makes sure that no call is made during or after
 * {@link #close}.
 */
final class LogDatabase implements AutoCloseable {

    private static final int MIB = 1 << 20;
    private static final byte[] STATE_KEY = {0};
    private static final byte[] FOUNDERS_KEY = {1};
    private static final byte[] KNOWN_KEY = {2};
    private static final byte[] ENTRIES = {'e'};

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final WriteOptions synced;
    private final WriteOptions unsynced;
    private final RocksDB db;
    private final ColumnFamilyHandle rows;
    private final ColumnFamilyHandle entries;

    private LogDatabase(Path directory, boolean create) throws RocksDBException {
        try {
            synced = own(new WriteOptions().setSync(true));
            unsynced = own(new WriteOptions());
            ColumnFamilyOptions options = own(new ColumnFamilyOptions())
                    .setTableFormatConfig(new BlockBasedTableConfig()
                            .setBlockCache(own(new LRUCache(4L * MIB)))
                            .setFormatVersion(5))
                    .setWriteBufferSize(16L * MIB)
                    .setCompressionType(CompressionType.LZ4_COMPRESSION);
            List<ColumnFamilyDescriptor> families = List.of(
                    new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, options),
                    new ColumnFamilyDescriptor(ENTRIES, options));
            List<ColumnFamilyHandle> handles = new ArrayList<>();
            db = own(RocksDB.open(options(create), directory.toString(), families, handles));
            rows = own(handles.get(0));
            entries = own(handles.get(1));
        } catch (RocksDBException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Opens a database.
     *
     * @param create whether it may be new
     */
    static LogDatabase open(Path directory, boolean create) throws RocksDBException {
        return new LogDatabase(directory, create);
    }

    /** A log whose last record is cut off is read up to that record; {@link SyncMark} shows whether that was all. */
    private DBOptions options(boolean create) {
        Properties strict = new Properties(); // not among the methods of this class
        strict.setProperty("track_and_verify_wals_in_manifest", "true");
        strict.setProperty("verify_sst_unique_id_in_manifest", "true");
        return own(DBOptions.getDBOptionsFromProps(strict))
                .setCreateIfMissing(create)
                .setCreateMissingColumnFamilies(create)
                .setParanoidChecks(true)
                .setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
                .setMaxTotalWalSize(64L * MIB)
                .setManifestPreallocationSize(64 << 10)
                .setMaxOpenFiles(128)
                .setMaxBackgroundJobs(2)
                .setStatsDumpPeriodSec(0)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setMaxLogFileSize(MIB)
                .setKeepLogFileNum(2);
    }

    private <T extends AutoCloseable> T own(T handle) {
        opened.add(handle);
        return handle;
    }

    /** Adds an entry to a batch. */
    void put(WriteBatch batch, long index, byte[] record) throws RocksDBException {
        batch.put(entries, key(index), record);
    }

    /** Adds the removal of entries to a batch; the range has its first index and not its last one. */
    void remove(WriteBatch batch, long from, long to) throws RocksDBException {
        batch.deleteRange(entries, key(from), key(to));
    }

    /** Writes a batch with the state after it. */
    void write(WriteBatch batch, LogState state, boolean sync) throws RocksDBException {
        batch.put(rows, STATE_KEY, state.encode());
        db.write(sync ? synced : unsynced, batch);
    }

    /** Adds the identities of the founders to a batch. */
    void founders(WriteBatch batch, Set<Long> identities) throws RocksDBException {
        ByteBuffer row = ByteBuffer.allocate(identities.size() * Long.BYTES);
        identities.forEach(row::putLong);
        batch.put(rows, FOUNDERS_KEY, row.array());
    }

    /** The identities of the founders; empty if the log is none of them. */
    Set<Long> founders() throws RocksDBException {
        Set<Long> identities = new HashSet<>();
        byte[] row = db.get(rows, FOUNDERS_KEY);
        if (row != null) {
            ByteBuffer in = ByteBuffer.wrap(row);
            while (in.remaining() >= Long.BYTES) {
                identities.add(in.getLong());
            }
        }
        return identities;
    }

    /** Adds the logs of all members to a batch. */
    void known(WriteBatch batch, KnownLogs logs) throws RocksDBException {
        ByteWriter row = new ByteWriter(64);
        logs.encode(row);
        batch.put(rows, KNOWN_KEY, row.toByteArray());
    }

    /** The logs of all members, as far as they are known. */
    KnownLogs known() throws RocksDBException {
        byte[] row = db.get(rows, KNOWN_KEY);
        return row == null ? KnownLogs.NONE : KnownLogs.decode(new ByteReader(row));
    }

    /** The encoded state, or null. */
    byte @Nullable [] state() throws RocksDBException {
        return db.get(rows, STATE_KEY);
    }

    /** The record of an entry, or null. */
    byte @Nullable [] record(long index) throws RocksDBException {
        return db.get(entries, key(index));
    }

    /** Visits all records in the order of their indexes. */
    void visit(RecordVisitor visitor) throws RocksDBException {
        try (RocksIterator rowsOfEntries = db.newIterator(entries)) {
            for (rowsOfEntries.seekToFirst(); rowsOfEntries.isValid(); rowsOfEntries.next()) {
                visitor.visit(ByteBuffer.wrap(rowsOfEntries.key()).getLong(), rowsOfEntries.value());
            }
            rowsOfEntries.status();
        }
    }

    /** The approximate bytes of entries; the range has its first index and not its last one. */
    long bytes(long from, long to) {
        try (Slice first = new Slice(key(from));
                Slice last = new Slice(key(to))) {
            return db.getApproximateSizes(
                            entries,
                            List.of(new Range(first, last)),
                            SizeApproximationFlag.INCLUDE_FILES,
                            SizeApproximationFlag.INCLUDE_MEMTABLES)[0];
        }
    }

    private static byte[] key(long index) {
        return ByteBuffer.allocate(Long.BYTES).putLong(index).array();
    }

    @Override
    public void close() {
        for (int i = opened.size() - 1; i >= 0; i--) {
            try {
                opened.get(i).close();
            } catch (Exception e) { // declared by AutoCloseable
                throw new IllegalStateException("a native handle cannot be closed", e);
            }
        }
        opened.clear();
    }

    /** Receives records. */
    interface RecordVisitor {

        /** Receives the record under an index. */
        void visit(long index, byte[] record);
    }
}
