// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.Arrays;
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
    private static final int ENTRY = 4;
    private static final int SEQUENCE = 1;
    private static final int BODY = 2;
    private static final int FOOTPRINT = 3; // times two, plus one if there may be a delivery
    private static final int READ_AHEAD = 64;
    private static final long NOTHING = 0; // sequence numbers begin with 1
    private static final QueueRow.Head DAMAGED = new QueueRow.Head(0, QueueRow.INLINE, true);
    private static final Logger LOG = LoggerFactory.getLogger(Heads.class);

    private final Database database;

    /** Session, sequence, body, and footprint with the mark of a delivery: side by side, because memory is far away. */
    private final long[] entries = new long[SIZE * ENTRY];

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
        int at = entry(session, sequence);
        if (!holds(at, session, sequence)) {
            return null;
        }
        long footprint = entries[at + FOOTPRINT];
        return new QueueRow.Head((int) (footprint >> 1), entries[at + BODY], (footprint & 1) != 0);
    }

    private boolean holds(int at, long session, long sequence) {
        return entries[at] == session && entries[at + SEQUENCE] == sequence;
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
        if (!holds(entry(session, sequence), session, sequence)) {
            written(session, sequence, head);
        }
    }

    /** How far the delivery of a message is has a row of its own from now on. */
    synchronized void deliveryWritten(long session, long sequence) {
        int at = entry(session, sequence);
        if (holds(at, session, sequence)) {
            entries[at + FOOTPRINT] |= 1;
        }
    }

    /** A row that is written. */
    synchronized void written(long session, long sequence, QueueRow.Head head) {
        int at = entry(session, sequence);
        entries[at] = session;
        entries[at + SEQUENCE] = sequence;
        entries[at + BODY] = head.body();
        entries[at + FOOTPRINT] = (long) head.footprintBytes() << 1 | (head.mayHaveDelivery() ? 1 : 0);
    }

    /** The removal of a message is committed. */
    synchronized void removed(long session, long sequence) {
        removedAt[place(session, sequence)] = ++removals;
        int at = entry(session, sequence);
        if (holds(at, session, sequence)) {
            entries[at + SEQUENCE] = NOTHING;
        }
    }

    /** After a commit that failed: what it was to write is not there. */
    synchronized void clear() {
        Arrays.fill(entries, NOTHING);
    }

    private static int entry(long session, long sequence) {
        return place(session, sequence) * ENTRY;
    }

    private static int place(long session, long sequence) {
        long mixed = (session * 0x9E37_79B9_7F4A_7C15L ^ sequence) * 0xC2B2_AE3D_27D4_EB4FL;
        return (int) (mixed >>> 48) & SIZE - 1;
    }
}
