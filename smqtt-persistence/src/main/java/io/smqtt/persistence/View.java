// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;

/** A snapshot of the database. One thread. */
final class View implements AutoCloseable {

    private final Handles open;
    private final Snapshot snapshot;
    private final ReadOptions point;
    private final NativeHandles opened = new NativeHandles();

    View(Handles open) {
        this.open = open;
        this.snapshot = open.db.getSnapshot();
        this.point = new ReadOptions().setSnapshot(snapshot);
    }

    /** Whether this is a view of these handles. */
    boolean isOf(@Nullable Handles other) {
        return open == other;
    }

    byte @Nullable [] get(Family family, byte[] key) throws RocksDBException {
        return open.db.get(open.of(family), point, key);
    }

    /** All rows of a family, for one pass: they are not cached. */
    Scan all(Family family) throws RocksDBException {
        ReadOptions options =
                own(new ReadOptions().setSnapshot(snapshot)).setFillCache(false).setReadaheadSize(256 << 10);
        return new Scan(own(open.db.newIterator(open.of(family), options)), new byte[0]);
    }

    /** The rows of a family from one key, inclusive, to another one, exclusive. */
    Scan range(Family family, byte[] from, byte[] to) throws RocksDBException {
        Slice end = own(new Slice(to));
        ReadOptions options = own(new ReadOptions().setSnapshot(snapshot)).setIterateUpperBound(end);
        return new Scan(own(open.db.newIterator(open.of(family), options)), from);
    }

    /** The number at the beginning of the last key of a family, 0 if there is none. */
    long lastNumber(Family family) throws RocksDBException {
        RocksIterator rows = own(open.db.newIterator(open.of(family), point));
        rows.seekToLast();
        rows.status();
        return rows.isValid() ? Keys.first(rows.key()) : 0;
    }

    private <T extends AutoCloseable> T own(T handle) {
        return opened.own(handle);
    }

    @Override
    public void close() {
        opened.close();
        point.close();
        open.db.releaseSnapshot(snapshot);
        snapshot.close();
    }
}
