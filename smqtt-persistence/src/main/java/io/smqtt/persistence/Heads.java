// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Beginnings of rows in queues. A message that is removed has mostly been written or read shortly before, so this spares
 * looking it up. One array of a fixed size: what falls on the same place takes it over. Used by the committing thread and
 * by the reading one.
 *
 * <p>What is found here is taken for stored. A message that was removed must not be found again, or its second removal
 * would count twice; so removals are noted once they are committed, and a reader does not put what it has read before the
 * last removal on that place.
 */
final class Heads {

    private static final int SIZE = 1 << 16;
    private static final int READ_AHEAD = 64;
    private static final long NOTHING = 0; // sequence numbers begin with 1
    private static final QueueRow.Head DAMAGED = new QueueRow.Head(0, QueueRow.INLINE, true);
    private static final Logger LOG = LoggerFactory.getLogger(Heads.class);

    private final Database database;
    private final long[] sessions = new long[SIZE];
    private final long[] sequences = new long[SIZE];
    private final int[] footprints = new int[SIZE];
    private final long[] bodies = new long[SIZE];
    private final boolean[] deliveries = new boolean[SIZE];
    private final long[] removedAt = new long[SIZE];
    private long removals;

    Heads(Database database) {
        this.database = database;
    }

    /** What is needed to remove a stored message, or null if there is none. A row that is damaged counts for nothing. */
    QueueRow.@Nullable Head of(long session, long sequence) throws RocksDBException {
        QueueRow.Head head = find(session, sequence);
        if (head == null) {
            try {
                load(session, sequence);
            } catch (DamagedRowException e) {
                LOG.warn("a message of session {} cannot be read: {}", session, e.getMessage());
                return DAMAGED;
            }
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

    /** How many removals there were; for a reader, before it looks at the database. */
    synchronized long removals() {
        return removals;
    }

    /**
     * What a reader has found.
     *
     * @param seen {@link #removals} before
     */
    synchronized void putRead(long session, long sequence, QueueRow.Head head, long seen) {
        if (removedAt[place(session, sequence)] <= seen) {
            put(session, sequence, head);
        }
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

    /** The removal of a message is committed. */
    synchronized void removed(long session, long sequence) {
        int place = place(session, sequence);
        removedAt[place] = ++removals;
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
