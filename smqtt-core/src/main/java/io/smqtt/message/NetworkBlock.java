// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.smqtt.thread.AnyThread;

/**
 * The bytes of a network buffer with payloads that are used in place. It has one reference for each user of a payload and for each slice that
 * waits for a socket; created with one. The last one releases the network buffer. The object is never reused, so that a payload without a
 * reference cannot read what came later.
 */
@AnyThread
final class NetworkBlock extends UnpooledDirectByteBuf {

    private final PayloadMemory memory;
    private final ByteBuf source;
    private final int memoryBytes;

    /**
     * Creates a block.
     *
     * @param memory has counted the bytes
     * @param source the network buffer, direct and in one piece; retained here
     * @param memoryBytes the memory that stays allocated with the buffer
     */
    NetworkBlock(PayloadMemory memory, ByteBuf source, int memoryBytes) {
        super(source.alloc(), source.nioBuffer(0, source.writerIndex()), source.writerIndex());
        this.memory = memory;
        this.source = source.retain();
        this.memoryBytes = memoryBytes;
    }

    /** Whether this is the block of a buffer, which the caller holds. */
    boolean isOf(ByteBuf other) {
        return source == other && refCnt() > 0;
    }

    /** The network buffer, for a caller with a reference. */
    ByteBuf source() {
        if (refCnt() <= 0) {
            throw new IllegalReferenceCountException("the payload's network buffer is released");
        }
        return source;
    }

    /** The memory that stays allocated with the buffer. */
    int memoryBytes() {
        return memoryBytes;
    }

    /** Adds a reference; returns false if the last one was released, which another event loop may do at any time. */
    boolean tryRetain() {
        try {
            retain();
            return true;
        } catch (IllegalReferenceCountException e) {
            return false;
        }
    }

    @Override
    public boolean hasMemoryAddress() {
        return source.hasMemoryAddress();
    }

    @Override
    public long memoryAddress() {
        return source().memoryAddress();
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        source.release();
        memory.release(memoryBytes);
    }
}
