// SPDX-License-Identifier: Apache-2.0
package io.smqtt.routing;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Subscriptions of different subscribers to the same filter. Readers take an immutable {@link #snapshot()}; the only writer, which
 * holds the lock of the index, replaces it. A snapshot is a flat {@code Subscription[]}. Beyond {@value #CHUNK} members it is a
 * {@code Subscription[][]} of chunks, of which all but the last are full: a change copies one chunk and the outer array. With
 * 100,000 subscribers of one filter a change copies some 650 references.
 */
final class MemberList {

    static final int CHUNK = 256;
    private static final int SCANNED = 16;
    private static final Subscription[] NONE = {};

    private volatile Object[] snapshot = NONE;
    private @Nullable MemberPositions positions;

    /** An immutable view for {@link #size(Object[])} and {@link #get(Object[], int)}. */
    Object[] snapshot() {
        return snapshot;
    }

    boolean isEmpty() {
        return snapshot.length == 0;
    }

    static int size(Object[] snapshot) {
        int length = snapshot.length;
        if (snapshot instanceof Subscription[][] chunks) {
            return (length - 1) * CHUNK + chunks[length - 1].length;
        }
        return length;
    }

    static Subscription get(Object[] snapshot, int index) {
        if (snapshot instanceof Subscription[][] chunks) {
            return chunks[index / CHUNK][index % CHUNK];
        }
        return (Subscription) snapshot[index];
    }

    /** Adds a subscription, or replaces and returns the subscription of the same subscriber. */
    @Nullable
    Subscription put(Subscription subscription) {
        Object[] before = snapshot;
        int index = indexOf(subscription.subscriber());
        if (index >= 0) {
            snapshot = with(before, index, subscription);
            return get(before, index);
        }
        snapshot = append(before, subscription);
        int size = size(before) + 1;
        if (positions != null) {
            positions.add(snapshot, size - 1);
        } else if (size > SCANNED) {
            positions = new MemberPositions(snapshot);
        }
        return null;
    }

    /** Removes the subscription of a subscriber; the last member takes its position. */
    @Nullable
    Subscription remove(Subscriber subscriber) {
        int index = indexOf(subscriber);
        if (index < 0) {
            return null;
        }
        Object[] before = snapshot;
        int last = size(before) - 1;
        if (positions != null) {
            positions.remove(before, index);
            if (index != last) {
                positions.move(before, last, index);
            }
        }
        Object[] moved = index == last ? before : with(before, index, get(before, last));
        snapshot = withoutLast(moved);
        if (last <= SCANNED / 2) {
            positions = null;
        }
        return get(before, index);
    }

    @Nullable
    Subscription find(Subscriber subscriber) {
        int index = indexOf(subscriber);
        return index < 0 ? null : get(snapshot, index);
    }

    private int indexOf(Subscriber subscriber) {
        Object[] members = snapshot;
        if (positions != null) {
            return positions.indexOf(members, subscriber);
        }
        for (int i = 0, size = size(members); i < size; i++) {
            if (get(members, i).subscriber() == subscriber) {
                return i;
            }
        }
        return -1;
    }

    private static Object[] append(Object[] members, Subscription added) {
        if (members instanceof Subscription[][] chunks) {
            int last = chunks.length - 1;
            boolean full = chunks[last].length == CHUNK;
            Subscription[][] spine = Arrays.copyOf(chunks, full ? last + 2 : last + 1);
            spine[spine.length - 1] = full ? new Subscription[] {added} : append(chunks[last], added);
            return spine;
        }
        Subscription[] flat = (Subscription[]) members;
        return flat.length < CHUNK ? append(flat, added) : new Subscription[][] {flat, {added}};
    }

    private static Subscription[] append(Subscription[] flat, Subscription added) {
        Subscription[] longer = Arrays.copyOf(flat, flat.length + 1);
        longer[flat.length] = added;
        return longer;
    }

    private static Object[] with(Object[] members, int index, Subscription changed) {
        Object[] copy = members.clone();
        if (copy instanceof Subscription[][] chunks) {
            Subscription[] chunk = chunks[index / CHUNK].clone();
            chunk[index % CHUNK] = changed;
            chunks[index / CHUNK] = chunk;
        } else {
            copy[index] = changed;
        }
        return copy;
    }

    private static Object[] withoutLast(Object[] members) {
        if (!(members instanceof Subscription[][] chunks)) {
            return members.length == 1 ? NONE : Arrays.copyOf(members, members.length - 1);
        }
        int last = chunks.length - 1;
        int length = chunks[last].length - 1;
        if (length == 0) {
            return last == 1 ? chunks[0] : Arrays.copyOf(chunks, last);
        }
        Subscription[][] spine = chunks.clone();
        spine[last] = Arrays.copyOf(chunks[last], length);
        return spine;
    }
}
