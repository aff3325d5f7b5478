// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the packets of a server, except PUBLISH (see {@link PublishEncoder}). Each method appends one packet to a buffer of the caller,
 * which grows as needed. A reason string is omitted if the packet would exceed the client's maximum packet size with it. If the packet
 * exceeds that size even without, nothing is written and the result is false. Stateless; the owner of the buffer determines the thread.
 */
public final class PacketEncoder {

    /** Size of the largest MQTT packet: a remaining length of 268,435,455 and the fixed header (section 2.1.4). */
    public static final int MAXIMUM_PACKET_BYTES = FixedHeader.MAXIMUM_REMAINING_LENGTH + 5;

    private static final int V3_FAILURE = 0x80;

    private PacketEncoder() {}

    /**
     * Appends a CONNACK (MQTT 5.0, section 3.2).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packet the content; before MQTT 5.0 only session present and the reason code as a return code are sent
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean connAck(ByteBuf out, ProtocolVersion version, ConnAck packet, long maximumPacketBytes) {
        return version.isV5()
                ? ConnAckEncoder.encode(out, packet, maximumPacketBytes)
                : ConnAckEncoder.encodeV3(out, version, packet);
    }

    /**
     * Appends a PUBACK (MQTT 5.0, section 3.4).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packetId 1 to 65,535
     * @param reason not sent before MQTT 5.0
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean pubAck(
            ByteBuf out,
            ProtocolVersion version,
            int packetId,
            ReasonCode reason,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        return acknowledge(out, FixedHeader.PUBACK << 4, version, packetId, reason, reasonString, maximumPacketBytes);
    }

    /**
     * Appends a PUBREC (MQTT 5.0, section 3.5).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packetId 1 to 65,535
     * @param reason not sent before MQTT 5.0
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean pubRec(
            ByteBuf out,
            ProtocolVersion version,
            int packetId,
            ReasonCode reason,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        return acknowledge(out, FixedHeader.PUBREC << 4, version, packetId, reason, reasonString, maximumPacketBytes);
    }

    /**
     * Appends a PUBREL (MQTT 5.0, section 3.6).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packetId 1 to 65,535
     * @param reason not sent before MQTT 5.0
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean pubRel(
            ByteBuf out,
            ProtocolVersion version,
            int packetId,
            ReasonCode reason,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        int first = FixedHeader.PUBREL << 4 | 2; // [MQTT-3.6.1-1]
        return acknowledge(out, first, version, packetId, reason, reasonString, maximumPacketBytes);
    }

    /**
     * Appends a PUBCOMP (MQTT 5.0, section 3.7).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packetId 1 to 65,535
     * @param reason not sent before MQTT 5.0
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean pubComp(
            ByteBuf out,
            ProtocolVersion version,
            int packetId,
            ReasonCode reason,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        return acknowledge(out, FixedHeader.PUBCOMP << 4, version, packetId, reason, reasonString, maximumPacketBytes);
    }

    /** Writes one of the four acknowledgements; two bytes suffice for success without properties (section 3.4.2.1). */
    private static boolean acknowledge(
            ByteBuf out,
            int first,
            ProtocolVersion version,
            int packetId,
            ReasonCode reason,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        boolean v5 = version.isV5();
        String text = v5 ? textThatFits(3, 0, reasonString, maximumPacketBytes) : null;
        int length = !v5 || (reason == ReasonCode.SUCCESS && text == null) ? 2 : 3 + optionalBlockSize(text);
        if (!begin(out, first, length, maximumPacketBytes)) {
            return false;
        }
        out.writeShort(packetId);
        if (length > 2) {
            out.writeByte(reason.value());
            writeOptionalBlock(out, text);
        }
        return true;
    }

    /**
     * Appends a SUBACK (MQTT 5.0, section 3.9).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packetId that of the SUBSCRIBE [MQTT-3.8.4-2]
     * @param reasons one for each topic filter, in the same order [MQTT-3.9.3-1]; errors become 0x80 before MQTT 5.0
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean subAck(
            ByteBuf out,
            ProtocolVersion version,
            int packetId,
            List<ReasonCode> reasons,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        int first = FixedHeader.SUBACK << 4;
        if (version.isV5()) {
            return reasonList(out, first, packetId, reasons, reasonString, maximumPacketBytes);
        }
        if (!begin(out, first, 2 + reasons.size(), maximumPacketBytes)) {
            return false;
        }
        out.writeShort(packetId);
        for (int i = 0; i < reasons.size(); i++) { // [MQTT-3.9.3-2] of 3.1.1
            out.writeByte(reasons.get(i).isError() ? V3_FAILURE : reasons.get(i).value());
        }
        return true;
    }

    /**
     * Appends an UNSUBACK (MQTT 5.0, section 3.11).
     *
     * @param out the buffer
     * @param version the client's version
     * @param packetId that of the UNSUBSCRIBE [MQTT-3.10.4-4]
     * @param reasons one for each topic filter, in the same order [MQTT-3.11.3-1]; not sent before MQTT 5.0
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean unsubAck(
            ByteBuf out,
            ProtocolVersion version,
            int packetId,
            List<ReasonCode> reasons,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        int first = FixedHeader.UNSUBACK << 4;
        if (version.isV5()) {
            return reasonList(out, first, packetId, reasons, reasonString, maximumPacketBytes);
        }
        if (!begin(out, first, 2, maximumPacketBytes)) {
            return false;
        }
        out.writeShort(packetId);
        return true;
    }

    private static boolean reasonList(
            ByteBuf out,
            int first,
            int packetId,
            List<ReasonCode> reasons,
            @Nullable String reasonString,
            long maximumPacketBytes) {
        int fixed = 2 + reasons.size();
        String text = textThatFits(fixed, 0, reasonString, maximumPacketBytes);
        if (!begin(out, first, fixed + blockSize(PropertyWriter.size(text)), maximumPacketBytes)) {
            return false;
        }
        out.writeShort(packetId);
        writeBlock(out, text);
        for (int i = 0; i < reasons.size(); i++) {
            out.writeByte(reasons.get(i).value());
        }
        return true;
    }

    /**
     * Appends a PINGRESP (MQTT 5.0, section 3.13).
     *
     * @param out the buffer
     */
    public static void pingResp(ByteBuf out) {
        out.writeShort(FixedHeader.PINGRESP << 12);
    }

