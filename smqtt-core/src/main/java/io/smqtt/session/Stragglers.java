// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import io.smqtt.thread.OnEventLoop;
import java.util.BitSet;

/**
 * Messages of an {@link InFlightWindow} that its ring has left behind, in the order of sending: their sequence numbers, and
 * the place of each.
 */
@OnEventLoop
final class Stragglers {

    private final BitSet identifiers = new BitSet(InFlightWindow.IDENTIFIERS + 1);

    /** Ascending; the complement for removed ones. */
    private long[] sequences;

    private int first;
    private int end;
    private int size;

    /**
     * Creates an empty set.
     *
     * @param places the capacity until it is {@link #compact}ed
     */
    Stragglers(int places) {
        sequences = new long[places];
    }

    int size() {
        return size;
    }

    /** Whether a number of additional messages fit. */
    boolean hasPlaces(int count) {
        return end + count <= sequences.length;
    }

    /** Adds a sequence number that is larger than all others, and returns its place. */
    int add(long sequence) {
        sequences[end] = sequence;
        size++;
        identifiers.set(InFlightWindow.packetId(sequence));
        return end++;
    }

    /** Removes a sequence number. */
    void remove(long sequence) {
        sequences[place(sequence)] = ~sequence;
        size--;
        identifiers.clear(InFlightWindow.packetId(sequence));
        while (first < end && sequences[first] < 0) {
            first++;
        }
    }

    /** Whether one of them has this packet identifier. */
    boolean hasIdentifier(int packetId) {
        return identifiers.get(packetId);
    }

    /** The number of consecutive identifiers from a given one on that are taken; they wrap around. */
    int takenFrom(int packetId) {
        int free = identifiers.nextClearBit(packetId);
        if (free > InFlightWindow.IDENTIFIERS) {
            free = identifiers.nextClearBit(1) + InFlightWindow.IDENTIFIERS;
        }
        return free - packetId;
    }

    /**
     * Finds the sequence number with a packet identifier, or -1. Sequence numbers with the same identifier are far apart,
     * so each candidate is tried, unless a scan of all entries is cheaper.
     */
    long find(int packetId) {
        if (!hasIdentifier(packetId)) {
            return -1;
        }
        long newest = at(end - 1);
        long candidate = newest - (newest - packetId + 1) % InFlightWindow.IDENTIFIERS;
        if ((newest - at(first)) / InFlightWindow.IDENTIFIERS > (end - first) / Long.SIZE) {
            return findAmongAll(packetId);
        }
        while (!holds(candidate)) {
            candidate -= InFlightWindow.IDENTIFIERS;
        }
        return candidate;
    }

    private long findAmongAll(int packetId) {
        int i = first;
        while (sequences[i] < 0 || InFlightWindow.packetId(sequences[i]) != packetId) {
            i++;
        }
        return sequences[i];
    }

    private long at(int place) {
        long there = sequences[place];
        return there < 0 ? ~there : there;
    }

    boolean holds(long sequence) {
        int at = search(sequence);
        return at < end && sequences[at] == sequence;
    }

    /** The place of a sequence number that it {@link #holds}. */
    int place(long sequence) {
        return search(sequence);
    }

    /** The first sequence number from a given one on, or the alternative if there is none. */
    long from(long sequence, long otherwise) {
        int at = search(sequence);
        while (at < end && sequences[at] < 0) {
            at++;
        }
        return at < end ? sequences[at] : otherwise;
    }

    /** Moves the remaining entries to the first places, in order. */
    void compact(int places) {
        long[] compacted = new long[places];
        int count = 0;
        for (int i = first; i < end; i++) {
            if (sequences[i] >= 0) {
                compacted[count++] = sequences[i];
            }
        }
        sequences = compacted;
        first = 0;
        end = count;
    }

    /** The first place whose sequence number is not smaller than a given one. */
    private int search(long sequence) {
        int low = first;
        int high = end;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (at(middle) < sequence) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
