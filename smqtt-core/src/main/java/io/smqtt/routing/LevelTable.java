// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table from topic levels, or from whole filters, to leaves and nodes, which know their own keys. Open addressing over
 * two plain arrays; an entry takes 12 to 24 bytes. Readers need no lock: a slot changes from empty to an entry to "removed" and
 * may be used again, but entries never move within an array. The only writer replaces the arrays of a segment when they are
 * full.
 */
final class LevelTable {

    private static final int SEGMENTS = 256;
    private static final int SPLIT_ABOVE = 8_192;
    private static final int JOIN_BELOW = 2_048;
    private static final Object REMOVED = new Object();
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle SEGMENT = MethodHandles.arrayElementVarHandle(Segment[].class);

    private final int keyStart;
    private final boolean wholeText;
    private volatile Segment[] segments;
    private int size;

    /**
     * Creates an empty table.
     *
     * @param keyStart start of the key in the text of each entry
     * @param wholeText true if the keys are whole texts, false if they are levels
     */
    LevelTable(int keyStart, boolean wholeText) {
        this.keyStart = keyStart;
        this.wholeText = wholeText;
        this.segments = new Segment[] {new Segment(0)};
    }

    /** Number of entries; for the writer. */
    int size() {
        return size;
    }

    /** Number of slots; for tests. */
    int capacity() {
        int slots = 0;
        for (Segment segment : segments) {
            slots += segment.slots.length;
        }
        return slots;
    }

    @Nullable
    Object find(int hash, String topic, int from, int to) {
        Segment segment = segment(segments, hash);
        int mask = segment.slots.length - 1;
        for (int at = hash & mask; ; at = (at + 1) & mask) {
            Object found = SLOT.getAcquire(segment.slots, at);
            if (found == null) {
                return null;
            }
            if (segment.hashes[at] == hash && found != REMOVED && isKey(found, topic, from, to)) {
                return found;
            }
        }
    }

    /** Replaces the entry with the same key, or adds the entry. */
    void put(int hash, String topic, int from, int to, Object value) {
        Segment segment = segment(segments, hash);
        int at = indexOf(segment, hash, topic, from, to);
        if (at >= 0) {
            SLOT.setRelease(segment.slots, at, value);
        } else {
            add(hash, value);
        }
    }

    /** Adds an entry whose key is not in the table. */
    void add(int hash, Object value) {
        size++;
        if (size > SPLIT_ABOVE && segments.length == 1) {
            redistribute(SEGMENTS);
        }
        Segment segment = segment(segments, hash);
        if ((segment.used + 1) * 10L > segment.slots.length * 7L) {
            segment = replace(segments, hash, segment.live + 1);
        }
        segment.add(hash, value);
    }

    /** Removes the entry with a key, which must be in the table. */
    void remove(int hash, String topic, int from, int to) {
        Segment segment = segment(segments, hash);
        int at = indexOf(segment, hash, topic, from, to);
        SLOT.setRelease(segment.slots, at, REMOVED);
        segment.live--;
        size--;
        if (size < JOIN_BELOW && segments.length > 1) {
            redistribute(1);
        } else if (segment.live * 8L < segment.slots.length && segment.slots.length > Segment.SMALLEST) {
            replace(segments, hash, segment.live);
        }
    }

    void forEach(Consumer<Object> action) {
        for (Segment segment : segments) {
            for (int at = 0; at < segment.slots.length; at++) {
                Object found = SLOT.getAcquire(segment.slots, at);
                if (found != null && found != REMOVED) {
                    action.accept(found);
                }
            }
        }
    }

    Object[] toArray() {
        List<Object> all = new ArrayList<>(size);
        forEach(all::add);
        return all.toArray();
    }

    private boolean isKey(Object entry, String topic, int from, int to) {
        return wholeText ? FilterEntry.text(entry).equals(topic) : TrieNode.isKey(entry, keyStart, topic, from, to);
    }

    private int indexOf(Segment segment, int hash, String topic, int from, int to) {
        int mask = segment.slots.length - 1;
        for (int at = hash & mask; ; at = (at + 1) & mask) {
            Object found = segment.slots[at];
            if (found == null) {
                return -1;
            }
            if (segment.hashes[at] == hash && found != REMOVED && isKey(found, topic, from, to)) {
                return at;
            }
        }
    }

    private static int segmentIndex(Segment[] all, int hash) {
        return (hash >>> 24) & (all.length - 1);
    }

    private static Segment segment(Segment[] all, int hash) {
        return (Segment) SEGMENT.getAcquire(all, segmentIndex(all, hash));
    }

    private static Segment replace(Segment[] all, int hash, int expected) {
        Segment before = segment(all, hash);
        Segment after = new Segment(expected);
        before.copyTo(after);
        SEGMENT.setRelease(all, segmentIndex(all, hash), after);
        return after;
    }

    private void redistribute(int count) {
        Segment[] after = new Segment[count];
        for (int i = 0; i < count; i++) {
            after[i] = new Segment(size / count);
        }
        for (Segment before : segments) {
            for (int at = 0; at < before.slots.length; at++) {
                Object value = before.slots[at];
                if (value != null && value != REMOVED) {
                    int index = segmentIndex(after, before.hashes[at]);
                    if (after[index].isFull()) {
                        replace(after, before.hashes[at], after[index].live + 1);
                    }
                    after[index].add(before.hashes[at], value);
                }
            }
        }
        segments = after;
    }

    /** A pair of arrays. The hash is written before its entry, and read after it. */
    private static final class Segment {

        static final int SMALLEST = 16;

        final int[] hashes;
        final Object[] slots;
        int used;
        int live;

        Segment(int expected) {
            int length = SMALLEST;
            while (length * 6L < expected * 10L) {
                length *= 2;
            }
            hashes = new int[length];
            slots = new Object[length];
        }

        boolean isFull() {
            return (used + 1) * 10L > slots.length * 7L;
        }

        void add(int hash, Object value) {
            int mask = slots.length - 1;
            int at = hash & mask;
            while (slots[at] != null && slots[at] != REMOVED) {
                at = (at + 1) & mask;
            }
            used += slots[at] == null ? 1 : 0;
            live++;
            hashes[at] = hash;
            SLOT.setRelease(slots, at, value);
        }

        void copyTo(Segment target) {
            for (int at = 0; at < slots.length; at++) {
                if (slots[at] != null && slots[at] != REMOVED) {
                    target.add(hashes[at], slots[at]);
                }
            }
        }
    }
}
