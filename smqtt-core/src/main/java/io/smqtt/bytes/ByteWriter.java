// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bytes;

import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes bytes, numbers, and blocks with their length into an array that grows. Fixed-size numbers are big endian. For one thread. */
public final class ByteWriter {

    private byte[] bytes;
    private int size;

    /**
     * Creates an empty writer.
     *
     * @param capacity bytes of its first array, at least 1
     */
    public ByteWriter(int capacity) {
        bytes = new byte[capacity];
    }

    /**
     * The number of bytes written.
     *
     * @return bytes
     */
    public int size() {
        return size;
    }

    /**
     * Discards everything.
     *
     * @return this
     */
    public ByteWriter clear() {
        size = 0;
        return this;
    }

    /**
     * Discards everything after a position.
     *
     * @param bytesKept the position, at most {@link #size}
     */
    public void truncate(int bytesKept) {
        size = bytesKept;
    }

    /**
     * Writes one byte.
     *
     * @param value its low eight bits are written
     * @return this
     */
    public ByteWriter u8(int value) {
        reserve(1);
        bytes[size++] = (byte) value;
        return this;
    }

    /**
     * Writes four bytes.
     *
     * @param value any
     * @return this
     */
    public ByteWriter i32(int value) {
        reserve(4);
        putInt(size, value);
        size += 4;
        return this;
    }

    /**
     * Writes eight bytes.
     *
     * @param value any
     * @return this
     */
    public ByteWriter i64(long value) {
        return i32((int) (value >>> 32)).i32((int) value);
    }

    /**
     * Writes a number that is usually small: seven bits per byte, the lowest first. Negative numbers take ten bytes.
     *
     * @param value any
     * @return this
     */
    public ByteWriter number(long value) {
        reserve(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[size++] = (byte) (rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
        return this;
    }

    /**
     * Writes a number that is usually near 0, on either side.
     *
     * @param value any
     * @return this
     */
    public ByteWriter signed(long value) {
        return number(value << 1 ^ value >> 63);
    }

    /**
     * Writes a string as a block of UTF-8.
     *
     * @param text the string
     * @return this
     */
    public ByteWriter text(String text) {
        return block(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Writes a length, then the bytes.
     *
     * @param block the bytes
     * @return this
     */
    public ByteWriter block(byte[] block) {
        number(block.length);
        return raw(block, block.length);
    }

    /**
     * Writes a payload as a block.
     *
     * @param payload the payload
     * @return this
     */
    public ByteWriter block(Payload payload) {
        int length = payload.size();
        number(length);
        reserve(length);
        payload.copyTo(bytes, size);
        size += length;
        return this;
    }

    /**
     * Writes encoded properties as a block.
     *
     * @param properties the properties
     * @return this
     */
    public ByteWriter block(PublishProperties properties) {
        int length = properties.encodedBytes();
        number(length);
        reserve(length);
        properties.copyTo(bytes, size);
        size += length;
        return this;
    }

    /**
     * Writes the content of another writer as a block.
     *
     * @param other the other writer
     * @return this
     */
    public ByteWriter block(ByteWriter other) {
        number(other.size);
        return raw(other.bytes, other.size);
    }

    /**
     * Writes bytes without their length.
     *
     * @param source the bytes
     * @param length how many of them
     * @return this
     */
    public ByteWriter raw(byte[] source, int length) {
        reserve(length);
        System.arraycopy(source, 0, bytes, size, length);
        size += length;
        return this;
    }

    /**
     * Replaces four bytes.
     *
     * @param at the position of the first one, written before
     * @param value any
     */
    public void putInt(int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }

    /**
     * A copy of what was written.
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        return Arrays.copyOf(bytes, size);
    }

    /**
     * The number of bytes that {@link #number} writes.
     *
     * @param value the number
     * @return 1 to 10
     */
    public static int numberBytes(long value) {
        return value == 0 ? 1 : (Long.SIZE - Long.numberOfLeadingZeros(value) + 6) / 7;
    }

    /**
     * The size of a block, including its length.
     *
     * @param length the bytes of its content
     * @return bytes
     */
    public static int blockBytes(int length) {
        return numberBytes(length) + length;
    }

    private void reserve(int more) {
        if (size + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(size + more, bytes.length * 2));
        }
    }
}
