// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.spi.StoreWriter;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The QoS 2 messages of other nodes that the stored sessions of one event loop have taken lately, in notes of the store. Each is committed in
 * the flush of the message itself. So after a crash a repetition is known if and only if the session has the message, or has passed it on. A
 * flush costs one small note, whatever the number of messages.
 *
 * <p>A note holds some deliveries, as numbers of 64 bits. Later flushes extend it until it has a few; then a new one is begun. The oldest
 * is replaced when there are {@value #NOTES} notes, or {@value #CAPACITY} deliveries.
 */
@OnEventLoop
final class TakenNotes {

    static final int NOTES = 512;

    /** Deliveries in all notes. */
    static final int CAPACITY = 65_536;

    /** A note with fewer deliveries is extended. */
    static final int FEW = 64;

    private static final byte[] NOTHING = {};

    private final String prefix;
    private final ArrayDeque<Note> notes = new ArrayDeque<>();
    private final ArrayDeque<Note> extensible = new ArrayDeque<>();
    private final ArrayDeque<String> free = new ArrayDeque<>();
    private int next;
    private int deliveries;
    private long age;

    private long[] fresh = new long[FEW];
    private int size;
    private LongConsumer lost = delivery -> {};

    /**
     * Creates it without notes.
     *
     * @param prefix what the names of new notes begin with
     */
    TakenNotes(String prefix) {
        this.prefix = prefix;
    }

    /**
     * Identifies a delivery of a stored session. The number is in stores: it does not change between versions.
     *
     * @param session the number of the session in the store
     * @param deliveryId see {@link TakenMessages#idOf}
     */
    static long delivery(long session, long deliveryId) {
        return TakenMessages.value(2 * session + 1, deliveryId);
    }

    /** Restores a note, from the oldest to the newest. At the start. It may have been written by an event loop that no longer exists. */
    @AnyThread
    void recovered(Found found) {
        if (found.name.startsWith(prefix)) {
            next = Math.max(next, Integer.parseInt(found.name.substring(prefix.length())) + 1);
        }
        age = Math.max(age, found.age);
        if (found.deliveries.length == 0) {
            free.add(found.name);
        } else {
            notes.add(new Note(found.name, found.age, found.deliveries.length));
            deliveries += found.deliveries.length;
        }
    }

    /** Sets what receives deliveries whose messages could not be stored. Before the first flush. */
    @AnyThread
    void onLost(LongConsumer receiver) {
        lost = receiver;
    }

    /** Records a delivery, whose message is part of the next flush. */
    void took(long delivery) {
        if (size == fresh.length) {
            fresh = Arrays.copyOf(fresh, 2 * size);
        }
        fresh[size++] = delivery;
    }

    /**
     * Writes the deliveries of the flush that follows.
     *
     * @return the waiter for its commit; null if nothing was written
     */
    @Nullable
    StoreWaiter write(StoreWriter writer) {
        if (size == 0) {
            return null;
        }
        Note note = extensible.poll();
        if (note == null) {
            note = begin(writer);
        }
        note.add(fresh, size);
        deliveries += size;
        size = 0;
        if (fresh.length > 16 * FEW) {
            fresh = new long[FEW];
        }
        writer.putNote(note.name, note.content());
        return note;
    }

    private Note begin(StoreWriter writer) {
        while (notes.size() >= NOTES || (deliveries >= CAPACITY && !notes.isEmpty())) {
            Note oldest = notes.remove();
            extensible.remove(oldest);
            oldest.replaced = true;
            deliveries -= oldest.count;
            free.add(oldest.name);
            writer.putNote(oldest.name, NOTHING);
        }
        String name = free.poll();
        Note note = new Note(name == null ? prefix + next++ : name, ++age, 0);
        notes.add(note);
        return note;
    }

    /**
     * A note as it was found in the store.
     *
     * @param name its name in the store
     * @param age its age: a later one has a greater number
     * @param deliveries the deliveries
     */
    @SuppressWarnings("ArrayRecordComponent") // handed over, not kept
    record Found(String name, long age, long[] deliveries) {

        /** Reads the content of a note. What it does not understand counts as empty. */
        static Found of(String name, byte[] content) {
            if (content.length == 0 || content.length % Long.BYTES != 0) {
                return new Found(name, 0, new long[0]);
            }
            ByteBuffer source = ByteBuffer.wrap(content);
            long age = source.getLong();
            long[] deliveries = new long[source.remaining() / Long.BYTES];
            source.asLongBuffer().get(deliveries);
            return new Found(name, age, deliveries);
        }
    }

    /** One note. While its last change is not committed, it is not extended: if the commit fails, the store has it as it was. */
    private final class Note implements StoreWaiter {

        private final String name;
        private final long age;
        private int count;
        private int committed;
        private boolean replaced;

        /** The deliveries, while it may be extended. */
        private long[] values = {};

        Note(String name, long age, int count) {
            this.name = name;
            this.age = age;
            this.count = count;
            this.committed = count;
        }

        void add(long[] more, int length) {
            values = Arrays.copyOf(values, count + length);
            System.arraycopy(more, 0, values, count, length);
            count += length;
        }

        byte[] content() {
            ByteBuffer content = ByteBuffer.allocate((1 + count) * Long.BYTES).putLong(age);
            content.asLongBuffer().put(values, 0, count);
            return content.array();
        }

        @Override
        public boolean completed(boolean kept) {
            if (!kept) {
                Arrays.stream(values, committed, count).forEach(lost);
            }
            if (replaced) {
                return false;
            }
            if (kept) {
                committed = count;
            } else {
                deliveries -= count - committed;
                count = committed;
            }
            if (count < FEW) {
                extensible.add(this);
            } else {
                values = new long[0];
            }
            return false;
        }

        @Override
        public void retry() {
            throw new IllegalStateException("a note is not written again");
        }
    }
}
