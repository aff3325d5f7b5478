// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The packets of a client that a bridge sends itself, and the framing of all packets. */
final class Packets {

    static final int CONNACK = 2;
    static final int PUBLISH = 3;
    static final int PUBACK = 4;
    static final int PUBREC = 5;
    static final int PUBREL = 6;
    static final int PUBCOMP = 7;
    static final int SUBACK = 9;
    static final int UNSUBACK = 11;
    static final int PINGRESP = 13;
    static final int DISCONNECT_TYPE = 14;

    /** Property identifiers of PUBLISH. */
    static final int USER_PROPERTY = 0x26;

    private static final int MESSAGE_EXPIRY_INTERVAL = 0x02;

    static final byte[] PINGREQ = {(byte) 0xc0, 0};
    static final byte[] DISCONNECT = {(byte) 0xe0, 0};

    /** Will flag, QoS 1, Will Retain. */
    private static final int RETAINED_WILL = 4 | 1 << 3 | 1 << 5;

    /** The largest packet identifier. */
    static final int LARGEST_ID = 65_535;

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

    static int varIntBytes(int value) {
        return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : 4;
    }

    /** The type of the packet at the reader index. */
    static int type(ByteBuf packet) {
        return packet.getUnsignedByte(packet.readerIndex()) >> 4;
    }

    /** Skips the fixed header. */
    static void body(ByteBuf packet) {
        packet.skipBytes(1);
        readVarInt(packet);
    }

    static int qos(ByteBuf publish) {
        return publish.getUnsignedByte(publish.readerIndex()) >> 1 & 3;
    }

    static boolean isRepeated(ByteBuf publish) {
        return (publish.getByte(publish.readerIndex()) & 8) != 0;
    }

    /** Takes the mark of a repetition from a PUBLISH. */
    static void asFirst(ByteBuf packets, int at) {
        packets.setByte(at, packets.getByte(at) & ~8);
    }

    /** The reason code of a whole DISCONNECT; 0 if it has none. */
    static int reasonOfDisconnect(ByteBuf packet) {
        body(packet);
        return packet.isReadable() ? packet.readUnsignedByte() : 0;
    }

    /** The index of the Message Expiry Interval in a PUBLISH of MQTT 5.0; -1 if it has none. */
    static int expiryAt(ByteBuf publish) {
        ByteBuf in = publish.duplicate();
        body(in);
        in.skipBytes(in.readUnsignedShort());
        in.skipBytes(qos(publish) == 0 ? 0 : 2);
        int length = readVarInt(in);
        int end = in.readerIndex() + length;
        while (in.readerIndex() < end) {
            int id = in.readUnsignedByte();
            if (id == MESSAGE_EXPIRY_INTERVAL) {
                return in.readerIndex();
            }
            skipProperty(in, id);
        }
        return -1;
    }

    /** Skips the value of a property of a PUBLISH. */
    static void skipProperty(ByteBuf in, int id) {
        switch (id) {
            case 0x01 -> in.skipBytes(1);
            case MESSAGE_EXPIRY_INTERVAL -> in.skipBytes(4);
            case 0x03, 0x08, 0x09 -> in.skipBytes(in.readUnsignedShort());
            case 0x0b -> readVarInt(in);
            case 0x23 -> in.skipBytes(2);
            case USER_PROPERTY -> {
                in.skipBytes(in.readUnsignedShort());
                in.skipBytes(in.readUnsignedShort());
            }
            default -> throw new IllegalArgumentException("an unknown property in PUBLISH");
        }
    }

    /** Whether a packet answers a PUBLISH: PUBACK or PUBREC. */
    static boolean isAnswerToPublish(ByteBuf packet) {
        int type = type(packet);
        return type == PUBACK || type == PUBREC;
    }

    static boolean isRetainedQos0(ByteBuf publish) {
        return (publish.getByte(publish.readerIndex()) & 0x0f) == 1;
    }

    /** The payload of a PUBLISH of MQTT 5.0 with QoS 0, as text. */
    static String payload(ByteBuf publish) {
        ByteBuf in = publish.duplicate();
        body(in);
        in.skipBytes(in.readUnsignedShort());
        in.skipBytes(readVarInt(in));
        return in.toString(StandardCharsets.UTF_8);
    }

