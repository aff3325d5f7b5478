// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import org.jspecify.annotations.Nullable;

/** The first byte of a packet (MQTT 5.0, section 2.1): packet types, and the first bytes that a client may send. */
final class FixedHeader {

    static final int CONNECT = 1;
    static final int CONNACK = 2;
    static final int PUBLISH = 3;
    static final int PUBACK = 4;
    static final int PUBREC = 5;
    static final int PUBREL = 6;
    static final int PUBCOMP = 7;
    static final int SUBSCRIBE = 8;
    static final int SUBACK = 9;
    static final int UNSUBSCRIBE = 10;
    static final int UNSUBACK = 11;
    static final int PINGREQ = 12;
    static final int PINGRESP = 13;
    static final int DISCONNECT = 14;
    static final int AUTH = 15;

    /** The largest remaining length (MQTT 5.0, section 2.1.4). */
    static final int MAXIMUM_REMAINING_LENGTH = 268_435_455;

    private FixedHeader() {}

    static void requireLegal(int first, @Nullable ProtocolVersion version) {
        int type = first >>> 4;
        int flags = first & 0x0F;
        if (version == null) {
            requireConnect(type, flags);
        } else if (type == PUBLISH) {
            requirePublishFlags(flags);
        } else {
            requireClientPacket(type, version);
            if (flags != flagsOf(type) && version != ProtocolVersion.MQTT_3_1) { // [MQTT-2.1.3-1]; unused in 3.1
                throw PacketReader.malformed("the flags of the fixed header are not those of the packet type");
            }
        }
    }

    private static void requireConnect(int type, int flags) {
        if (type != CONNECT) { // [MQTT-3.1.0-1]
            throw type == 0
                    ? PacketReader.malformed("packet type 0 does not exist")
                    : new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "the first packet is not a CONNECT");
        }
        if (flags != 0) {
            throw PacketReader.malformed("the flags of a CONNECT are not zero");
        }
    }

    private static void requirePublishFlags(int flags) {
        int qos = flags >> 1 & 3;
        if (qos == 3) { // [MQTT-3.3.1-4]
            throw PacketReader.malformed("a PUBLISH has QoS 3");
        }
        if (qos == 0 && flags >= 8) { // [MQTT-3.3.1-2]
            throw PacketReader.malformed("a PUBLISH of QoS 0 has DUP set");
        }
    }

    private static void requireClientPacket(int type, ProtocolVersion version) {
        switch (type) {
            case CONNECT -> // [MQTT-3.1.0-2]
                throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a second CONNECT");
            case CONNACK, SUBACK, UNSUBACK, PINGRESP ->
                throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "only a server sends this packet");
            case 0 -> throw PacketReader.malformed("packet type 0 does not exist");
            case AUTH -> {
                if (!version.isV5()) {
                    throw PacketReader.malformed("packet type 15 exists only in MQTT 5.0");
                }
            }
            default -> {}
        }
    }

    private static int flagsOf(int type) {
        return type == PUBREL || type == SUBSCRIBE || type == UNSUBSCRIBE ? 2 : 0;
    }

    /** Rejects, before the body arrives, a packet of fixed size that announces another one. */
    static void requireLength(int type, int remainingLength, @Nullable ProtocolVersion version) {
        boolean v3 = version != null && !version.isV5();
        int expected = switch (type) {
            case PINGREQ -> 0;
            case DISCONNECT -> v3 ? 0 : remainingLength;
            case PUBACK, PUBREC, PUBREL, PUBCOMP -> v3 ? 2 : remainingLength;
            default -> remainingLength;
        };
        if (remainingLength != expected) {
            throw PacketReader.malformed("the remaining length is not that of the packet type");
        }
    }
}
