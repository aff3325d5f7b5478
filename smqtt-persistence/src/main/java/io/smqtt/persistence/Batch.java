// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.TopicName;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;

/**
 * The operations of one commit. Messages are collected per session before they are encoded. A message that is added and removed in the
 * same batch leaves only its number. A delivery state goes into the row of its message. A larger message for several sessions is written
 * once, with a reference count.
 */
@OnCommittingThread
final class Batch implements Database.Rows {

    private static final int LARGEST_INLINE_BYTES = 512;

    private final Encoding encoding;
    private final Database database;
    private final Tails tails;
    private final Heads heads;
    private final List<Change> changes = new ArrayList<>();
    private final Map<Long, Map<Long, Pending>> messages = new LinkedHashMap<>();
    private final IdentityHashMap<ApplicationMessage, Body> bodies = new IdentityHashMap<>();
    private final Map<Long, Integer> released = new HashMap<>();
    private final List<Long> removedSessions = new ArrayList<>();
    private final List<byte[]> sweptMessages = new ArrayList<>();

    Batch(Encoding encoding, Database database, Tails tails, Heads heads) {
        this.encoding = encoding;
        this.database = database;
        this.tails = tails;
        this.heads = heads;
    }

    void add(Change change) {
        changes.add(change);
    }

    boolean isEmpty() {
        return changes.isEmpty();
    }

    /** Sessions whose rows must be removed in the background after the commit. */
    List<Long> removedSessions() {
        return removedSessions;
    }

    void apply(Operations operations) {
        for (int i = 0; i < operations.size(); i++) {
            apply(operations, i);
        }
    }

    private void apply(Operations operations, int i) {
        long session = operations.session(i);
        long number = operations.number(i);
        switch (operations.kind(i)) {
            case PUT_SESSION -> put((StoredSession) value(operations, i));
            case REMOVE_SESSION -> removeSession(session);
            case PUT_SUBSCRIPTION -> put(session, (StoredSubscription) value(operations, i));
            case REMOVE_SUBSCRIPTION ->
                add(Change.remove(Family.SUBSCRIPTION, Keys.subscription(session, (String) value(operations, i))));
            case PUT_MESSAGE -> put(session, (StoredMessage) value(operations, i));
            case PUT_DELIVERY -> put(session, number, (StoredDelivery) value(operations, i));
            case REMOVE_MESSAGE, REMOVE_HANDED_OVER -> removeMessage(session, number);
            case PUT_RECEIVED -> add(new Change(Family.RECEIVED, Keys.received(session, (int) number), new byte[0]));
            case REMOVE_RECEIVED -> add(Change.remove(Family.RECEIVED, Keys.received(session, (int) number)));
            case PUT_RELEASED ->
                add(new Change(Family.RECEIVED, Keys.received(session, (int) number), Keys.number((long)
                        value(operations, i))));
            case PUT_RETAINED -> putRetained((ApplicationMessage) value(operations, i));
            case PUT_VERSIONED -> put((LoopWriter.Versioned) value(operations, i));
            case PUT_REMOVAL -> put((LoopWriter.Removal) value(operations, i));
            case PUT_NOTE -> put((LoopWriter.Note) value(operations, i));
            case REMOVE_RETAINED -> add(Change.remove(Family.RETAINED, ((TopicName) value(operations, i)).utf8()));
        }
    }

    /** Collects the removals of a refused flush. */
    void applyRemovals(Operations operations) {
        for (int i = 0; i < operations.size(); i++) {
            remove(operations.kind(i), operations.session(i), operations.number(i));
        }
    }

    /** Adds the removal of an operation that a client has completed; ignores other operations. */
    void remove(Operations.Kind kind, long session, long number) {
        if (kind == Operations.Kind.REMOVE_MESSAGE) {
            removeMessage(session, number);
        } else if (kind == Operations.Kind.PUT_RELEASED && number != 0) {
            byte[] next = Keys.number(ThreadLocalRandom.current().nextLong() | 1); // not NO_ID, and of no message
            add(new Change(Family.RECEIVED, Keys.received(session, (int) number), next));
        } else if (kind.releases(number)) {
            add(Change.remove(Family.RECEIVED, Keys.received(session, (int) number)));
        }
    }

