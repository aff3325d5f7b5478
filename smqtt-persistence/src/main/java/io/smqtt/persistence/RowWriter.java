// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import java.nio.charset.StandardCharsets;

/** Encodes a row: bytes, numbers of variable length, and length-prefixed byte strings. One thread. */
final class RowWriter {

    private final ByteBuf row = Unpooled.buffer(512); // on the heap, never released

    RowWriter clear() {
        row.clear();
        return this;
    }

    RowWriter putByte(int value) {
        row.writeByte(value);
        return this;
    }

    /** Seven bits per byte, the low ones first; negative numbers take ten bytes. */
    RowWriter putNumber(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            row.writeByte((int) (rest & 0x7F | 0x80));
            rest >>>= 7;
        }
        row.writeByte((int) rest);
        return this;
    }

    /** Eight bytes. */
    RowWriter putLong(long value) {
        row.writeLong(value);
        return this;
    }

    /** Small numbers are short, negative ones too. */
    RowWriter putSigned(long value) {
        return putNumber(value << 1 ^ value >> 63);
    }

    RowWriter putText(String text) {
        return putBytes(text.getBytes(StandardCharsets.UTF_8));
    }

    RowWriter putBytes(byte[] bytes) {
        putNumber(bytes.length);
        row.writeBytes(bytes);
        return this;
    }

    RowWriter putPayload(Payload payload) {
        putNumber(payload.size());
        payload.writeTo(row);
        return this;
    }

    RowWriter putProperties(PublishProperties properties) {
        putNumber(properties.encodedBytes());
        properties.writeTo(row);
        return this;
    }

    int size() {
        return row.writerIndex();
    }

    byte[] toByteArray() {
        byte[] bytes = new byte[row.writerIndex()];
        row.getBytes(0, bytes);
        return bytes;
    }
}