    static String topic(ByteBuf publish) {
        ByteBuf in = publish.duplicate();
        body(in);
        return in.readCharSequence(in.readUnsignedShort(), StandardCharsets.UTF_8)
                .toString();
    }

    /** The packet identifier of a PUBLISH above QoS 0, whose topic is complete. */
    static int packetId(ByteBuf publish) {
        int at = publish.readerIndex() + 1;
        while ((publish.getByte(at) & 0x80) != 0) {
            at++;
        }
        int topicAt = at + 1;
        return publish.getUnsignedShort(topicAt + 2 + publish.getUnsignedShort(topicAt));
    }

    /**
     * Writes an acknowledgement.
     *
     * @param type PUBACK, PUBREC, PUBREL or PUBCOMP
     * @param reason the reason code; 0 is left out, as in MQTT 3.1.1
     */
    static void acknowledge(ByteBuf out, int type, int packetId, int reason) {
        out.writeByte(type << 4 | (type == PUBREL ? 2 : 0))
                .writeByte(reason == 0 ? 2 : 3)
                .writeShort(packetId);
        if (reason != 0) {
            out.writeByte(reason);
        }
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
     * @param stateTopic the topic of a retained will, by which the other broker publishes the end of the connection; null for none
     */
    static ByteBuf connect(
            ByteBufAllocator alloc,
            int level,
            boolean clean,
            int keepAlive,
            @Nullable ByteBuf properties,
            String clientId,
            @Nullable String stateTopic,
            String user,
            byte @Nullable [] password) {
        ByteBuf body = alloc.buffer();
        writeText(body, "MQTT");
        body.writeByte(level);
        body.writeByte((clean ? 2 : 0)
                | (stateTopic == null ? 0 : RETAINED_WILL)
                | (user.isEmpty() ? 0 : 0x80)
                | (password == null ? 0 : 0x40));
        body.writeShort(keepAlive);
        if (properties != null) {
            writeVarInt(body, properties.readableBytes());
            body.writeBytes(properties);
            properties.release();
        }
        writeText(body, clientId);
        if (stateTopic != null) {
            if (properties != null) {
                body.writeByte(0);
            }
            writeText(body, stateTopic);
            body.writeShort(StateTopic.DISCONNECTED.length).writeBytes(StateTopic.DISCONNECTED);
        }
        if (!user.isEmpty()) {
            writeText(body, user);
        }
        if (password != null) {
            body.writeShort(password.length);
            body.writeBytes(password);
        }
        return framed(alloc, 0x10, body);
    }

    /** Writes the retained message that the bridge is, or is not, connected, with QoS 0. */
    static void publishState(ByteBuf out, boolean v5, String topic, byte[] state) {
        out.writeByte(PUBLISH << 4 | 1);
        writeVarInt(out, 2 + ByteBufUtil.utf8Bytes(topic) + (v5 ? 1 : 0) + state.length);
        writeText(out, topic);
        if (v5) {
            out.writeByte(0);
        }
        out.writeBytes(state);
    }

    /** Writes a SUBSCRIBE with one filter. */
    static void subscribe(ByteBuf out, boolean v5, int packetId, String filter, int options) {
        out.writeByte(0x82);
        writeVarInt(out, 2 + (v5 ? 1 : 0) + 2 + ByteBufUtil.utf8Bytes(filter) + 1);
        out.writeShort(packetId);
        if (v5) {
            out.writeByte(0);
        }
        writeText(out, filter);
        out.writeByte(options);
    }

    /** Writes an UNSUBSCRIBE with one filter. */
    static void unsubscribe(ByteBuf out, boolean v5, int packetId, String filter) {
        out.writeByte(0xa2);
        writeVarInt(out, 2 + (v5 ? 1 : 0) + 2 + ByteBufUtil.utf8Bytes(filter));
        out.writeShort(packetId);
        if (v5) {
            out.writeByte(0);
        }
        writeText(out, filter);
    }
}
