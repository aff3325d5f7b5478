// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.Payload;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes the parts of a frame, numbers big endian, into an array that grows. For one thread. */
final class FrameWriter {

    private byte[] bytes;
    private int size;

    FrameWriter(int capacity) {
        bytes = new byte[capacity];
    }

    int size() {
        return size;
    }

    FrameWriter u8(int value) {
        reserve(1);
        bytes[size++] = (byte) value;
        return this;
    }

    FrameWriter i32(int value) {
        reserve(4);
        putInt(size, value);
        size += 4;
        return this;
    }

    FrameWriter i64(long value) {
        return i32((int) (value >>> 32)).i32((int) value);
    }

    /** Writes a number that is usually small: seven bits per byte, the lowest first. */
    FrameWriter number(long value) {
        reserve(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[size++] = (byte) (rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
        return this;
    }

    FrameWriter text(String text) {
        return block(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes the length, then the bytes. */
    FrameWriter block(byte[] block) {
        number(block.length);
        return raw(block, block.length);
    }

    /** Writes the length, then the bytes. */
    FrameWriter block(Payload payload) {
        int length = payload.size();
        number(length);
        reserve(length);
        payload.copyTo(bytes, size);
        size += length;
        return this;
    }

    /** The number of bytes that {@link #number} writes. */
    static int numberBytes(long value) {
        return value == 0 ? 1 : (Long.SIZE - Long.numberOfLeadingZeros(value) + 6) / 7;
    }

    /** The size of a block of this length, including its length field. */
    static int blockBytes(int length) {
        return numberBytes(length) + length;
    }

    FrameWriter raw(byte[] source, int length) {
        reserve(length);
        System.arraycopy(source, 0, bytes, size, length);
        size += length;
        return this;
    }

    void putInt(int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }

    /** Writes the length and content of another writer. */
    FrameWriter block(FrameWriter other) {
        number(other.size);
        return raw(other.bytes, other.size);
    }

    /** Discards everything after a position. */
    void truncate(int bytesKept) {
        size = bytesKept;
    }

    byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    private void reserve(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, bytes.length * 2));
        }
    }
}
