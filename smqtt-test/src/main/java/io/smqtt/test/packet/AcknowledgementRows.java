// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** PUBACK, PUBREC, PUBREL and PUBCOMP (sections 3.4 to 3.7). */
final class AcknowledgementRows {

    private static final Map<String, Integer> PACKETS =
            new TreeMap<>(Map.of("PUBACK", 0x40, "PUBREC", 0x50, "PUBREL", 0x62, "PUBCOMP", 0x70));
    private static final Set<Integer> RECEIVED = Set.of(0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99);
    private static final Set<Integer> RELEASED = Set.of(0x00, 0x92);
    private static final List<ProtocolVersion> V3 = List.of(ProtocolVersion.MQTT_3_1, ProtocolVersion.MQTT_3_1_1);

    private AcknowledgementRows() {}

    static void addTo(RowCollector rows) {
        PACKETS.forEach((name, first) -> {
            addPacketIds(rows, name, first);
            addV3(rows, name, first);
            addV5(rows, name, first);
            addReasons(rows, name, first);
        });
    }

    private static void addPacketIds(RowCollector rows, String name, int first) {
        for (ProtocolVersion version : ProtocolVersion.values()) {
            rows.accepted(name + " of 1", version, packet(first).u16(1));
            rows.accepted(name + " of 65,535", version, packet(first).u16(65_535));
            rows.violation(
                    name + " of 0",
                    version,
                    ReasonCode.PROTOCOL_ERROR,
                    packet(first).u16(0),
                    "MQTT-2.2.1-3");
            rows.violation(name + " of no bytes", version, ReasonCode.MALFORMED_PACKET, packet(first));
            rows.violation(
                    name + " of one byte",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(first).u8(1));
            rows.needsMore(
                    name + ", first three bytes",
                    version,
                    fields().u8(first).u8(2).u8(0).toBytes());
        }
    }

    private static void addV3(RowCollector rows, String name, int first) {
        for (ProtocolVersion version : V3) {
            rows.violation(
                    name + " with a reason code",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(first).u16(1).u8(0));
            rows.violation(
                    name + " with properties",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(first).u16(1).u8(0).u8(0));
            rows.violation(
                    name + " that announces three bytes",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(first).toBytes(3));
        }
    }

    private static void addV5(RowCollector rows, String name, int first) {
        ProtocolVersion v5 = ProtocolVersion.MQTT_5;
        rows.accepted(name + " with success", v5, packet(first).u16(1).u8(0));
        rows.accepted(
                name + " with empty properties", v5, packet(first).u16(1).u8(0).properties(fields()));
        PacketBytes text = fields().u8(PropertyId.REASON_STRING).string("why");
        rows.accepted(
                name + " with reason string", v5, packet(first).u16(1).u8(0).properties(text));
        PacketBytes user = fields().u8(PropertyId.USER_PROPERTY).string("n").string("v");
        rows.accepted(
                name + " with user properties",
                v5,
                packet(first)
                        .u16(1)
                        .u8(0)
                        .properties(
                                user.u8(PropertyId.USER_PROPERTY).string("n").string("v")));
        rows.violation(
                name + " with a byte after its properties",
                v5,
                ReasonCode.MALFORMED_PACKET,
                packet(first).u16(1).u8(0).u8(0).u8(0));
        rows.violation(
                name + " with properties longer than the packet",
                v5,
                ReasonCode.MALFORMED_PACKET,
                packet(first).u16(1).u8(0).u8(5));
        rows.violation(
                name + " with an overlong property length",
                v5,
                ReasonCode.MALFORMED_PACKET,
                packet(first).u16(1).u8(0).u8(0x80).u8(0),
                "MQTT-1.5.5-1");
        rows.violation(
                name + " with a property length of five bytes",
                v5,
                ReasonCode.MALFORMED_PACKET,
                packet(first).u16(1).u8(0).hex("80 80 80 80 01"));
        rows.violation(
                name + " with half a property length",
                v5,
                ReasonCode.MALFORMED_PACKET,
                packet(first).u16(1).u8(0).u8(0x80));
    }

    private static void addReasons(RowCollector rows, String name, int first) {
        Set<Integer> allowed = first >>> 4 <= 5 ? RECEIVED : RELEASED;
        for (int reason = 0; reason < 256; reason++) {
            String rowName = String.format("%s with reason code %02X", name, reason);
            PacketBytes packet = packet(first).u16(1).u8(reason);
            String tag = "MQTT-3." + (first >>> 4) + ".2-1";
            if (allowed.contains(reason)) {
                rows.accepted(rowName, ProtocolVersion.MQTT_5, packet, tag);
            } else {
                rows.violation(rowName, ProtocolVersion.MQTT_5, ReasonCode.PROTOCOL_ERROR, packet, tag);
            }
        }
    }
}
