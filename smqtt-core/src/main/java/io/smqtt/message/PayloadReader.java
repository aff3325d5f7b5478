// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Takes payloads out of the network buffers of one event loop: small ones by a copy to the heap, large ones in place. Successive payloads in
 * one buffer share its block.
 */
@OnEventLoop
public final class PayloadReader {

    /** Size from which a payload is used in place: below, the copy is cheaper. */
    public static final int IN_PLACE_BYTES = 4 * 1024;

    /** Maximum size of a read from a socket. */
    public static final int USUAL_READ_BYTES = 64 * 1024;

    /** Maximum size of a read from a socket on which large payloads arrive: fewer reads, writes and packets that two reads have cut. */
    public static final int LARGEST_READ_BYTES = 512 * 1024;

    /** Memory of which a smaller part holds received bytes is not kept for its payloads. */
    private static final int FILLED = 4;

    private final PayloadMemory memory;
    private @Nullable NetworkBlock last;

    /**
     * Creates a reader.
     *
     * @param memory counts the buffers that are used in place
     */
    public PayloadReader(PayloadMemory memory) {
        this.memory = memory;
    }

    /**
     * Takes a payload.
     *
     * @param source the buffer; it is not written to while others have a reference to it
     * @param index where the payload begins
     * @param length its length in bytes
     * @return a payload with one reference, to be released by the caller
     */
    public Payload read(ByteBuf source, int index, int length) {
        if (length >= IN_PLACE_BYTES && source.isDirect() && source.nioBufferCount() == 1) {
            NetworkBlock block = block(source);
            if (block != null) {
                return new NetworkPayload(block, index, length);
            }
        }
        return Payload.copyOf(source, index, length);
    }

    /**
     * The maximum size of the next read from a socket. Large reads stop when half of the memory is in use, because a buffer is in use as long
     * as any payload in it.
     *
     * @param payloadBytes the size of the last payload
     * @return bytes
     */
    public int largestRead(int payloadBytes) {
        return payloadBytes >= IN_PLACE_BYTES && memory.isHalfFree() ? LARGEST_READ_BYTES : USUAL_READ_BYTES;
    }

    /**
     * Allocates a buffer for received bytes. Large ones may be in use until their payloads are acknowledged, and may be released by any event
     * loop. They come from an allocator with an arena per event loop, which uses released memory again; the default one would clear new memory
     * for most of them.
     *
     * @param usual the allocator of small buffers
     * @param bytes the capacity
     * @return a new buffer, direct if the allocator prefers it or if it is large
     */
    public static ByteBuf buffer(ByteBufAllocator usual, int bytes) {
        return bytes < IN_PLACE_BYTES ? usual.ioBuffer(bytes) : PooledByteBufAllocator.DEFAULT.directBuffer(bytes);
    }

    /** The block of a buffer, with a reference for the caller; null if the payload is better copied. */
    private @Nullable NetworkBlock block(ByteBuf source) {
        NetworkBlock present = last;
        if (present != null && present.isOf(source) && present.tryRetain()) {
            return present;
        }
        int size = memoryOf(source);
        if (source.writerIndex() < size / FILLED || !memory.reserve(size)) {
            return null;
        }
        NetworkBlock created = new NetworkBlock(memory, source, size);
        last = created;
        return created;
    }

    /** The memory that stays allocated with a buffer: that of the whole buffer if it is a slice, as from a WebSocket frame. */
    private static int memoryOf(ByteBuf source) {
        ByteBuf whole = source;
        for (ByteBuf around = source.unwrap(); around != null; around = around.unwrap()) {
            whole = around;
        }
        return whole.writerIndex() + whole.maxFastWritableBytes();
    }
}
