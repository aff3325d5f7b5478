// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/** The rows about the store itself, as they are found at the start. */
final class MetaRows {

    /** The row of the clock. */
    static final String CLOCK = "clock";

    /** The row of the last entry that was applied. */
    static final String APPLIED = "applied";

    /** The row of the node that has begun the current reign. */
    static final String SERVER = "server";

    /** The row of the store with one replica whose rows are here. */
    static final String TAKEN_OVER = "taken-over";

    private static final String NOTES = "note/";
    private static final String AFTER_NOTES = "note0";

    private MetaRows() {}

    static byte[] key(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    /** Whether a row is about a replica, and not of the store that it has. */
    static boolean isOfAReplica(byte[] key) {
        return Arrays.equals(key, key(APPLIED))
                || Arrays.equals(key, key(SERVER))
                || Arrays.equals(key, key(TAKEN_OVER));
    }

    static byte[] noteKey(String name) {
        return key(NOTES + name);
    }

    /** Shows all notes. */
    static void visitNotes(View view, RecoveryVisitor visitor) throws RocksDBException {
        for (Scan rows = view.range(Family.META, key(NOTES), key(AFTER_NOTES)); rows.isValid(); rows.next()) {
            String key = new String(rows.key(), StandardCharsets.UTF_8);
            visitor.note(key.substring(NOTES.length()), rows.value());
        }
    }

    static StoreClock.@Nullable Reading clock(Database database) throws RocksDBException {
        byte[] row = database.get(Family.META, key(CLOCK));
        return row == null ? null : StoreClock.Reading.decode(row);
    }

    /** The first session number of this run. */
    static long sessionNumber(Database database) throws RocksDBException {
        byte[] row = database.get(Family.META, key(SessionNumbers.NAME));
        return row == null ? 1 : new ByteReader(row).number();
    }

    /** A number above all numbers of bodies. */
    static long nextBody(Database database) throws RocksDBException {
        return database.read(view -> view.lastNumber(Family.BODY)) + 1;
    }
}
