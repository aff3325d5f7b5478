// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;

/**
 * The first 16 bytes of every payload: the due time of the message (nanoseconds since the epoch, so that another process on the same
 * machine can read it), a mark, the publisher's number, the message's number.
 */
final class Stamp {

    static final int BYTES = 16;

    /** Identifies payloads of this tool; the upper byte of the publisher's field. */
    static final int MARK = 0xB5;

    /** The upper limit of publisher numbers, exclusive. */
    static final int MAX_PUBLISHERS = 1 << 24;

    private static final long EPOCH_MINUS_NANO_TIME = System.currentTimeMillis() * 1_000_000L - System.nanoTime();

    private Stamp() {}

    static void write(ByteBuf out, int index, long sentNanos, int publisher, int sequence) {
        out.setLong(index, sentNanos + EPOCH_MINUS_NANO_TIME);
        out.setInt(index + 8, MARK << 24 | publisher);
        out.setInt(index + 12, sequence);
    }

    static boolean isAt(ByteBuf in, int index, int bytes) {
        return bytes >= BYTES && in.getUnsignedByte(index + 8) == MARK;
    }

    /** The due time in this process's {@link System#nanoTime()}. */
    static long sentNanos(ByteBuf in, int index) {
        return in.getLong(index) - EPOCH_MINUS_NANO_TIME;
    }

    static int publisher(ByteBuf in, int index) {
        return in.getInt(index + 8) & MAX_PUBLISHERS - 1;
    }

    static int sequence(ByteBuf in, int index) {
        return in.getInt(index + 12);
    }
}
