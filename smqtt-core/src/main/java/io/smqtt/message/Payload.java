// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/**
 * The payload of an application message. The bytes are copied once, out of the network buffer, into an array on the heap. A message may be kept for
 * any time; there is no reference count. Immutable and thread-safe.
 */
public final class Payload {

    /** The empty payload. */
    public static final Payload EMPTY = new Payload(new byte[0]);

    private final byte[] bytes;

    private Payload(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Creates a payload from a copy of an array.
     *
     * @param bytes the payload
     * @return a payload
     */
    public static Payload of(byte[] bytes) {
        return bytes.length == 0 ? EMPTY : new Payload(bytes.clone());
    }

    /**
     * Creates a payload from a text.
     *
     * @param text the payload, as UTF-8
     * @return a payload
     */
    public static Payload of(String text) {
        return text.isEmpty() ? EMPTY : new Payload(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Creates a payload from a copy of a part of a buffer. The indices of the buffer do not change.
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
     * Creates a payload from a copy of a part of an array.
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
     * Whether the payload is empty.
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
     * @param index the index of the first byte
     * @throws IndexOutOfBoundsException if the array is too short
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

    /** Shows only the length: payloads must not appear in logs. */
    @Override
    public String toString() {
        return "Payload[" + bytes.length + " bytes]";
    }
}
