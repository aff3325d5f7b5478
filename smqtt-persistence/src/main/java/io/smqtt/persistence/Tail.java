// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.spi.StoredQueue;

/** The bounds of a session's messages, stored beside them so that no scan is needed. Changed by the committing thread. */
final class Tail {

    private static final int VERSION = 1;

    /** A lower bound of the sequence numbers of messages. */
    private long first = 1;

    private long next = 1;
    private int messages;
    private long bytes;

    void added(long sequence, int footprintBytes) {
        first = messages == 0 ? sequence : Math.min(first, sequence);
        next = Math.max(next, sequence + 1);
        messages++;
        bytes += footprintBytes;
    }

    /** Records that a number was used, even if its message was removed before it was written. */
    void used(long sequence) {
        next = Math.max(next, sequence + 1);
        if (messages == 0) {
            first = next;
        }
    }

    void removed(long sequence, int footprintBytes) {
        messages = Math.max(0, messages - 1);
        bytes = messages == 0 ? 0 : Math.max(0, bytes - footprintBytes);
        if (messages == 0) {
            first = next;
        } else if (sequence == first) {
            first = sequence + 1;
        }
    }

    boolean isEmpty() {
        return messages == 0;
    }

    long first() {
        return first;
    }

    /** Whether numbers between first and next are missing, so that {@link #first} may be one of them. */
    boolean hasGaps() {
        return next - first != messages;
    }

    StoredQueue toQueue(long exactFirst) {
        return new StoredQueue(messages == 0 ? next : exactFirst, next, messages, bytes);
    }

    byte[] encode(RowWriter row) {
        return row.clear()
                .putByte(VERSION)
                .putNumber(first)
                .putNumber(next)
                .putNumber(messages)
                .putNumber(bytes)
                .toByteArray();
    }

    static Tail decode(byte[] bytes) {
        RowReader row = new RowReader(bytes);
        row.requireVersion(VERSION);
        Tail tail = new Tail();
        tail.first = row.readNumber();
        tail.next = row.readNumber();
        tail.messages = row.readInt();
        tail.bytes = row.readNumber();
        row.requireEnd();
        return tail;
    }
}
