// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import org.jspecify.annotations.Nullable;

/**
 * Writes the PUBLISH packets of one broker for the other one: with another topic, in another version, within its limits. Properties go
 * along where both versions have them.
 *
 * @param fromV5 whether the packets are of MQTT 5.0
 * @param toV5 whether they are written in MQTT 5.0
 * @param names the new topics
 * @param maximumQos the highest QoS that is written
 * @param keepsRetain whether the retain flag is kept
 * @param maximumPacket bytes of a packet that is written
 * @param maximumPayload bytes of a payload
 * @param hops stops messages that go in circles; null to let them pass
 */
@OnEventLoop
record PublishRewriter(
        boolean fromV5,
        boolean toV5,
        RecentNames names,
        int maximumQos,
        boolean keepsRetain,
        long maximumPacket,
        long maximumPayload,
        @Nullable HopCheck hops) {

    private static final int RETAIN = 1;
    private static final int DUP_AND_QOS = 0x0e;
    private static final byte[] NO_HOP = {};

    /**
     * Writes a packet. Its indices stay.
     *
     * @param packet a whole packet
     * @param out takes the packet
     * @return null if it was written, else why not
     */
    @Nullable
    DropCause pass(ByteBuf packet, ByteBuf out) {
        int start = packet.readerIndex();
        DropCause cause = read(packet, out);
        packet.readerIndex(start);
        return cause;
    }

    private @Nullable DropCause read(ByteBuf in, ByteBuf out) {
        int header = in.readUnsignedByte();
        Packets.readVarInt(in);
        int topicBytes = in.readUnsignedShort();
        if (topicBytes == 0) { // [MQTT-3.3.2-8]
            throw new IllegalArgumentException("a topic alias, although none is allowed");
        }
        byte[] mapped = names.next(in, topicBytes);
        if (mapped == null) {
            return DropCause.TOPIC;
        }
        int qos = header >> 1 & 3;
        int id = qos > 0 ? in.readUnsignedShort() : 0;
        int properties = fromV5 ? Packets.readVarInt(in) : 0;
        int propertiesAt = in.readerIndex();
        in.skipBytes(properties);
        if (in.readableBytes() > maximumPayload) {
            return DropCause.PAYLOAD_TOO_LARGE;
        }
        HopCheck.Trace trace =
                hops == null || properties == 0 ? null : HopCheck.find(in.slice(propertiesAt, properties));
        if (hops != null && hops.refuses(trace)) {
            return DropCause.LOOP;
        }
        byte[] hop = hops != null && toV5 ? hops.next(trace) : NO_HOP;
        HopCheck.Trace replaced = hop.length > 0 ? trace : null;
        int propertyBytes = properties + hop.length - (replaced == null ? 0 : replaced.end() - replaced.start());
        int lowered = Math.min(qos, maximumQos);
        int length = 2 + mapped.length + (lowered > 0 ? 2 : 0) + in.readableBytes();
        if (toV5) {
            length += Packets.varIntBytes(propertyBytes) + propertyBytes;
        }
        if (1 + Packets.varIntBytes(length) + length > maximumPacket) {
            return DropCause.PACKET_TOO_LARGE;
        }
        int flags = header & ~(keepsRetain ? 0 : RETAIN);
        out.writeByte(lowered == qos ? flags : lowered == 0 ? flags & ~DUP_AND_QOS : flags & ~6 | lowered << 1);
        Packets.writeVarInt(out, length);
        out.writeShort(mapped.length).writeBytes(mapped);
        if (lowered > 0) {
            out.writeShort(id);
        }
        if (toV5) {
            Packets.writeVarInt(out, propertyBytes);
            int before = replaced == null ? properties : replaced.start();
            out.writeBytes(in, propertiesAt, before);
            if (replaced != null) {
                out.writeBytes(in, propertiesAt + replaced.end(), properties - replaced.end());
            }
            out.writeBytes(hop);
        }
        out.writeBytes(in);
        return null;
    }
}
