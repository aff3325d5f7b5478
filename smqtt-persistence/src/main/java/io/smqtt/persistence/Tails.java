// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.LinkedHashMap;
import java.util.Map;
import org.rocksdb.RocksDBException;

/** A cache of the tails of sessions whose messages changed recently. */
@OnCommittingThread
final class Tails {

    private static final int KEPT = 16_384;

    private final Database database;
    private final Map<Long, Tail> kept = new LinkedHashMap<>(64, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Tail> eldest) {
            return size() > KEPT;
        }
    };

    Tails(Database database) {
        this.database = database;
    }

    Tail of(long session) throws RocksDBException {
        Tail tail = kept.get(session);
        if (tail == null) {
            byte[] row = database.get(Family.TAIL, Keys.number(session));
            tail = row == null ? new Tail() : Tail.decode(row);
            kept.put(session, tail);
        }
        return tail;
    }

    void forget(long session) {
        kept.remove(session);
    }

    /** Clears the cache after a failed commit, because it may be ahead of the stored state. */
    void forgetAll() {
        kept.clear();
    }
}
