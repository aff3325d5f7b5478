// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The payload of an application message. Immutable and thread-safe.
 *
 * <p>The payloads that applications create and receive are on the heap. They may be kept for any time, and have no reference count: {@link
 * #retain()} and {@link #release()} have no effect. While the broker delivers a large message to connected clients, its payload is read and
 * written in the network buffer in which it has arrived. Such a payload never leaves the broker: {@link #onHeap()} is what others get.
 */
public abstract sealed class Payload permits HeapPayload, NetworkPayload {

    /** The empty payload. */
    public static final Payload EMPTY = new HeapPayload(new byte[0]);

    Payload() {}

    /**
     * Creates a payload from a copy of an array.
     *
     * @param bytes the payload
     * @return a payload on the heap
     */
    public static Payload of(byte[] bytes) {
        return bytes.length == 0 ? EMPTY : new HeapPayload(bytes.clone());
    }

    /**
     * Creates a payload from a text.
     *
     * @param text the payload, as UTF-8
     * @return a payload on the heap
     */
    public static Payload of(String text) {
        return text.isEmpty() ? EMPTY : new HeapPayload(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Creates a payload from a copy of a part of a buffer. The indices of the buffer do not change.
     *
     * @param source the buffer
     * @param index where the payload begins
     * @param length its length in bytes
     * @return a payload on the heap
     */
    public static Payload copyOf(ByteBuf source, int index, int length) {
        if (length == 0) {
            return EMPTY;
        }
        byte[] bytes = new byte[length];
        source.getBytes(index, bytes);
        return new HeapPayload(bytes);
    }

    /**
     * Creates a payload from a copy of a part of an array.
     *
     * @param source the array
     * @param index where the payload begins
     * @param length its length in bytes
     * @return a payload on the heap
     * @throws IndexOutOfBoundsException if the part is not in the array
     */
    public static Payload copyOf(byte[] source, int index, int length) {
        Objects.checkFromIndexSize(index, length, source.length);
        return length == 0 ? EMPTY : new HeapPayload(Arrays.copyOfRange(source, index, index + length));
    }

    /**
     * The length.
     *
     * @return bytes
     */
    public abstract int size();

    /**
     * Whether the payload is empty.
     *
     * @return true for length 0
     */
    public final boolean isEmpty() {
        return size() == 0;
    }

    /**
     * Appends the bytes to a buffer.
     *
     * @param target the buffer to write to
     */
    public abstract void writeTo(ByteBuf target);

    /**
     * Copies the bytes into an array.
     *
     * @param target the array
     * @param index the index of the first byte
     * @throws IndexOutOfBoundsException if the array is too short
     */
    public abstract void copyTo(byte[] target, int index);

    /**
     * A view of the bytes.
     *
     * @return a read-only buffer
     */
    public abstract ByteBuffer asByteBuffer();

    /**
     * A copy of the bytes.
     *
     * @return a new array
     */
    public abstract byte[] toByteArray();

    /**
     * The payload as text.
     *
     * @return the bytes decoded as UTF-8, malformed input replaced
     */
    public abstract String asString();

    /**
     * Whether the bytes are well-formed UTF-8.
     *
     * @return true also for the empty payload
     */
    public abstract boolean isUtf8();

    // --- for the broker

    /**
     * Whether the payload is on the heap.
     *
     * @return true for each payload that an application sees
     */
    public boolean isOnHeap() {
        return true;
    }

    /**
     * This payload in a form that may be kept without a reference.
     *
     * @return this payload if it is on the heap, else a copy, which is made once
     * @throws IllegalStateException if the last reference was released before the first copy
     */
    public abstract Payload onHeap();

    /**
     * The bytes in the network buffer, to be written without a copy. The buffer counts against its limit until this slice is released.
     *
     * @return a buffer that the caller releases; null for a payload on the heap
     * @throws IllegalStateException if the last reference was released
     */
    public @Nullable ByteBuf retainedSlice() {
        return null;
    }

    /**
     * The memory that stays allocated with the bytes.
     *
     * @return bytes: the whole network buffer if the payload is in one, else {@link #size()}
     */
    public int heldBytes() {
        return size();
    }

    /**
     * Adds a reference. {@link #release()} must follow when the payload is no longer needed. Has no effect on the heap.
     *
     * @throws IllegalStateException if the last reference was released
     */
    public void retain() {}

    /** Releases a reference. Has no effect on the heap. */
    public void release() {}

    /** Shows only the length: payloads must not appear in logs. */
    @Override
    public final String toString() {
        return "Payload[" + size() + " bytes]";
    }
}
