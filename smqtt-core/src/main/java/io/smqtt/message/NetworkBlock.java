// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.AnyThread;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A network buffer with payloads that are used in place. It is released with the last reference to any of them. Created with one reference.
 * The object is never reused, so that a payload without a reference cannot read what came later.
 */
@AnyThread
final class NetworkBlock {

    private static final AtomicIntegerFieldUpdater<NetworkBlock> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(NetworkBlock.class, "references");

    private final PayloadMemory memory;
    private final ByteBuf buffer;
    private final int bytes;
    private volatile int references = 1;

    /**
     * Creates a block.
     *
     * @param memory has counted the bytes
     * @param buffer retained here
     * @param bytes the memory of the buffer
     */
    NetworkBlock(PayloadMemory memory, ByteBuf buffer, int bytes) {
        this.memory = memory;
        this.buffer = buffer.retain();
        this.bytes = bytes;
    }

    /** Whether this is the block of a buffer, which the caller holds. */
    boolean isOf(ByteBuf other) {
        return buffer == other && references > 0;
    }

    /** The buffer, for a caller with a reference. */
    ByteBuf buffer() {
        if (references <= 0) {
            throw released();
        }
        return buffer;
    }

    void retain() {
        if (!tryRetain()) {
            throw released();
        }
    }

    /** Adds a reference; returns false if the last one was released. */
    boolean tryRetain() {
        int now = references;
        while (now > 0) {
            if (REFERENCES.compareAndSet(this, now, now + 1)) {
                return true;
            }
            now = references;
        }
        return false;
    }

    void release() {
        int left = REFERENCES.decrementAndGet(this);
        if (left == 0) {
            buffer.release();
            memory.release(bytes);
        } else if (left < 0) {
            throw released();
        }
    }

    private static IllegalStateException released() {
        return new IllegalStateException("the payload's network buffer is released");
    }
}
