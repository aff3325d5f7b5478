// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.LogText;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The CONNACK of the other broker: its answer, and what it allows.
 *
 * @param sessionPresent whether it has kept our session
 * @param reason 0 if it has accepted us
 * @param receiveMaximum messages above QoS 0 that may be in flight to it
 * @param maximumQos the highest QoS that it takes
 * @param retainAvailable whether it takes retained messages
 * @param maximumPacketSize bytes, or 0 for no limit
 * @param wildcardsAvailable whether it takes subscriptions with wildcards
 * @param sharedAvailable whether it takes shared subscriptions
 * @param serverKeepAlive seconds in place of ours, or -1
 * @param reasonString its text, or null
 */
record RemoteLimits(
        boolean sessionPresent,
        int reason,
        int receiveMaximum,
        int maximumQos,
        boolean retainAvailable,
        long maximumPacketSize,
        boolean wildcardsAvailable,
        boolean sharedAvailable,
        int serverKeepAlive,
        @Nullable String reasonString) {

    /** Reads a CONNACK from behind its fixed header to its end. Throws an unchecked exception if it is malformed. */
    static RemoteLimits read(ByteBuf packet, boolean v5) {
        boolean present = (packet.readByte() & 1) != 0;
        int reason = packet.readUnsignedByte();
        int receiveMaximum = 65_535;
        int maximumQos = 2;
        boolean retain = true;
        long maximumPacket = 0;
        boolean wildcards = true;
        boolean shared = true;
        int keepAlive = -1;
        String text = null;
        if (v5 && packet.isReadable()) {
            int length = Packets.readVarInt(packet);
            int end = packet.readerIndex() + length;
            while (packet.readerIndex() < end) {
                int id = packet.readUnsignedByte();
                switch (id) {
                    case 0x11 -> packet.skipBytes(4);
                    case 0x13 -> keepAlive = packet.readUnsignedShort();
                    case 0x21 -> receiveMaximum = packet.readUnsignedShort();
                    case 0x22 -> packet.skipBytes(2); // topic aliases are not used
                    case 0x24 -> maximumQos = packet.readUnsignedByte();
                    case 0x25 -> retain = packet.readByte() != 0;
                    case 0x27 -> maximumPacket = packet.readUnsignedInt();
                    case 0x28 -> wildcards = packet.readByte() != 0;
                    case 0x29 -> packet.skipBytes(1); // subscription identifiers are not used
                    case 0x2a -> shared = packet.readByte() != 0;
                    case 0x1f -> text = string(packet);
                    case 0x12, 0x15, 0x16, 0x1a, 0x1c -> string(packet);
                    case 0x26 -> {
                        string(packet);
                        string(packet);
                    }
                    default -> throw new IllegalArgumentException("an unknown property in CONNACK: " + id);
                }
            }
        }
        return new RemoteLimits(
                present,
                reason,
                Math.max(1, receiveMaximum),
                Math.min(2, maximumQos),
                retain,
                maximumPacket,
                wildcards,
                shared,
                keepAlive,
                text);
    }

    private static String string(ByteBuf packet) {
        return packet.readCharSequence(packet.readUnsignedShort(), StandardCharsets.UTF_8)
                .toString();
    }

    /** Whether the refusal may be about the retained will. */
    boolean refusesWill() {
        return reason == 0x9a || reason == 0x9b || reason == 0x87 || reason == 0x90;
    }

    /**
     * The refusal in words.
     *
     * @param v5 whether the bridge has asked for MQTT 5.0
     */
    String refusal(boolean v5) {
        String code = String.format("0x%02x", reason);
        String word = switch (reason) {
            case 1, 0x84 -> v5 ? "it does not speak MQTT 5.0, so set version to 3.1.1" : "unsupported protocol version";
            case 2, 0x85 -> "client identifier not valid";
            case 3, 0x88 -> "server unavailable";
            case 4, 0x86 -> "bad user name or password";
            case 5, 0x87 -> "not authorized";
            case 0x89 -> "server busy";
            case 0x8a -> "banned";
            case 0x90 -> "topic name not valid";
            case 0x9a -> "retain not supported";
            case 0x9b -> "QoS not supported";
            case 0x97 -> "quota exceeded";
            default -> "refused";
        };
        return "it refuses the connection: " + word + " (" + code + ")"
                + (reasonString == null ? "" : ": " + LogText.escape(reasonString));
    }
}
