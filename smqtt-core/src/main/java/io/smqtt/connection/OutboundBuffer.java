// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * The output of one connection during a pass of its event loop. Packets are encoded one behind the other into a pooled buffer that
 * is written to the socket at once. Holds no memory between passes.
 */
@OnEventLoop
final class OutboundBuffer {

    /** Size from which the buffer is written before the end of the pass. */
    private static final int FLUSH_BYTES = 64 * 1024;

    /** Size from which buffers by reference are written before the end of the pass. */
    private static final int GATHERED_BYTES = 512 * 1024;

    private static final int FIRST_CAPACITY = 512;

    private final ConnectionLoop loop;
    private final ChannelHandlerContext context;
    private @Nullable ByteBuf pending;
    private int usualBytes = FIRST_CAPACITY;
    private int unflushedBytes;
    private boolean dirty;
    private boolean closed;

    OutboundBuffer(ConnectionLoop loop, ChannelHandlerContext context) {
        this.loop = loop;
        this.context = context;
    }

    /** The buffer for the next, small packet; {@link #written()} must follow. */
    ByteBuf begin() {
        return begin(0);
    }

    /**
     * The buffer for the next packet; {@link #written()} must follow.
     *
     * @param expectedBytes the approximate length of the packet; the buffer is written first if the packet does not fit
     */
    ByteBuf begin(int expectedBytes) {
        ByteBuf buffer = pending;
        if (buffer != null && buffer.readableBytes() + expectedBytes > FLUSH_BYTES) {
            flush();
            buffer = pending;
        }
        if (buffer == null) {
            buffer = context.alloc().directBuffer(Math.max(usualBytes, expectedBytes));
            pending = buffer;
        }
        return buffer;
    }

    /** Ends a packet that was appended. */
    void written() {
        countPacket();
        ByteBuf buffer = pending;
        if (buffer != null && buffer.readableBytes() >= FLUSH_BYTES) {
            flush();
        } else if (!dirty) {
            dirty = true;
            loop.markDirty(this);
        }
    }

    /** Ends a packet with a buffer by reference, after the bytes encoded so far; takes over the caller's reference. */
    void append(ByteBuf large) {
        countPacket();
        writePending();
        if (closed) {
            large.release();
        } else {
            loop.traffic().bytesSent(large.readableBytes());
            unflushedBytes += large.readableBytes();
            context.write(large, context.voidPromise());
        }
        if (unflushedBytes >= mostGathered()) {
            flush();
        } else if (!dirty) {
            dirty = true;
            loop.markDirty(this);
        }
    }

    /** A socket that takes all must not look slow because of bytes that it was not offered. */
    private int mostGathered() {
        return Math.min(GATHERED_BYTES, context.channel().config().getWriteBufferHighWaterMark() / 2);
    }

    /** Whether the socket does not take the output as fast as it is written: more than one flush of it is waiting. */
    boolean isBehind() {
        ChannelOutboundBuffer waiting = context.channel().unsafe().outboundBuffer();
        return waiting != null && waiting.totalPendingWriteBytes() - unflushedBytes > FLUSH_BYTES;
    }

    /** Whether the socket has taken all output that was flushed. */
    boolean isWritten() {
        ChannelOutboundBuffer waiting = context.channel().unsafe().outboundBuffer();
        return waiting == null || waiting.totalPendingWriteBytes() == 0;
    }

    private void countPacket() {
        if (!closed) {
            loop.traffic().packetSent();
        }
    }

    /** Writes everything to the socket. */
    void flush() {
        dirty = false;
        unflushedBytes = 0;
        writePending();
        if (!closed) {
            context.flush();
        }
    }

    private void writePending() {
        ByteBuf buffer = pending;
        if (buffer == null) {
            return;
        }
        pending = null;
        if (closed) {
            buffer.release();
            return;
        }
        loop.traffic().bytesSent(buffer.readableBytes());
        usualBytes = Math.max(FIRST_CAPACITY, Math.min(FLUSH_BYTES, Integer.highestOneBit(buffer.readableBytes()) * 2));
        context.write(buffer, context.voidPromise());
    }

    /** Discards all later output: the connection has ended. */
    void close() {
        closed = true;
        if (pending != null) {
            pending.release();
            pending = null;
        }
    }
}
