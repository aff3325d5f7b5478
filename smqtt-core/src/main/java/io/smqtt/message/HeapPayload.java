// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A payload in an array of its own. */
final class HeapPayload extends Payload {

    private final byte[] bytes;

    HeapPayload(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public int size() {
        return bytes.length;
    }

    @Override
    public void writeTo(ByteBuf target) {
        target.writeBytes(bytes);
    }

    @Override
    public void copyTo(byte[] target, int index) {
        System.arraycopy(bytes, 0, target, index, bytes.length);
    }

    @Override
    public ByteBuffer asByteBuffer() {
        return ByteBuffer.wrap(bytes).asReadOnlyBuffer();
    }

    @Override
    public byte[] toByteArray() {
        return bytes.clone();
    }

    @Override
    public String asString() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Override
    public boolean isUtf8() {
        return ByteBufUtil.isText(Unpooled.wrappedBuffer(bytes), 0, bytes.length, StandardCharsets.UTF_8);
    }

    @Override
    public Payload onHeap() {
        return this;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof Payload payload
                        && payload.size() == bytes.length
                        && payload.onHeap() instanceof HeapPayload heap
                        && Arrays.equals(bytes, heap.bytes));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }
}
