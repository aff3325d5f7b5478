// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A cache of the first fields of queue rows. A message that is removed was usually written or read shortly before, so this avoids a
 * lookup. One array of a fixed size; a new entry replaces the old one in its place. Used by the committing thread and the reading thread.
 *
 * <p>An entry means that the message is stored. A removed message must not be found again, or its second removal would count twice. So
 * removals are recorded after their commit, and a reader does not add rows that it has read before the last removal in that place.
 */
final class Heads {

    private static final int SIZE = 1 << 16;
    private static final int ENTRY = 4;
    private static final int SEQUENCE = 1;
    private static final int BODY = 2;
    private static final int FOOTPRINT = 3; // times two, plus one if there may be a delivery row
    private static final int READ_AHEAD = 64;
    private static final long NOTHING = 0; // sequence numbers start at 1
    private static final QueueRow.Head DAMAGED = new QueueRow.Head(0, QueueRow.INLINE, true);
    private static final Logger LOG = LoggerFactory.getLogger(Heads.class);

    private final Database database;

    /** Session, sequence, body, and footprint with the delivery flag: adjacent, for locality. */
    private final long[] entries = new long[SIZE * ENTRY];

    private final long[] removedAt = new long[SIZE];
    private long removals;

    Heads(Database database) {
        this.database = database;
    }

    /** Returns the fields that are needed to remove a stored message, or null if there is none. A damaged row counts as missing. */
    QueueRow.@Nullable Head of(long session, long sequence) throws RocksDBException {
        QueueRow.Head head = find(session, sequence);
        if (head == null) {
            try {
                load(session, sequence);
            } catch (MalformedBytesException e) {
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

    /** Loads a row and the next ones, because queues are removed in order. */
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

    /** The number of removals; a reader gets it before it reads the database. */
    synchronized long removals() {
        return removals;
    }

    /**
     * Adds the rows that a reader has found.
     *
     * @param seen {@link #removals} before
     */
    synchronized void putRead(long session, long sequence, QueueRow.Head head, long seen) {
        if (removedAt[place(session, sequence)] <= seen) {
            put(session, sequence, head);
        }
    }

    /** Adds a row that was read. An entry from a later write stays. */
    synchronized void put(long session, long sequence, QueueRow.Head head) {
        if (!holds(entry(session, sequence), session, sequence)) {
            written(session, sequence, head);
        }
    }

    /** Records that the delivery state of a message has its own row. */
    synchronized void deliveryWritten(long session, long sequence) {
        int at = entry(session, sequence);
        if (holds(at, session, sequence)) {
            entries[at + FOOTPRINT] |= 1;
        }
    }

    /** Adds a row that is written. */
    synchronized void written(long session, long sequence, QueueRow.Head head) {
        int at = entry(session, sequence);
        entries[at] = session;
        entries[at + SEQUENCE] = sequence;
        entries[at + BODY] = head.body();
        entries[at + FOOTPRINT] = (long) head.footprintBytes() << 1 | (head.mayHaveDelivery() ? 1 : 0);
    }

    /** Records the committed removal of a message. */
    synchronized void removed(long session, long sequence) {
        removedAt[place(session, sequence)] = ++removals;
        int at = entry(session, sequence);
        if (holds(at, session, sequence)) {
            entries[at + SEQUENCE] = NOTHING;
        }
    }

    /** Clears the cache after a failed commit, whose rows are not stored. */
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
