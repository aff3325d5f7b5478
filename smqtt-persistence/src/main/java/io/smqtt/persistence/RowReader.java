// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.netty.buffer.Unpooled;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Decodes a row. Throws {@link DamagedRowException} if {@link RowWriter} cannot have written it. */
final class RowReader {

    private final byte[] row;
    private int at;

    RowReader(byte[] row) {
        this.row = row;
    }

    int readByte() {
        require(1);
        return row[at++] & 0xFF;
    }

    long readNumber() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = readByte();
            value |= (long) (next & 0x7F) << shift;
            if (next < 0x80) {
                return value;
            }
        }
        throw new DamagedRowException("a number is too long");
    }

    /** Reads eight bytes. */
    long readLong() {
        require(Long.BYTES);
        long value = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            value = value << 8 | row[at++] & 0xFF;
        }
        return value;
    }

    long readSigned() {
        long value = readNumber();
        return value >>> 1 ^ -(value & 1);
    }

    int readInt() {
        long value = readNumber();
        if (value < 0 || value > Integer.MAX_VALUE) {
            throw new DamagedRowException("a number is too large");
        }
        return (int) value;
    }

    String readText() {
        int length = readLength();
        String text = new String(row, at, length, StandardCharsets.UTF_8);
        at += length;
        return text;
    }

    byte[] readBytes() {
        int length = readLength();
        byte[] bytes = Arrays.copyOfRange(row, at, at + length);
        at += length;
        return bytes;
    }

    Payload readPayload() {
        int length = readLength();
        Payload payload = Payload.copyOf(Unpooled.wrappedBuffer(row), at, length);
        at += length;
        return payload;
    }

    PublishProperties readProperties() {
        return PublishProperties.ofEncoded(readBytes());
    }

    /** Rows of this program begin with the number of their format. */
    void requireVersion(int version) {
        int found = readByte();
        if (found != version) {
            throw new DamagedRowException("a row has format " + found + ", expected " + version);
        }
    }

    /** Returns the number of the format, which must be one of two. */
    int requireVersion(int one, int other) {
        int found = readByte();
        if (found != one && found != other) {
            throw new DamagedRowException("a row has format " + found + ", expected " + one + " or " + other);
        }
        return found;
    }

    /** Whether the next byte has this value. */
    boolean startsWith(int value) {
        return hasMore() && (row[at] & 0xFF) == value;
    }

    boolean hasMore() {
        return at < row.length;
    }

    void requireEnd() {
        if (at != row.length) {
            throw new DamagedRowException("a row is " + (row.length - at) + " bytes too long");
        }
    }

    private int readLength() {
        int length = readInt();
        require(length);
        return length;
    }

    private void require(int bytes) {
        if (bytes > row.length - at) {
            throw new DamagedRowException("a row ends too early");
        }
    }
}
