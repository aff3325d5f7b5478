// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * The payload of an application message: the sole owner of its bytes. They are copied once, out of the network buffer,
 * into an array that the garbage collector owns; whoever holds a message may keep it as long as it likes, and there is
 * no reference count to get wrong. Immutable and thread-safe.
 */
public final class Payload {

    /** The payload without bytes. */
    public static final Payload EMPTY = new Payload(new byte[0]);

    private final byte[] bytes;

    private Payload(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Copies an array.
     *
     * @param bytes the payload
     * @return a payload
     */
    public static Payload of(byte[] bytes) {
        return bytes.length == 0 ? EMPTY : new Payload(bytes.clone());
    }

    /**
     * Encodes a text.
     *
     * @param text the payload, as UTF-8
     * @return a payload
     */
    public static Payload of(String text) {
        return text.isEmpty() ? EMPTY : new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Copies a part of a network buffer. The buffer's indices stay as they are.
     *
     * @param source the buffer
     * @param index where the payload begins
     * @param length its length in bytes
     * @return a payload
     */
    public static Payload copyOf(ByteBuf source, int index, int length) {
        if (length == 0) {
            return EMPTY;
        }
        byte[] bytes = new byte[length];
        source.getBytes(index, bytes);
        return new Payload(bytes);
    }

    /**
     * Copies a part of an array.
     *
     * @param source the array
     * @param index where the payload begins
     * @param length its length in bytes
     * @return a payload
     * @throws IndexOutOfBoundsException if the part is not in the array
     */
    public static Payload copyOf(byte[] source, int index, int length) {
        Objects.checkFromIndexSize(index, length, source.length);
        return length == 0 ? EMPTY : new Payload(Arrays.copyOfRange(source, index, index + length));
    }

    /**
     * The length.
     *
     * @return bytes
     */
    public int size() {
        return bytes.length;
    }

    /**
     * Tells whether there are no bytes.
     *
     * @return true for length 0
     */
    public boolean isEmpty() {
        return bytes.length == 0;
    }

    /**
     * Appends the bytes to a buffer.
     *
     * @param target the buffer to write to
     */
    public void writeTo(ByteBuf target) {
        target.writeBytes(bytes);
    }

    /**
     * Copies the bytes into an array.
     *
     * @param target the array
     * @param index where the first byte goes
     * @throws IndexOutOfBoundsException if the array ends too early
     */
    public void copyTo(byte[] target, int index) {
        System.arraycopy(bytes, 0, target, index, bytes.length);
    }

    /**
     * A view of the bytes.
     *
     * @return a read-only buffer
     */
    public ByteBuffer asByteBuffer() {
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }

    /**
     * A copy of the bytes.
     *
     * @return a new array
     */
    public byte[] toByteArray() {
        return bytes.clone();
    }

    /**
     * The payload as text.
     *
     * @return the bytes decoded as UTF-8, malformed input replaced
     */
    public String asString() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof Payload payload && Arrays.equals(bytes, payload.bytes));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Names the length only: payloads do not belong in logs. */
    @Override
    public String toString() {
        return "Payload[" + bytes.length + " bytes]";
    }
}
