// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/** Encodes a CONNACK (MQTT 5.0 and MQTT 3.1.1, section 3.2). */
final class ConnAckEncoder {

    private static final int FIRST = FixedHeader.CONNACK << 4;
    private static final int DEFAULT_RECEIVE_MAXIMUM = 65_535;

    private ConnAckEncoder() {}

    static boolean encodeV3(ByteBuf out, ProtocolVersion version, ConnAck packet) {
        boolean present = isPresent(packet) && version != ProtocolVersion.MQTT_3_1; // the byte is unused there
        out.writeShort(FIRST << 8 | 2);
        out.writeByte(present ? 1 : 0);
        out.writeByte(returnCode(packet.reason()));
        return true;
    }

    /** The return code of MQTT 3.1.1, section 3.2.2.3, for a reason code. */
    private static int returnCode(ReasonCode reason) {
        return switch (reason) {
            case SUCCESS -> 0;
            case UNSUPPORTED_PROTOCOL_VERSION -> 1;
            case CLIENT_IDENTIFIER_NOT_VALID -> 2;
            case BAD_USER_NAME_OR_PASSWORD -> 4;
            case NOT_AUTHORIZED, BANNED -> 5;
            default -> 3;
        };
    }

    /** Session present; a refusal never sets it [MQTT-3.2.2-6]. */
    private static boolean isPresent(ConnAck packet) {
        return packet.sessionPresent() && packet.reason() == ReasonCode.SUCCESS;
    }

    static boolean encode(ByteBuf out, ConnAck packet, long maximumPacketBytes) {
        int fixed = numberBytes(packet) + textBytes(packet);
        String reasonString =
                PacketEncoder.textThatFits(2, fixed, packet.reasonString(), maximumPacketBytes); // [MQTT-3.2.2-19]
        int properties = fixed + PropertyWriter.size(reasonString);
        if (!PacketEncoder.begin(out, FIRST, 2 + PacketEncoder.blockSize(properties), maximumPacketBytes)) {
            return false;
        }
        out.writeByte(isPresent(packet) ? 1 : 0);
        out.writeByte(packet.reason().value());
        VariableByteInteger.write(out, properties);
        writeNumbers(out, packet);
        writeTexts(out, packet, reasonString);
        return true;
    }

    private static int numberBytes(ConnAck packet) {
        int bytes = packet.sessionExpirySeconds() >= 0 ? 5 : 0;
        bytes += packet.receiveMaximum() != DEFAULT_RECEIVE_MAXIMUM ? 3 : 0;
        bytes += packet.maximumQos() < 2 ? 2 : 0;
        bytes += packet.retainAvailable() ? 0 : 2;
        bytes += packet.maximumPacketSize() > 0 ? 5 : 0;
        bytes += packet.topicAliasMaximum() > 0 ? 3 : 0;
        bytes += packet.wildcardAvailable() ? 0 : 2;
        bytes += packet.subscriptionIdentifiersAvailable() ? 0 : 2;
        bytes += packet.sharedAvailable() ? 0 : 2;
        return bytes + (packet.serverKeepAliveSeconds() >= 0 ? 3 : 0);
    }

    private static int textBytes(ConnAck packet) {
        return PropertyWriter.size(packet.assignedClientId())
                + PropertyWriter.size(packet.responseInformation())
                + PropertyWriter.size(packet.serverReference())
                + PropertyWriter.size(packet.authenticationMethod())
                + PropertyWriter.size(packet.authenticationData());
    }

    private static void writeNumbers(ByteBuf out, ConnAck packet) {
        if (packet.sessionExpirySeconds() >= 0) {
            PropertyWriter.writeInt(out, PropertyId.SESSION_EXPIRY_INTERVAL, packet.sessionExpirySeconds());
        }
        if (packet.receiveMaximum() != DEFAULT_RECEIVE_MAXIMUM) {
            PropertyWriter.writeShort(out, PropertyId.RECEIVE_MAXIMUM, packet.receiveMaximum());
        }
        if (packet.maximumQos() < 2) {
            PropertyWriter.writeByte(out, PropertyId.MAXIMUM_QOS, packet.maximumQos());
        }
        if (packet.maximumPacketSize() > 0) {
            PropertyWriter.writeInt(out, PropertyId.MAXIMUM_PACKET_SIZE, packet.maximumPacketSize());
        }
        if (packet.topicAliasMaximum() > 0) {
            PropertyWriter.writeShort(out, PropertyId.TOPIC_ALIAS_MAXIMUM, packet.topicAliasMaximum());
        }
        if (packet.serverKeepAliveSeconds() >= 0) {
            PropertyWriter.writeShort(out, PropertyId.SERVER_KEEP_ALIVE, packet.serverKeepAliveSeconds());
        }
        writeUnavailable(out, PropertyId.RETAIN_AVAILABLE, packet.retainAvailable());
        writeUnavailable(out, PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE, packet.wildcardAvailable());
        writeUnavailable(out, PropertyId.SUBSCRIPTION_IDENTIFIERS_AVAILABLE, packet.subscriptionIdentifiersAvailable());
        writeUnavailable(out, PropertyId.SHARED_SUBSCRIPTION_AVAILABLE, packet.sharedAvailable());
    }

    private static void writeUnavailable(ByteBuf out, int identifier, boolean available) {
        if (!available) {
            PropertyWriter.writeByte(out, identifier, 0);
        }
    }

    private static void writeTexts(ByteBuf out, ConnAck packet, @Nullable String reasonString) {
        PropertyWriter.write(out, PropertyId.ASSIGNED_CLIENT_IDENTIFIER, packet.assignedClientId());
        PropertyWriter.write(out, PropertyId.RESPONSE_INFORMATION, packet.responseInformation());
        PropertyWriter.write(out, PropertyId.SERVER_REFERENCE, packet.serverReference());
        PropertyWriter.write(out, PropertyId.AUTHENTICATION_METHOD, packet.authenticationMethod());
        PropertyWriter.write(out, PropertyId.AUTHENTICATION_DATA, packet.authenticationData());
        PropertyWriter.write(out, PropertyId.REASON_STRING, reasonString);
    }
}
