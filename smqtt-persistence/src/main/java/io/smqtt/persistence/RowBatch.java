// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.util.Arrays;

/**
 * Rows that are written at once, in the form in which the library logs them, so that they reach it with one call instead
 * of one for each row: eight bytes for a sequence number that the library gives, four for the count, and the rows with
 * kind, column family, key and value. That form is what its log files hold, and so does not change. The first entry is a
 * note that only the log keeps: up to which change the log was on stable storage by then. One thread.
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
        for (int i = 0; i < Long.BYTES; i++) { // the low byte first
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

    boolean isEmpty() {
        return count == 0;
    }

    /** All rows; nothing can be added afterwards. */
    byte[] toByteArray() {
        for (int i = 0; i < Integer.BYTES; i++) { // the low byte first
            bytes[COUNT_AT + i] = (byte) (count >>> Byte.SIZE * i);
        }
        return Arrays.copyOf(bytes, size);
    }
}
