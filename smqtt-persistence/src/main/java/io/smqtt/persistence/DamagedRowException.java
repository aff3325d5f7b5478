// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.rocksdb.RocksDBException;

/** A row cannot be understood, although the database vouches for its bytes; or it cannot be read, and that is said here. */
final class DamagedRowException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    DamagedRowException(String message) {
        super(message);
    }

    /** What was thrown by a reading operation: if the file is damaged it is this row that cannot be had. */
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
