// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.rocksdb.RocksDBException;

/** A row cannot be decoded, although the checksums of the database are correct; or the row cannot be read. */
final class DamagedRowException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DamagedRowException(String message) {
        super(message);
    }

    /** Converts the failure of a read: if the file is damaged, this row cannot be read. */
    static RocksDBException orFailure(RocksDBException failure) {
        if (Damage.isDamage(failure)) {
            throw new DamagedRowException(failure);
        }
        return failure;
    }

    private DamagedRowException(RocksDBException failure) {
        super(failure.getMessage(), failure);
    }
}