    private static Object value(Operations operations, int i) {
        return Objects.requireNonNull(operations.value(i));
    }

    private void put(StoredSession session) {
        add(new Change(Family.SESSION, Keys.number(session.number()), encoding.session(session)));
    }

    private void put(long session, StoredSubscription subscription) {
        byte[] key = Keys.subscription(session, subscription.clientFilter());
        add(new Change(Family.SUBSCRIPTION, key, encoding.subscription(subscription)));
    }

    private void putRetained(ApplicationMessage message) {
        add(new Change(Family.RETAINED, message.topic().utf8(), encoding.retained(message, null)));
    }

    private void put(LoopWriter.Versioned retained) {
        byte[] row = encoding.retained(retained.message(), retained.version());
        add(new Change(Family.RETAINED, retained.message().topic().utf8(), row));
    }

    private void put(LoopWriter.Removal removal) {
        add(new Change(Family.RETAINED, removal.topic().utf8(), encoding.retainedRemoval(removal.version())));
    }

    private void put(LoopWriter.Note note) {
        add(new Change(Family.META, MetaRows.noteKey(note.name()), note.content()));
    }

    /** Removes the header and the tail now, and the other rows in the background. */
    private void removeSession(long session) {
        messages.remove(session);
        tails.forget(session);
        removedSessions.add(session);
        add(Change.remove(Family.SESSION, Keys.number(session)));
        add(Change.remove(Family.TAIL, Keys.number(session)));
        add(new Change(Family.REMOVED, Keys.number(session), new byte[0]));
    }

    private void put(long session, StoredMessage message) {
        of(session).put(message.sequence(), new Pending(message, message.delivery(), false));
    }

    private void put(long session, long sequence, StoredDelivery delivery) {
        Pending before = of(session).get(sequence);
        if (before == null || !before.gone) {
            StoredMessage message = before == null ? null : before.message;
            of(session).put(sequence, new Pending(message, delivery, false));
        }
    }

    private void removeMessage(long session, long sequence) {
        Pending before = of(session).get(sequence);
        boolean neverWritten = before != null && (before.message != null || before.isCancelled());
        of(session).put(sequence, neverWritten ? Pending.CANCELLED : Pending.REMOVED);
    }

    private Map<Long, Pending> of(long session) {
        return messages.computeIfAbsent(session, number -> new LinkedHashMap<>());
    }

    /** Removes a stored message of a removed session. */
    void sweep(byte[] key, byte[] row) {
        add(Change.remove(Family.QUEUE, key));
        release(QueueRow.readHead(row));
        sweptMessages.add(key);
    }

    /** Encodes the messages; no operation can be added afterwards. */
    void finish() throws RocksDBException {
        messages.values().forEach(session -> session.values().forEach(this::count));
        for (Map.Entry<Long, Map<Long, Pending>> session : messages.entrySet()) {
            finish(session.getKey(), session.getValue());
        }
        for (Body body : bodies.values()) {
            finish(body);
        }
        for (Map.Entry<Long, Integer> body : released.entrySet()) {
            finishRelease(body.getKey(), body.getValue());
        }
    }

    private void count(Pending pending) {
        StoredMessage message = pending.message;
        if (message != null && message.message().footprintBytes() > LARGEST_INLINE_BYTES) {
            bodies.computeIfAbsent(message.message(), Body::new).references++;
        }
    }

    private void finish(long session, Map<Long, Pending> pending) throws RocksDBException {
        Tail tail = tails.of(session);
        int before = changes.size();
        for (Map.Entry<Long, Pending> entry : pending.entrySet()) {
            finish(session, entry.getKey(), entry.getValue(), tail);
        }
        if (changes.size() > before) {
            add(new Change(Family.TAIL, Keys.number(session), encoding.tail(tail)));
        }
    }

