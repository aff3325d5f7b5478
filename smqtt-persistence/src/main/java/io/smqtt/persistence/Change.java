// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One row that is written.
 *
 * @param family where
 * @param key the key
 * @param value the row, or null to remove it
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not kept
record Change(Family family, byte[] key, byte @Nullable [] value) {

    /** The removal of a missing row is no error. */
    static Change remove(Family family, byte[] key) {
        return new Change(family, key, null);
    }

    void writeTo(RowBatch batch, Handles open) {
        if (value == null) {
            batch.delete(open.idOf(family), key);
        } else {
            batch.put(open.idOf(family), key, value);
        }
    }

    static Database.Rows all(List<Change> changes) {
        return () -> changes;
    }
}
