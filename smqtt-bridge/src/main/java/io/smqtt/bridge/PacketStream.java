// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.smqtt.thread.OnEventLoop;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into MQTT packets. The work is linear in the number of bytes, in however small parts they come: what is not
 * complete is appended to, in a buffer that doubles.
 */
@OnEventLoop
final class PacketStream {

    private static final int FIRST_CAPACITY = 512;
    private static final int LARGEST = Integer.MAX_VALUE - 8;

    private @Nullable ByteBuf bytes;

    /** Whether {@link #bytes} is the buffer of this stream, of which nothing was read; else it is one that came. */
    private boolean own;

    /** Has the bytes of {@link #bytes}, and the indices of the last packet. */
    private @Nullable ByteBuf packet;

    private int toSkip;

    /** Takes bytes, with their reference. */
    void add(ByteBuf more) {
        ByteBuf kept = bytes;
        if (kept == null) {
            bytes = more;
            own = false;
            return;
        }
        int needed = kept.writerIndex() + more.readableBytes();
        if (needed > kept.capacity()) {
            kept.capacity((int) Math.min(LARGEST, Math.max(needed, 2L * kept.capacity())));
        }
        kept.writeBytes(more);
        more.release();
    }

    /** Whether no bytes are waiting. */
    boolean isEmpty() {
        return bytes == null || !bytes.isReadable();
    }

    /** The type of the next packet, of which there is at least a byte. */
    int type() {
        return bytes == null ? 0 : Packets.type(bytes);
    }

    /** The length of the next packet in bytes; -1 if it is not known yet. Throws an unchecked exception if it is malformed. */
    int length() {
        return bytes == null ? -1 : Packets.length(bytes);
    }

    /**
     * Cuts off the next packet.
     *
     * @param length its length, as {@link #length} says
     * @return the packet, until the next call; its indices are its bounds, and do not begin at 0. Null if it is not complete
     */
    @Nullable
    ByteBuf next(int length) {
        ByteBuf all = bytes;
        if (all == null || length < 0 || all.readableBytes() < length) {
            return null;
        }
        ByteBuf next = packet;
        if (next == null) {
            next = all.duplicate();
            packet = next;
        }
        int start = all.readerIndex();
        all.skipBytes(length);
        return next.setIndex(start, start + length);
    }

    /** Reads the begin of the next packet, of which there is at least a byte. */
    <T> @Nullable T read(Function<ByteBuf, @Nullable T> reader) {
        return bytes == null ? null : reader.apply(bytes);
    }

    /** Discards the next bytes, including those that have not come yet. */
    void skip(int count) {
        toSkip = count;
    }

    /** Whether bytes that are to be discarded have not come yet. */
    boolean skips() {
        if (toSkip > 0 && bytes != null) {
            int now = Math.min(toSkip, bytes.readableBytes());
            bytes.skipBytes(now);
            toSkip -= now;
        }
        return toSkip > 0;
    }

    /** Keeps what is not complete, in a buffer of its own. */
    void settle(ByteBufAllocator alloc) {
        ByteBuf all = bytes;
        if (all == null || own && all.readerIndex() == 0) {
            return;
        }
        bytes = null;
        packet = null;
        if (all.isReadable()) {
            bytes = alloc.buffer(Math.max(FIRST_CAPACITY, 2 * all.readableBytes()))
                    .writeBytes(all);
            own = true;
        }
        all.release();
    }

    /** Discards everything. */
    void clear() {
        if (bytes != null) {
            bytes.release();
            bytes = null;
            packet = null;
        }
        toSkip = 0;
    }
}
