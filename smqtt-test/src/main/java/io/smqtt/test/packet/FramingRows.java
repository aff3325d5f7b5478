// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.connect;
import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;

/** Fixed headers: packet types, flags, remaining lengths (MQTT 5.0, section 2.1). */
final class FramingRows {

    private static final int[] TYPES_OF_CLIENTS = {3, 4, 5, 6, 7, 8, 10, 12, 14};
    private static final int[] TYPES_OF_SERVERS = {2, 9, 11, 13};

    private FramingRows() {}

    static void addTo(RowCollector rows) {
        addFirstPackets(rows);
        for (ProtocolVersion version : ProtocolVersion.values()) {
            addTypes(rows, version);
            addFlags(rows, version);
            addLengths(rows, version);
        }
        addOverlongLengths(rows);
    }

    private static void addFirstPackets(RowCollector rows) {
        rows.needsMore("nothing", null, new byte[0]);
        for (int type = 2; type < 16; type++) {
            byte[] first = fields().u8(type << 4).toBytes();
            rows.violation("type " + type + " before CONNECT", null, ReasonCode.PROTOCOL_ERROR, first, "MQTT-3.1.0-1");
        }
        rows.violation(
                "type 0 before CONNECT",
                null,
                ReasonCode.MALFORMED_PACKET,
                fields().u8(0).toBytes());
        for (int flags = 1; flags < 16; flags++) {
            byte[] first = fields().u8(0x10 | flags).toBytes();
            rows.violation(
                    "CONNECT with fixed header flags " + flags,
                    null,
                    ReasonCode.MALFORMED_PACKET,
                    first,
                    "MQTT-2.1.3-1");
        }
        rows.needsMore("CONNECT, type only", null, fields().hex("10").toBytes());
        rows.needsMore(
                "CONNECT, half a remaining length", null, fields().hex("10 80").toBytes());
        rows.needsMore("CONNECT without body", null, fields().hex("10 0C").toBytes());
        rows.violation(
                "CONNECT with a remaining length of five bytes",
                null,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("10 80 80 80 80 01").toBytes());
        rows.needsMore("CONNECT of 65,536 bytes announced", null, packet(0x10).toBytes(65_536 - 4));
        rows.violation(
                "CONNECT of 65,537 bytes announced",
                null,
                ReasonCode.PACKET_TOO_LARGE,
                packet(0x10).toBytes(65_537 - 4));
        rows.violation(
                "CONNECT of 256 MiB announced",
                null,
                ReasonCode.PACKET_TOO_LARGE,
                packet(0x10).toBytes(268_435_455));
        rows.violation(
                "an HTTP request",
                null,
                ReasonCode.PROTOCOL_ERROR,
                fields().text("GET / HTTP/1.1\r\n").toBytes(),
                "MQTT-3.1.0-1");
        rows.violation(
                "a TLS handshake",
                null,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("16 03 01 02 00 01").toBytes(),
                "MQTT-2.1.3-1");
    }

    private static void addTypes(RowCollector rows, ProtocolVersion version) {
        rows.violation(
                "type 0",
                version,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("00").toBytes());
        rows.violation(
                "a second CONNECT", version, ReasonCode.PROTOCOL_ERROR, connect(version, 0x02, 0, "c"), "MQTT-3.1.0-2");
        for (int type : TYPES_OF_SERVERS) {
            byte[] first = fields().u8(type << 4).toBytes();
            rows.violation("type " + type + " from a client", version, ReasonCode.PROTOCOL_ERROR, first);
        }
        if (!version.isV5()) {
            rows.violation(
                    "type 15",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    fields().hex("F0").toBytes());
        }
    }

    private static void addFlags(RowCollector rows, ProtocolVersion version) {
        for (int type : TYPES_OF_CLIENTS) {
            boolean two = type == 6 || type == 8 || type == 10;
            for (int flags = 0; flags < 16 && type != 3; flags++) {
                byte[] first = fields().u8(type << 4 | flags).toBytes();
                String name = "type " + type + " with flags " + flags;
                if (flags == (two ? 2 : 0) || version == ProtocolVersion.MQTT_3_1) {
                    rows.needsMore(name, version, first, "MQTT-2.1.3-1");
                } else {
                    rows.violation(name, version, ReasonCode.MALFORMED_PACKET, first, "MQTT-2.1.3-1");
                }
            }
        }
        for (int flags = 0; flags < 16; flags++) {
            byte[] first = fields().u8(0x30 | flags).toBytes();
            String name = "PUBLISH with flags " + flags;
            if ((flags & 6) == 6) {
                rows.violation(name, version, ReasonCode.MALFORMED_PACKET, first, "MQTT-3.3.1-4");
            } else if ((flags & 6) == 0 && flags >= 8) {
                rows.violation(name, version, ReasonCode.MALFORMED_PACKET, first, "MQTT-3.3.1-2");
            } else {
                rows.needsMore(name, version, first);
            }
        }
    }

    private static void addLengths(RowCollector rows, ProtocolVersion version) {
        rows.accepted("PINGREQ", version, packet(0xC0));
        rows.violation(
                "PINGREQ with a body",
                version,
                ReasonCode.MALFORMED_PACKET,
                packet(0xC0).u8(0));
        rows.violation(
                "PINGREQ that announces a body",
                version,
                ReasonCode.MALFORMED_PACKET,
                packet(0xC0).toBytes(1));
        rows.needsMore(
                "PUBLISH, three bytes of remaining length",
                version,
                fields().hex("30 80 80 80").toBytes());
        rows.violation(
                "PUBLISH with a remaining length of five bytes",
                version,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("30 80 80 80 80 01").toBytes());
        rows.violation(
                "PUBLISH with a remaining length of four bytes and no end",
                version,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("30 FF FF FF FF").toBytes());
        rows.violation(
                "PUBLISH of 256 MiB announced",
                version,
                ReasonCode.PACKET_TOO_LARGE,
                packet(0x30).toBytes(268_435_455));
        rows.violation(
                "PUBLISH one byte too large",
                version,
                ReasonCode.PACKET_TOO_LARGE,
                packet(0x30).toBytes(PacketTable.MAXIMUM_PACKET_BYTES - 3));
        rows.needsMore(
                "PUBLISH of the maximum size announced",
                version,
                packet(0x30).toBytes(PacketTable.MAXIMUM_PACKET_BYTES - 4));
        rows.violation(
                "SUBSCRIBE of 256 MiB announced",
                version,
                ReasonCode.PACKET_TOO_LARGE,
                packet(0x82).toBytes(268_435_455));
    }

    private static void addOverlongLengths(RowCollector rows) {
        rows.accepted(
                "PINGREQ with an overlong remaining length", ProtocolVersion.MQTT_3_1_1, fields().hex("C0 80 00"));
        rows.violation(
                "PINGREQ with an overlong remaining length",
                ProtocolVersion.MQTT_5,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("C0 80 00"),
                "MQTT-1.5.5-1");
        rows.violation(
                "CONNECT with an overlong remaining length",
                null,
                ReasonCode.MALFORMED_PACKET,
                fields().hex("10 8E 00 00 04 4D 51 54 54 05 02 00 00 00 00 01 63"),
                "MQTT-1.5.5-1");
        rows.accepted(
                "CONNECT of 3.1.1 with an overlong remaining length",
                null,
                fields().hex("10 8D 00 00 04 4D 51 54 54 04 02 00 00 00 01 63"));
    }
}
