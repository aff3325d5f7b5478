// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import org.jspecify.annotations.Nullable;

/** Writes single properties and computes their sizes (MQTT 5.0, section 2.2.2). A null text or array is an absent property. */
final class PropertyWriter {

    private static final int MAXIMUM_BYTES = 65_535;

    private PropertyWriter() {}

    static int size(@Nullable String text) {
        return text == null ? 0 : 3 + requireShort(ByteBufUtil.utf8Bytes(text));
    }

    static int size(byte @Nullable [] data) {
        return data == null ? 0 : 3 + requireShort(data.length);
    }

    static void writeByte(ByteBuf out, int identifier, int value) {
        out.writeByte(identifier);
        out.writeByte(value);
    }

    static void writeShort(ByteBuf out, int identifier, int value) {
        out.writeByte(identifier);
        out.writeShort(value);
    }

    static void writeInt(ByteBuf out, int identifier, long value) {
        out.writeByte(identifier);
        out.writeInt((int) value);
    }

    static void write(ByteBuf out, int identifier, @Nullable String text) {
        if (text != null) {
            out.writeByte(identifier);
            writeText(out, text);
        }
    }

    static void write(ByteBuf out, int identifier, byte @Nullable [] data) {
        if (data != null) {
            out.writeByte(identifier);
            out.writeShort(data.length);
            out.writeBytes(data);
        }
    }

    private static void writeText(ByteBuf out, String text) {
        out.writeShort(ByteBufUtil.utf8Bytes(text));
        ByteBufUtil.writeUtf8(out, text);
    }

    /** Whether a text fits in a property. */
    static boolean fits(String text) {
        return ByteBufUtil.utf8Bytes(text) <= MAXIMUM_BYTES;
    }

    private static int requireShort(int bytes) {
        if (bytes > MAXIMUM_BYTES) {
            throw new IllegalArgumentException("a property must not be longer than 65,535 bytes");
        }
        return bytes;
    }
}
