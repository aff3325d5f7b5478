// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one publisher at one subscriber (or shared subscription). A flow without faults is two numbers; from the first fault on
 * it has one bit per message, so that the counts are exact.
 */
final class Flow {

    private int first = -1;
    private int next;
    private long unique;
    private long duplicates;
    private long outOfOrder;
    private long @Nullable [] seen;
    private int seenFrom;

    /** Records a sequence number; true if it is new. */
    boolean receive(int sequence) {
        if (sequence == next && seen == null) {
            first = Math.max(first, 0);
            next++;
            unique++;
            return true;
        }
        return receiveFaulty(sequence);
    }

    /** Sets the first sequence number of this flow; earlier messages were published before the subscription. */
    void startAt(int sequence) {
        if (first < 0) {
            first = sequence;
            next = sequence;
        }
    }

    private boolean receiveFaulty(int sequence) {
        if (seen == null) {
            seenFrom = next & ~63;
            seen = new long[2];
            Arrays.fill(seen, 0, 1, (1L << next) - 1);
        }
        first = Math.max(first, 0);
        if (sequence < seenFrom || isSeen(sequence)) {
            duplicates++;
            return false;
        }
        mark(sequence);
        unique++;
        if (sequence < next) {
            outOfOrder++;
        } else {
            next = sequence + 1;
        }
        return true;
    }

    private boolean isSeen(int sequence) {
        int word = sequence - seenFrom >>> 6;
        return seen != null && word < seen.length && (seen[word] >>> sequence & 1) != 0;
    }

    private void mark(int sequence) {
        int word = sequence - seenFrom >>> 6;
        long[] bits = seen == null ? new long[2] : seen;
        if (word >= bits.length) {
            bits = Arrays.copyOf(bits, Math.max(word + 1, bits.length * 2));
        }
        bits[word] |= 1L << sequence;
        seen = bits;
    }

    long unique() {
        return unique;
    }

    long duplicates() {
        return duplicates;
    }

    long outOfOrder() {
        return outOfOrder;
    }

    /** The number of missing messages among the first {@code published} ones. */
    long lost(long published) {
        return Math.max(0, published - Math.max(first, 0) - unique);
    }

    /** The number of missing messages below the highest received one. */
    long gaps() {
        return lost(next);
    }
}
