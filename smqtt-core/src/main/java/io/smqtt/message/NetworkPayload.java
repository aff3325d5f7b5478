// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A payload in the network buffer in which it has arrived. Its references are those of the {@link NetworkBlock}. Whatever might outlive them
 * uses a copy on the heap.
 */
final class NetworkPayload extends Payload {

    private final NetworkBlock block;
    private final int index;
    private final int size;
    private volatile @Nullable Payload copy;
    private volatile @Nullable Twin twin;

    /** A message with this payload, and the same one with the copy. */
    private record Twin(ApplicationMessage message, ApplicationMessage onHeap) {}

    NetworkPayload(NetworkBlock block, int index, int size) {
        this.block = block;
        this.index = index;
        this.size = size;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public void writeTo(ByteBuf target) {
        target.writeBytes(block.source(), index, size);
    }

    @Override
    public void copyTo(byte[] target, int at) {
        block.source().getBytes(index, target, at, size);
    }

    @Override
    public ByteBuffer asByteBuffer() {
        return onHeap().asByteBuffer();
    }

    @Override
    public byte[] toByteArray() {
        return onHeap().toByteArray();
    }

    @Override
    public String asString() {
        return onHeap().asString();
    }

    @Override
    public boolean isUtf8() {
        return ByteBufUtil.isText(block.source(), index, size, StandardCharsets.UTF_8);
    }

    @Override
    public boolean isOnHeap() {
        return false;
    }

    @Override
    public Payload onHeap() {
        Payload made = copy;
        if (made == null) {
            made = copyOf(block.source(), index, size);
            copy = made;
        }
        return made;
    }

    /** A message with this payload, on the heap. */
    ApplicationMessage onHeap(ApplicationMessage message) {
        Twin made = twin;
        if (made == null || made.message != message) {
            made = new Twin(message, message.withPayload(onHeap()));
            twin = made;
        }
        return made.onHeap;
    }

    @Override
    public ByteBuf retainedSlice() {
        return block.retainedSlice(index, size);
    }

    @Override
    public int heldBytes() {
        return block.memoryBytes();
    }

    @Override
    public void retain() {
        block.retain();
    }

    @Override
    public void release() {
        block.release();
    }

    @Override
    public boolean equals(Object other) {
        return this == other || (other instanceof Payload && onHeap().equals(other));
    }

    @Override
    public int hashCode() {
        return onHeap().hashCode();
    }
}
