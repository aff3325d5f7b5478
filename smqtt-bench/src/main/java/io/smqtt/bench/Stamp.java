// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The first 16 bytes of every payload: the due time of the message (nanoseconds since the epoch, so that another process on the same
 * machine can read it), a mark, the publisher's number, the message's number. A payload in JSON has them as hexadecimal digits, in its first
 * member.
 */
final class Stamp {

    static final int BYTES = 16;

    /** Identifies payloads of this tool; the upper byte of the publisher's field. */
    static final int MARK = 0xB5;

    /** The upper limit of publisher numbers, exclusive. */
    static final int MAX_PUBLISHERS = 1 << 24;

    /** The first bytes of a payload in JSON, before the digits. No stamp begins like this: its time would be in the year 2250. */
    static final String JSON_HEAD = "{\"stamp\":\"";

    private static final int DIGITS = 2 * BYTES;
    private static final int JSON_BYTES = JSON_HEAD.length() + DIGITS;
    private static final String JSON_NUMBER = "\",\"t\":";
    private static final String JSON_FILLER = ",\"pad\":\"";
    private static final String JSON_END = "\"}";

    /** The size of the smallest payload in JSON without the digits of its number {@code t}. */
    static final int LEAST_JSON_BYTES = JSON_BYTES + JSON_NUMBER.length() + JSON_FILLER.length() + JSON_END.length();

    private static final long EPOCH_MINUS_NANO_TIME = System.currentTimeMillis() * 1_000_000L - System.nanoTime();

    private Stamp() {}

    static void write(ByteBuf out, int index, long sentNanos, int publisher, int sequence) {
        if (isJson(out, index)) {
            int at = index + JSON_HEAD.length();
            writeDigits(out, at, sentNanos + EPOCH_MINUS_NANO_TIME, 16);
            writeDigits(out, at + 16, MARK << 24 | publisher, 8);
            writeDigits(out, at + 24, sequence, 8);
        } else {
            out.setLong(index, sentNanos + EPOCH_MINUS_NANO_TIME);
            out.setInt(index + 8, MARK << 24 | publisher);
            out.setInt(index + 12, sequence);
        }
    }

    /** A payload in JSON with room for a stamp, the member {@code t} and a filler; at least {@link #LEAST_JSON_BYTES} and those of {@code t}. */
    static byte[] json(int bytes, String t) {
        String head = JSON_HEAD + "0".repeat(DIGITS) + JSON_NUMBER + t + JSON_FILLER;
        String filler = "x".repeat(bytes - head.length() - JSON_END.length());
        return (head + filler + JSON_END).getBytes(StandardCharsets.UTF_8);
    }

    private static boolean isJson(ByteBuf in, int index) {
        return in.getByte(index) == '{';
    }

    /** The number of bytes from the start of a payload to the end of its stamp, if {@code in} has a first byte. */
    static int bytes(ByteBuf in, int index) {
        return isJson(in, index) ? JSON_BYTES : BYTES;
    }

    static boolean isAt(ByteBuf in, int index, int bytes) {
        if (bytes < BYTES) {
            return false;
        }
        return isJson(in, index)
                ? bytes >= JSON_BYTES && digits(in, index, 16, 2) == MARK
                : in.getUnsignedByte(index + 8) == MARK;
    }

    /** The due time in this process's {@link System#nanoTime()}. */
    static long sentNanos(ByteBuf in, int index) {
        return (isJson(in, index) ? digits(in, index, 0, 16) : in.getLong(index)) - EPOCH_MINUS_NANO_TIME;
    }

    static int publisher(ByteBuf in, int index) {
        int field = isJson(in, index) ? (int) digits(in, index, 16, 8) : in.getInt(index + 8);
        return field & MAX_PUBLISHERS - 1;
    }

    static int sequence(ByteBuf in, int index) {
        return isJson(in, index) ? (int) digits(in, index, 24, 8) : in.getInt(index + 12);
    }

    private static void writeDigits(ByteBuf out, int at, long value, int count) {
        long rest = value;
        for (int i = at + count - 1; i >= at; i--) {
            out.setByte(i, Character.forDigit((int) (rest & 15), 16));
            rest >>>= 4;
        }
    }

    /** Digits of the stamp of a payload in JSON; other characters count as anything. */
    private static long digits(ByteBuf in, int index, int first, int count) {
        long value = 0;
        int from = index + JSON_HEAD.length() + first;
        for (int i = from; i < from + count; i++) {
            value = value << 4 | Character.digit(in.getByte(i), 16) & 15;
        }
        return value;
    }
}
