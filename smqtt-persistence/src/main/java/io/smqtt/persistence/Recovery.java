// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.spi.BrokerStore.RecoveryVisitor;
import io.smqtt.spi.FoundSession;
import io.smqtt.spi.StoredQueue;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * Reads all sessions once, with their subscriptions, tails and received identifiers, all in the order of session numbers; then the
 * retained messages. It keeps in memory only the numbers of sessions to remove: those that ended while the broker was down and have no
 * will to publish, and rows without a session.
 */
final class Recovery {

    private static final int ROWS_AT_ONCE = 1_000;

    private final Database database;
    private final StoreClock clock;
    private final MessageRow messages;
    private final SessionRow sessions;
    private final List<Change> removals = new ArrayList<>();

    Recovery(Database database, StoreClock clock) {
        this.database = database;
        this.clock = clock;
        this.messages = new MessageRow(clock);
        this.sessions = new SessionRow(messages);
    }

    void visit(RecoveryVisitor visitor) {
        try {
            database.read(view -> {
                visitSessions(view, visitor);
                visitRetained(view, visitor);
                MetaRows.visitNotes(view, visitor);
                return true;
            });
            remove();
        } catch (RocksDBException e) {
            throw Damage.orFailure(e, database.directory());
        } catch (MalformedBytesException e) {
            throw Damage.of(e, database.directory());
        }
    }

    /** One session, or null. */
    @Nullable
    FoundSession find(long number) {
        try {
            return database.read(view -> Optional.ofNullable(find(view, number)))
                    .orElse(null);
        } catch (RocksDBException e) {
            throw Damage.orFailure(e, database.directory());
        } catch (MalformedBytesException e) {
            throw Damage.of(e, database.directory());
        }
    }

    private @Nullable FoundSession find(View view, long number) throws RocksDBException {
        byte[] from = Keys.number(number);
        byte[] end = Keys.number(number + 1);
        byte[] header = view.get(Family.SESSION, from);
        if (header == null) {
            return null;
        }
        List<StoredSubscription> subscriptions = new ArrayList<>();
        for (Scan rows = view.range(Family.SUBSCRIPTION, from, end); rows.isValid(); rows.next()) {
            subscriptions.add(SessionRow.decode(Keys.filter(rows.key()), rows.value()));
        }
        List<Integer> received = new ArrayList<>();
        Map<Integer, Long> released = new HashMap<>();
        for (Scan rows = view.range(Family.RECEIVED, from, end); rows.isValid(); rows.next()) {
            byte[] next = rows.value();
            if (next.length == 0) {
                received.add(Keys.packetId(rows.key()));
            } else {
                released.put(Keys.packetId(rows.key()), Keys.first(next));
            }
        }
        StoredQueue waiting = queue(number, view.range(Family.TAIL, from, end), view);
        return new FoundSession(sessions.decode(number, header), waiting, subscriptions, received, released);
    }

    private void visitSessions(View view, RecoveryVisitor visitor) throws RocksDBException {
        Scan subscriptions = view.all(Family.SUBSCRIPTION);
        Scan tails = view.all(Family.TAIL);
        Scan received = view.all(Family.RECEIVED);
        for (Scan rows = view.all(Family.SESSION); rows.isValid(); rows.next()) {
            long number = Keys.first(rows.key());
            StoredSession session = sessions.decode(number, rows.value());
            boolean over = isOver(session);
            skipBefore(number, subscriptions);
            skipBefore(number, tails);
            skipBefore(number, received);
            if (over) {
                forget(number);
            } else {
                visitor.session(session, queue(number, tails, view));
                visitRows(number, subscriptions, received, visitor);
            }
        }
        skipBefore(Long.MAX_VALUE, subscriptions);
        skipBefore(Long.MAX_VALUE, tails);
        skipBefore(Long.MAX_VALUE, received);
    }

    private boolean isOver(StoredSession session) {
        long end = session.expiresAtMillis();
        return session.will() == null
                && end != StoredSession.CONNECTED
                && end != StoredSession.NEVER
                && end <= clock.millis();
    }

    /** Rows without a session header belong to a removed session. */
    private void skipBefore(long session, Scan rows) throws RocksDBException {
        long last = -1;
        for (; rows.isValid() && Keys.first(rows.key()) < session; rows.next()) {
            long orphan = Keys.first(rows.key());
            if (orphan != last) {
                forget(orphan);
                last = orphan;
            }
        }
    }

    private static StoredQueue queue(long session, Scan tails, View view) throws RocksDBException {
        if (!tails.isValid() || Keys.first(tails.key()) != session) {
            return new Tail().toQueue(1);
        }
        Tail tail = Tail.decode(tails.value());
        tails.next();
        long first = tail.first();
        if (tail.hasGaps()) {
            Scan rows = view.range(Family.QUEUE, Keys.message(session, first), Keys.number(session + 1));
            if (!rows.isValid()) {
                throw new MalformedBytesException("messages of session " + session + " are missing");
            }
            first = Keys.sequence(rows.key());
        }
        return tail.toQueue(first);
    }

    private static void visitRows(long session, Scan subscriptions, Scan received, RecoveryVisitor visitor)
            throws RocksDBException {
        for (; isOf(session, subscriptions); subscriptions.next()) {
            String filter = Keys.filter(subscriptions.key());
            visitor.subscription(SessionRow.decode(filter, subscriptions.value()));
        }
        for (; isOf(session, received); received.next()) {
            byte[] next = received.value();
            if (next.length == 0) {
                visitor.received(Keys.packetId(received.key()));
            } else {
                visitor.released(Keys.packetId(received.key()), Keys.first(next));
            }
        }
    }

    private static boolean isOf(long session, Scan rows) {
        return rows.isValid() && Keys.first(rows.key()) == session;
    }

    private void visitRetained(View view, RecoveryVisitor visitor) throws RocksDBException {
        RetainedRow retained = new RetainedRow(messages);
        long now = clock.nanosAt(clock.millis());
        for (Scan rows = view.all(Family.RETAINED); rows.isValid(); rows.next()) {
            if (!retained.visit(rows.key(), rows.value(), now, visitor)) {
                remove(Change.remove(Family.RETAINED, rows.key()));
            }
        }
    }

    private void forget(long session) throws RocksDBException {
        remove(Change.remove(Family.SESSION, Keys.number(session)));
        remove(new Change(Family.REMOVED, Keys.number(session), new byte[0]));
    }

    private void remove(Change change) throws RocksDBException {
        removals.add(change);
        if (removals.size() >= ROWS_AT_ONCE) {
            remove();
        }
    }

    private void remove() throws RocksDBException {
        database.write(Change.all(List.copyOf(removals)), false);
        removals.clear();
    }
}