    private void finish(long session, long sequence, Pending pending, Tail tail) throws RocksDBException {
        byte[] key = Keys.message(session, sequence);
        StoredMessage message = pending.message;
        if (message != null) {
            long body = body(message.message());
            add(new Change(Family.QUEUE, key, encoding.queued(message, pending.delivery, body)));
            int footprintBytes = message.message().footprintBytes();
            heads.written(session, sequence, new QueueRow.Head(footprintBytes, body, false));
            tail.added(sequence, footprintBytes);
        } else if (pending.isCancelled()) {
            tail.used(sequence);
        } else if (pending.gone) {
            removeStored(key, session, sequence, tail);
        } else if (heads.of(session, sequence) != null) { // numbers of messages that were not stored are reused
            add(new Change(Family.DELIVERY, key, encoding.delivery(pending.delivery)));
            heads.deliveryWritten(session, sequence);
        }
    }

    private long body(ApplicationMessage message) {
        Body body = bodies.get(message);
        if (body == null || body.references < 2) {
            return QueueRow.INLINE;
        }
        if (body.number == QueueRow.INLINE) {
            body.number = encoding.nextBody();
        }
        return body.number;
    }

    private void removeStored(byte[] key, long session, long sequence, Tail tail) throws RocksDBException {
        QueueRow.Head head = heads.of(session, sequence);
        if (head != null) {
            add(Change.remove(Family.QUEUE, key));
            if (head.mayHaveDelivery()) {
                add(Change.remove(Family.DELIVERY, key));
            }
            tail.removed(sequence, head.footprintBytes());
            release(head);
        }
    }

    private void release(QueueRow.Head head) {
        if (head.body() != QueueRow.INLINE) {
            released.merge(head.body(), 1, Integer::sum);
        }
    }

    private void finish(Body body) {
        if (body.number != QueueRow.INLINE) {
            byte[] key = Keys.number(body.number);
            add(new Change(Family.BODY, key, encoding.message(body.message)));
            add(new Change(Family.REFERENCE, key, encoding.number(body.references)));
        }
    }

    private void finishRelease(long body, int count) throws RocksDBException {
        byte[] key = Keys.number(body);
        byte[] row = database.get(Family.REFERENCE, key);
        long left = row == null ? 0 : new ByteReader(row).number() - count;
        if (left > 0) {
            add(new Change(Family.REFERENCE, key, encoding.number(left)));
        } else {
            add(Change.remove(Family.REFERENCE, key));
            add(Change.remove(Family.BODY, key));
        }
    }

    /** Records that the batch is committed. */
    void committed() {
        messages.forEach((session, pending) -> pending.forEach((sequence, change) -> {
            if (change.gone && !change.isCancelled()) {
                heads.removed(session, sequence);
            }
        }));
        sweptMessages.forEach(key -> heads.removed(Keys.first(key), Keys.sequence(key)));
    }

    @Override
    public List<Change> changes() {
        return changes;
    }

    /**
     * The change of one message in this batch.
     *
     * @param message a new message, or null
     * @param delivery its state, or the new state of a stored one
     * @param gone whether the message is removed
     */
    private record Pending(@Nullable StoredMessage message, StoredDelivery delivery, boolean gone) {

        /** A stored message is removed. */
        static final Pending REMOVED = new Pending(null, StoredDelivery.WAITING, true);

        /** A message was added and removed in the same batch. */
        static final Pending CANCELLED = new Pending(null, new StoredDelivery(StoredDelivery.State.WAITING, 0), true);

        boolean isCancelled() {
            return this == CANCELLED;
        }
    }

    /** The body of a message that is stored separately. */
    private static final class Body {

        private final ApplicationMessage message;
        private int references;
        private long number = QueueRow.INLINE;

        Body(ApplicationMessage message) {
            this.message = message;
        }
    }
}
