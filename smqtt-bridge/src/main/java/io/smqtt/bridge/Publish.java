// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** PUBLISH packets on their way from one broker to the other. */
final class Publish {

    private static final int RETAIN = 1;

    private Publish() {}

    /** Names of topics at the other side. */
    @FunctionalInterface
    interface Names {

        /** The name of a topic; null if it is not forwarded. */
        @Nullable
        String of(String topic);
    }

    /**
     * Writes a packet with another topic, in another version. Properties go along where both versions have them. The packet's indices stay.
     *
     * @param packet a whole packet
     * @param fromV5 whether it is of MQTT 5.0
     * @param toV5 whether the other one is
     * @param names the new topic
     * @param retain whether the retain flag is kept
     * @param out takes the packet
     * @return false if the topic is not forwarded; nothing was written
     */
    static boolean pass(ByteBuf packet, boolean fromV5, boolean toV5, Names names, boolean retain, ByteBuf out) {
        ByteBuf in = packet.duplicate();
        int header = in.readUnsignedByte();
        Packets.readVarInt(in);
        String topic = in.readCharSequence(in.readUnsignedShort(), StandardCharsets.UTF_8)
                .toString();
        String mapped = names.of(topic);
        if (mapped == null) {
            return false;
        }
        boolean hasId = (header >> 1 & 3) > 0;
        int id = hasId ? in.readUnsignedShort() : 0;
        int propertyBytes = fromV5 ? Packets.readVarInt(in) : 0;
        ByteBuf properties = in.readSlice(propertyBytes);
        int topicBytes = ByteBufUtil.utf8Bytes(mapped);
        int length = 2 + topicBytes + (hasId ? 2 : 0) + in.readableBytes();
        if (toV5) {
            length += variableBytes(propertyBytes) + propertyBytes;
        }
        out.writeByte(retain ? header : header & ~RETAIN);
        Packets.writeVarInt(out, length);
        out.writeShort(topicBytes);
        ByteBufUtil.writeUtf8(out, mapped);
        if (hasId) {
            out.writeShort(id);
        }
        if (toV5) {
            Packets.writeVarInt(out, propertyBytes);
            out.writeBytes(properties);
        }
        out.writeBytes(in);
        return true;
    }

    private static int variableBytes(int value) {
        return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : 4;
    }

    static int qos(ByteBuf packet) {
        return packet.getUnsignedByte(packet.readerIndex()) >> 1 & 3;
    }

    /** The packet identifier of a packet above QoS 0. */
    static int packetId(ByteBuf packet) {
        ByteBuf in = packet.duplicate();
        in.skipBytes(1);
        Packets.readVarInt(in);
        in.skipBytes(in.readUnsignedShort());
        return in.readUnsignedShort();
    }
}
