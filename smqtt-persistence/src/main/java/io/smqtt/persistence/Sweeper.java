// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Removes the rows of removed sessions in small steps, so that commits do not wait. The pending work is stored, and continues after a
 * restart. Each step begins at the end of the previous one, because iterating over removed rows takes longer with each of them.
 */
@OnCommittingThread
final class Sweeper {

    private static final int ROWS_AT_ONCE = 256;
    private static final Family[] FAMILIES = {
        Family.SUBSCRIPTION, Family.RECEIVED, Family.QUEUE, Family.DELIVERY // only for rows of the queue
    };

    private final Queue<Long> removed = new ArrayDeque<>();

    // the progress of the first session
    private int family;
    private byte @Nullable [] from;

    /** Loads the stored work at the start. */
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
     * @return whether no rows are left, so that {@link #done} must be called after the commit of the batch
     */
    boolean step(Database database, Batch batch) throws RocksDBException {
        long session = removed.element();
        return database.read(view -> {
            int room = ROWS_AT_ONCE;
            while (room > 0 && family < FAMILIES.length) {
                room = step(view, session, room, batch);
            }
            if (room > 0) {
                batch.add(Change.remove(Family.TAIL, Keys.number(session)));
                batch.add(Change.remove(Family.REMOVED, Keys.number(session)));
            }
            return room > 0;
        });
    }

    /** Removes rows of the current family, and continues with the next one if none is left. */
    private int step(View view, long session, int room, Batch batch) throws RocksDBException {
        Family present = FAMILIES[family];
        byte[] begin = from == null ? Keys.number(session) : from;
        Scan rows = view.range(present, begin, Keys.number(session + 1));
        int left = room;
        for (; left > 0 && rows.isValid(); rows.next()) {
            if (present == Family.QUEUE) {
                batch.sweep(rows.key(), rows.value());
            } else {
                batch.add(Change.remove(present, rows.key()));
            }
            left--;
        }
        from = rows.isValid() ? rows.key() : null;
        family += rows.isValid() ? 0 : 1;
        return left;
    }

    /** Resets the progress, because the last step was not committed. */
    void startAgain() {
        family = 0;
        from = null;
    }

    void done() {
        removed.remove();
        startAgain();
    }
}
