// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.Arrays;

/**
 * Rows that are written in one batch, in the log format of the library, so that one call writes all of them: eight bytes for a sequence
 * number of the library, four for the count, and the rows with kind, column family, key and value. The log files have this format, so it
 * does not change. The first entry is a note that is only in the log: the last change that was on stable storage at that time. One thread.
 */
final class RowBatch {

    private static final int COUNT_AT = 8;
    private static final int HEADER_BYTES = 12;
    private static final int FIRST_CAPACITY = 1 << 10;
    private static final int NOTE = 0x03;
    private static final int DELETE = 0x04;
    private static final int PUT = 0x05;
    private static final int LONGEST_NUMBER_BYTES = 5;

    private byte[] bytes = new byte[FIRST_CAPACITY];
    private int size = HEADER_BYTES;
    private int count;

    /**
     * Begins a batch.
     *
     * @param syncedSequence the number of the last change that is on stable storage
     */
    RowBatch(long syncedSequence) {
        bytes[size++] = NOTE;
        bytes[size++] = Long.BYTES;
        for (int i = 0; i < Long.BYTES; i++) { // little endian
            bytes[size++] = (byte) (syncedSequence >>> Byte.SIZE * i);
        }
    }

    void put(int family, byte[] key, byte[] value) {
        reserve(key.length + value.length);
        begin(PUT, family);
        append(key);
        append(value);
    }

    void delete(int family, byte[] key) {
        reserve(key.length);
        begin(DELETE, family);
        append(key);
    }

    private void reserve(int more) {
        long needed = (long) size + more + 1 + 3 * LONGEST_NUMBER_BYTES;
        if (needed > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.toIntExact(Math.max(needed, 2L * bytes.length)));
        }
    }

    private void begin(int kind, int family) {
        bytes[size++] = (byte) kind;
        number(family);
        count++;
    }

    private void append(byte[] text) {
        number(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
    }

    private void number(int value) {
        int rest = value;
        while (rest > 0x7F) {
            bytes[size++] = (byte) (rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    /** The bytes so far. */
    int size() {
        return size;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** The encoded batch; no row can be added afterwards. */
    byte[] toByteArray() {
        for (int i = 0; i < Integer.BYTES; i++) { // little endian
            bytes[COUNT_AT + i] = (byte) (count >>> Byte.SIZE * i);
        }
        return Arrays.copyOf(bytes, size);
    }
}
