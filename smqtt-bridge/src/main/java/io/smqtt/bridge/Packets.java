// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The packets of a client that a bridge sends itself, and the framing of all packets. */
final class Packets {

    static final byte[] PINGREQ = {(byte) 0xc0, 0};
    static final byte[] DISCONNECT = {(byte) 0xe0, 0};

    /** The packet identifier of a bridge's own requests: the last one that a session takes for its messages. */
    static final int OWN_ID = 65_535;

    private Packets() {}

    /** The bytes of the packet at the reader index; -1 if its length is not complete. */
    static int length(ByteBuf bytes) {
        int start = bytes.readerIndex();
        int value = 0;
        for (int i = 0; i < 4; i++) {
            if (bytes.readableBytes() < i + 2) {
                return -1;
            }
            int next = bytes.getUnsignedByte(start + 1 + i);
            value |= (next & 0x7f) << 7 * i;
            if (next < 0x80) {
                return value + i + 2;
            }
        }
        throw new IllegalArgumentException("the length of a packet is malformed");
    }

    static int readVarInt(ByteBuf bytes) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            int next = bytes.readUnsignedByte();
            value |= (next & 0x7f) << 7 * i;
            if (next < 0x80) {
                return value;
            }
        }
        throw new IllegalArgumentException("a length is malformed");
    }

    static void writeVarInt(ByteBuf out, int value) {
        int rest = value;
        while (rest >= 0x80) {
            out.writeByte(rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        out.writeByte(rest);
    }

    static void writeText(ByteBuf out, String text) {
        out.writeShort(ByteBufUtil.utf8Bytes(text));
        out.writeCharSequence(text, StandardCharsets.UTF_8);
    }

    private static ByteBuf framed(ByteBufAllocator alloc, int header, ByteBuf body) {
        ByteBuf packet = alloc.buffer(body.readableBytes() + 5);
        packet.writeByte(header);
        writeVarInt(packet, body.readableBytes());
        packet.writeBytes(body);
        body.release();
        return packet;
    }

    /**
     * A CONNECT.
     *
     * @param level the byte of the protocol level: 4, 5, or 0x84 with the bridge bit
     * @param properties of MQTT 5.0, or null for another version
     */
    static ByteBuf connect(
            ByteBufAllocator alloc,
            int level,
            boolean clean,
            int keepAlive,
            @Nullable ByteBuf properties,
            String clientId,
            String user,
            byte @Nullable [] password) {
        ByteBuf body = alloc.buffer();
        writeText(body, "MQTT");
        body.writeByte(level);
        body.writeByte((clean ? 2 : 0) | (user.isEmpty() ? 0 : 0x80) | (password == null ? 0 : 0x40));
        body.writeShort(keepAlive);
        if (properties != null) {
            writeVarInt(body, properties.readableBytes());
            body.writeBytes(properties);
            properties.release();
        }
        writeText(body, clientId);
        if (!user.isEmpty()) {
            writeText(body, user);
        }
        if (password != null) {
            body.writeShort(password.length);
            body.writeBytes(password);
        }
        return framed(alloc, 0x10, body);
    }

    /** A SUBSCRIBE with one filter. */
    static ByteBuf subscribe(ByteBufAllocator alloc, boolean v5, int packetId, String filter, int options) {
        ByteBuf body = alloc.buffer();
        body.writeShort(packetId);
        if (v5) {
            body.writeByte(0);
        }
        writeText(body, filter);
        body.writeByte(options);
        return framed(alloc, 0x82, body);
    }
}
