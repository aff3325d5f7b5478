// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
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

    byte[] encode(ByteWriter row) {
        return row.clear()
                .u8(VERSION)
                .number(first)
                .number(next)
                .number(messages)
                .number(bytes)
                .toByteArray();
    }

    static Tail decode(byte[] bytes) {
        ByteReader row = new ByteReader(bytes);
        row.format(VERSION);
        Tail tail = new Tail();
        tail.first = row.number();
        tail.next = row.number();
        tail.messages = row.number(Integer.MAX_VALUE);
        tail.bytes = row.number();
        row.requireEnd();
        return tail;
    }
}
