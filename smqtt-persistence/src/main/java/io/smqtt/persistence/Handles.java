// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteOptions;

/**
 * The native handles of an open database; closed in the reverse order. Using one after that would crash the JVM, so {@link Database}
 * passes them out for the time of one call only.
 *
 * <p>Recovery mode: a log whose last record is cut off, as after a crash, is read up to that record. Any other damage of a log stops the
 * start. (The library's default silently stops at the first damaged record, and would lose all later ones.) {@link WriteAheadLog} finds
 * damage that this mode would mistake for a cut end.
 */
final class Handles implements AutoCloseable {

    private static final long MIB = 1L << 20;
    private static final long MAX_LOG_BYTES = 64 * MIB;
    private static final int FILES_BEFORE_COMPACTION = 8; // most queues are removed before their files are compacted

    private final NativeHandles opened = new NativeHandles();
    private final ColumnFamilyHandle[] families = new ColumnFamilyHandle[Family.values().length];
    private final int[] ids = new int[families.length];
    final WriteOptions synced;
    final WriteOptions unsynced;
    final WriteOptions unlogged;
    final RocksDB db;

    Handles(Path directory, StoreSettings settings, boolean create) throws RocksDBException {
        this(directory, settings, create, true);
    }

    /**
     * Opens the database.
     *
     * @param create whether it may be new
     * @param logged whether its own log has its writes. Otherwise the column families are flushed together, so that a crash leaves the rows of
     *     whole batches
     */
    Handles(Path directory, StoreSettings settings, boolean create, boolean logged) throws RocksDBException {
        try {
            unlogged = own(new WriteOptions().setDisableWAL(true).setNoSlowdown(true));
            synced = own(new WriteOptions().setSync(true).setNoSlowdown(true));
            unsynced = own(new WriteOptions().setNoSlowdown(true));
            BlockBasedTableConfig tables = tables(settings);
            ColumnFamilyOptions options = familyOptions(own(new ColumnFamilyOptions()), tables, settings);
            ColumnFamilyOptions queues = familyOptions(own(besideTheLast()), tables, settings);
            List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
            for (Family family : Family.values()) {
                boolean grows = family == Family.QUEUE || family == Family.TAIL;
                descriptors.add(new ColumnFamilyDescriptor(family.nameBytes(), grows ? queues : options));
            }
            List<ColumnFamilyHandle> handles = new ArrayList<>();
            DBOptions database = databaseOptions(settings, create).setAtomicFlush(!logged);
            db = own(RocksDB.open(database, directory.toString(), descriptors, handles));
            for (Family family : Family.values()) {
                families[family.ordinal()] = own(handles.get(family.ordinal()));
                ids[family.ordinal()] = families[family.ordinal()].getID();
            }
        } catch (RocksDBException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Flushes all column families as one. */
    void flush() throws RocksDBException {
        try (FlushOptions wait = new FlushOptions().setWaitForFlush(true)) {
            db.flush(wait, List.of(families));
        }
    }

    ColumnFamilyHandle of(Family family) {
        return families[family.ordinal()];
    }

    /** Bytes written to logs and table files since the database was opened; 0 if unknown. */
    long writtenBytes() {
        try {
            double tableGib = 0;
            for (ColumnFamilyHandle family : families) {
                tableGib += number(db.getMapProperty(family, "rocksdb.cfstats").get("compaction.Sum.WriteGB"));
            }
            double logBytes = number(db.getMapProperty("rocksdb.dbstats").get("db.wal_bytes_written"));
            return Math.round(logBytes + tableGib * (1 << 30));
        } catch (RocksDBException | NumberFormatException e) {
            return 0;
        }
    }

    private static double number(@Nullable String text) {
        return text == null ? 0 : Double.parseDouble(text);
    }

    /** The identifier of a column family in a batch. */
    int idOf(Family family) {
        return ids[family.ordinal()];
    }

    private DBOptions databaseOptions(StoreSettings settings, boolean create) {
        Properties strict = new Properties(); // not among the methods of this class
        strict.setProperty("track_and_verify_wals_in_manifest", "true");
        strict.setProperty("verify_sst_unique_id_in_manifest", "true");
        long logBytes = settings.maxBytes() == 0 ? MAX_LOG_BYTES : Math.min(MAX_LOG_BYTES, settings.maxBytes() / 4);
        return own(DBOptions.getDBOptionsFromProps(strict))
                .setCreateIfMissing(create)
                .setCreateMissingColumnFamilies(create)
                .setParanoidChecks(true)
                .setWalRecoveryMode(WALRecoveryMode.TolerateCorruptedTailRecords)
                .setMaxTotalWalSize(Math.max(MIB, logBytes))
                .setDbWriteBufferSize(settings.writeBufferBytes())
                .setManifestPreallocationSize(64 << 10)
                .setMaxOpenFiles(512)
                .setMaxBackgroundJobs(2)
                .setListeners(List.of(own(new NoRecovery())))
                .setStatsDumpPeriodSec(0)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setMaxLogFileSize(MIB)
                .setKeepLogFileNum(2);
    }

    /** Inserts a row beside the previous one of its session, because the search for its place in memory costs more than all the rest. */
    private static ColumnFamilyOptions besideTheLast() {
        Properties hint = new Properties(); // not among the methods of this class
        hint.setProperty("memtable_insert_with_hint_prefix_extractor", "rocksdb.FixedPrefix." + Keys.NUMBER_BYTES);
        return ColumnFamilyOptions.getColumnFamilyOptionsFromProps(hint);
    }

    private BlockBasedTableConfig tables(StoreSettings settings) {
        Cache cache = own(new LRUCache(settings.cacheBytes()));
        return new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setBlockSize(16 << 10)
                .setCacheIndexAndFilterBlocks(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFilterPolicy(own(new BloomFilter(10)))
                .setFormatVersion(5);
    }

    private static ColumnFamilyOptions familyOptions(
            ColumnFamilyOptions options, BlockBasedTableConfig tables, StoreSettings settings) {
        return options.setTableFormatConfig(tables)
                .setWriteBufferSize(settings.writeBufferBytes())
                .setArenaBlockSize(Math.min(256 << 10, settings.writeBufferBytes() / 64))
                .setMaxWriteBufferNumber(4)
                .setCompressionType(CompressionType.LZ4_COMPRESSION)
                .setTargetFileSizeBase(32 * MIB)
                .setLevel0FileNumCompactionTrigger(FILES_BEFORE_COMPACTION)
                .setMaxBytesForLevelBase(128 * MIB)
                .setLevelCompactionDynamicLevelBytes(true);
    }

    private <T extends AutoCloseable> T own(T handle) {
        return opened.own(handle);
    }

    @Override
    public void close() {
        opened.close();
    }
}