    /**
     * Appends a DISCONNECT (MQTT 5.0, section 3.14). Before MQTT 5.0 a server has none.
     *
     * @param out the buffer
     * @param version the client's version
     * @param reason the reason code
     * @param reasonString the reason string, or null
     * @param serverReference another server to use, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if nothing was written, because the packet does not fit or the version has no DISCONNECT of a server
     */
    public static boolean disconnect(
            ByteBuf out,
            ProtocolVersion version,
            ReasonCode reason,
            @Nullable String reasonString,
            @Nullable String serverReference,
            long maximumPacketBytes) {
        if (!version.isV5()) {
            return false;
        }
        int reference = PropertyWriter.size(serverReference);
        String text = textThatFits(1, reference, reasonString, maximumPacketBytes); // [MQTT-3.14.2-3]
        int properties = reference + PropertyWriter.size(text);
        int length = properties == 0 ? (reason == ReasonCode.SUCCESS ? 0 : 1) : 1 + blockSize(properties);
        if (!begin(out, FixedHeader.DISCONNECT << 4, length, maximumPacketBytes)) {
            return false;
        }
        if (length > 0) {
            out.writeByte(reason.value());
        }
        if (properties > 0) {
            VariableByteInteger.write(out, properties);
            PropertyWriter.write(out, PropertyId.SERVER_REFERENCE, serverReference);
            PropertyWriter.write(out, PropertyId.REASON_STRING, text);
        }
        return true;
    }

    /**
     * Appends an AUTH (MQTT 5.0, section 3.15).
     *
     * @param out the buffer
     * @param packet the content
     * @param reasonString the reason string, or null
     * @param maximumPacketBytes the client's maximum packet size
     * @return false if the packet does not fit and was not written
     */
    public static boolean auth(ByteBuf out, AuthPacket packet, @Nullable String reasonString, long maximumPacketBytes) {
        int fixed = PropertyWriter.size(packet.method()) + PropertyWriter.size(packet.data());
        String text = textThatFits(1, fixed, reasonString, maximumPacketBytes); // [MQTT-3.15.2-2]
        int properties = fixed + PropertyWriter.size(text);
        if (!begin(out, FixedHeader.AUTH << 4, 1 + blockSize(properties), maximumPacketBytes)) {
            return false;
        }
        out.writeByte(packet.reason().value());
        VariableByteInteger.write(out, properties);
        PropertyWriter.write(out, PropertyId.AUTHENTICATION_METHOD, packet.method());
        PropertyWriter.write(out, PropertyId.AUTHENTICATION_DATA, packet.data());
        PropertyWriter.write(out, PropertyId.REASON_STRING, text);
        return true;
    }

    /** Writes the fixed header, if the packet fits. */
    static boolean begin(ByteBuf out, int first, int remainingLength, long maximumPacketBytes) {
        int size = 1 + VariableByteInteger.size(remainingLength) + remainingLength;
        if (size > maximumPacketBytes) { // [MQTT-3.1.2-24]
            return false;
        }
        out.ensureWritable(size);
        out.writeByte(first);
        VariableByteInteger.write(out, remainingLength);
        return true;
    }

    /** The text, or null if the packet would be too large with it [MQTT-3.2.2-19] [MQTT-3.4.2-2]. */
    static @Nullable String textThatFits(
            int fixedBytes, int otherPropertyBytes, @Nullable String text, long maximumPacketBytes) {
        if (text == null || !PropertyWriter.fits(text)) {
            return null;
        }
        int length = fixedBytes + blockSize(otherPropertyBytes + PropertyWriter.size(text));
        return 1 + VariableByteInteger.size(length) + length <= maximumPacketBytes ? text : null;
    }

    /** The length of a property block including its length field. */
    static int blockSize(int propertyBytes) {
        return VariableByteInteger.size(propertyBytes) + propertyBytes;
    }

    private static int optionalBlockSize(@Nullable String text) {
        return text == null ? 0 : blockSize(PropertyWriter.size(text));
    }

    private static void writeOptionalBlock(ByteBuf out, @Nullable String text) {
        if (text != null) {
            writeBlock(out, text);
        }
    }

    private static void writeBlock(ByteBuf out, @Nullable String text) {
        VariableByteInteger.write(out, PropertyWriter.size(text));
        PropertyWriter.write(out, PropertyId.REASON_STRING, text);
    }
}
