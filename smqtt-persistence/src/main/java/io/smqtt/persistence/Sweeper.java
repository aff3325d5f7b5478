// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.ArrayDeque;
import java.util.Queue;
import org.rocksdb.RocksDBException;

/**
 * Removes the rows of sessions that are no more, some at a time, so that commits do not wait for it. What is to do is
 * stored, and goes on after a restart. On the committing thread.
 */
final class Sweeper {

    private static final int ROWS_AT_ONCE = 256;
    private static final Family[] PLAIN = {Family.DELIVERY, Family.SUBSCRIPTION, Family.RECEIVED};

    private final Queue<Long> removed = new ArrayDeque<>();

    /** Takes up what is stored; for the start. */
    void load(Database database) throws RocksDBException {
        database.read(view -> {
            for (Scan rows = view.all(Family.REMOVED); rows.isValid(); rows.next()) {
                removed.add(Keys.first(rows.key()));
            }
            return true;
        });
    }

    void add(long session) {
        removed.add(session);
    }

    boolean hasWork() {
        return !removed.isEmpty();
    }

    /**
     * Removes some rows of one session.
     *
     * @param batch takes the removals
     * @return whether that was the last of them, so that {@link #done} is to be called once the batch is committed
     */
    boolean step(Database database, Batch batch) throws RocksDBException {
        long session = removed.element();
        return database.read(view -> {
            int room = ROWS_AT_ONCE;
            for (Family family : PLAIN) {
                Scan rows = view.session(family, session);
                for (; room > 0 && rows.isValid(); rows.next()) {
                    batch.add(Change.remove(family, rows.key()));
                    room--;
                }
            }
            Scan queue = view.session(Family.QUEUE, session);
            for (; room > 0 && queue.isValid(); queue.next()) {
                batch.sweep(queue.key(), queue.value());
                room--;
            }
            if (room > 0) {
                batch.add(Change.remove(Family.TAIL, Keys.number(session)));
                batch.add(Change.remove(Family.REMOVED, Keys.number(session)));
            }
            return room > 0;
        });
    }

    void done() {
        removed.remove();
    }
}
