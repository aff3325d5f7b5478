// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Iterates over rows in the order of their keys. Initially positioned on the first row. */
final class Scan {

    private final RocksIterator rows;

    Scan(RocksIterator rows, byte[] from) throws RocksDBException {
        this.rows = rows;
        if (from.length == 0) {
            rows.seekToFirst();
        } else {
            rows.seek(from);
        }
        rows.status();
    }

    /** Whether the position is valid. */
    boolean isValid() {
        return rows.isValid();
    }

    byte[] key() {
        return rows.key();
    }

    byte[] value() {
        return rows.value();
    }

    /** Moves to the next row; a row that cannot be read is an exception and not the end. */
    void next() throws RocksDBException {
        rows.next();
        if (!rows.isValid()) {
            rows.status();
        }
    }
}
