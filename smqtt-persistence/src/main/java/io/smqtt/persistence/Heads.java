// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Beginnings of rows in queues. A message that is removed has mostly been written or read shortly before, so this spares
 * looking it up. One array of a fixed size: what falls on the same place takes it over. Used by the committing thread and
 * by the reading one.
 */
final class Heads {

    private static final int SIZE = 1 << 16;
    private static final int READ_AHEAD = 64;
    private static final long NOTHING = 0; // sequence numbers begin with 1

    private final Database database;
    private final long[] sessions = new long[SIZE];
    private final long[] sequences = new long[SIZE];
    private final int[] footprints = new int[SIZE];
    private final long[] bodies = new long[SIZE];
    private final boolean[] deliveries = new boolean[SIZE];

    Heads(Database database) {
        this.database = database;
    }

    /** What is needed to remove a stored message, or null if there is none. */
    QueueRow.@Nullable Head of(long session, long sequence) throws RocksDBException {
        QueueRow.Head head = find(session, sequence);
        if (head == null) {
            load(session, sequence);
            head = find(session, sequence);
        }
        return head;
    }

    private synchronized QueueRow.@Nullable Head find(long session, long sequence) {
        int place = place(session, sequence);
        return sessions[place] == session && sequences[place] == sequence
                ? new QueueRow.Head(footprints[place], bodies[place], deliveries[place])
                : null;
    }

    /** The next ones as well: queues are removed in order. */
    private void load(long session, long sequence) throws RocksDBException {
        database.read(view -> {
            byte[] from = Keys.message(session, sequence);
            Scan rows = view.range(Family.QUEUE, from, Keys.message(session, sequence + READ_AHEAD));
            for (; rows.isValid(); rows.next()) {
                put(session, Keys.sequence(rows.key()), QueueRow.readHead(rows.value()));
            }
            return true;
        });
    }

    /** A row that was read. What is known of a row since it was written stays. */
    synchronized void put(long session, long sequence, QueueRow.Head head) {
        int place = place(session, sequence);
        if (sessions[place] != session || sequences[place] != sequence) {
            written(session, sequence, head);
        }
    }

    /** How far the delivery of a message is has a row of its own from now on. */
    synchronized void deliveryWritten(long session, long sequence) {
        int place = place(session, sequence);
        if (sessions[place] == session && sequences[place] == sequence) {
            deliveries[place] = true;
        }
    }

    /** A row that is written. */
    synchronized void written(long session, long sequence, QueueRow.Head head) {
        int place = place(session, sequence);
        sessions[place] = session;
        sequences[place] = sequence;
        footprints[place] = head.footprintBytes();
        bodies[place] = head.body();
        deliveries[place] = head.mayHaveDelivery();
    }

    synchronized void remove(long session, long sequence) {
        int place = place(session, sequence);
        if (sessions[place] == session && sequences[place] == sequence) {
            sequences[place] = NOTHING;
        }
    }

    /** After a commit that failed: what it was to write is not there. */
    synchronized void clear() {
        java.util.Arrays.fill(sequences, NOTHING);
    }

    private static int place(long session, long sequence) {
        long mixed = (session * 0x9E37_79B9_7F4A_7C15L ^ sequence) * 0xC2B2_AE3D_27D4_EB4FL;
        return (int) (mixed >>> 48) & SIZE - 1;
    }
}
