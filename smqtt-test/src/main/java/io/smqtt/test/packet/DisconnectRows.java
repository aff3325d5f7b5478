// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.List;
import java.util.Set;

/** DISCONNECT and AUTH (sections 3.14 and 3.15). */
final class DisconnectRows {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int DISCONNECT = 0xE0;
    private static final int AUTH = 0xF0;
    private static final Set<Integer> REASONS_OF_CLIENTS =
            Set.of(0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99);

    private DisconnectRows() {}

    static void addTo(RowCollector rows) {
        for (ProtocolVersion version : List.of(ProtocolVersion.MQTT_3_1, ProtocolVersion.MQTT_3_1_1)) {
            rows.accepted("DISCONNECT", version, packet(DISCONNECT));
            rows.violation(
                    "DISCONNECT with a reason code",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(DISCONNECT).u8(0));
            rows.violation(
                    "DISCONNECT that announces a body",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(DISCONNECT).toBytes(1));
        }
        addDisconnects(rows);
        addReasons(rows);
        addAuths(rows);
    }

    private static void addDisconnects(RowCollector rows) {
        rows.accepted("DISCONNECT", V5, packet(DISCONNECT));
        rows.accepted(
                "DISCONNECT with empty properties", V5, packet(DISCONNECT).u8(0).u8(0));
        for (long expiry : new long[] {0, 1, 0xFFFF_FFFFL}) {
            PacketBytes properties =
                    fields().u8(PropertyId.SESSION_EXPIRY_INTERVAL).u32(expiry);
            rows.accepted(
                    "DISCONNECT with session expiry " + expiry,
                    V5,
                    packet(DISCONNECT).u8(0).properties(properties));
        }
        PacketBytes text = fields().u8(PropertyId.REASON_STRING).string("bye");
        rows.accepted(
                "DISCONNECT with reason string", V5, packet(DISCONNECT).u8(4).properties(text));
        PacketBytes reference = fields().u8(PropertyId.SERVER_REFERENCE).string("other:1883");
        rows.violation(
                "DISCONNECT with server reference",
                V5,
                ReasonCode.PROTOCOL_ERROR,
                packet(DISCONNECT).u8(0).properties(reference));
        rows.violation(
                "DISCONNECT with a byte after its properties",
                V5,
                ReasonCode.MALFORMED_PACKET,
                packet(DISCONNECT).u8(0).u8(0).u8(0));
        rows.violation(
                "DISCONNECT with properties cut off",
                V5,
                ReasonCode.MALFORMED_PACKET,
                packet(DISCONNECT).u8(0).u8(5).u8(PropertyId.SESSION_EXPIRY_INTERVAL));
    }

    private static void addReasons(RowCollector rows) {
        for (int reason = 0; reason < 256; reason++) {
            String name = String.format("DISCONNECT with reason code %02X", reason);
            PacketBytes packet = packet(DISCONNECT).u8(reason);
            if (REASONS_OF_CLIENTS.contains(reason)) {
                rows.accepted(name, V5, packet, "MQTT-3.14.2-1");
            } else {
                rows.violation(name, V5, ReasonCode.PROTOCOL_ERROR, packet, "MQTT-3.14.2-1");
            }
        }
    }

    private static void addAuths(RowCollector rows) {
        for (int reason = 0; reason < 256; reason++) {
            String name = String.format("AUTH with reason code %02X", reason);
            PacketBytes packet = packet(AUTH).u8(reason).properties(method());
            if (reason == 0x18 || reason == 0x19) {
                rows.accepted(name, V5, packet, "MQTT-3.15.2-1");
            } else {
                rows.violation(name, V5, ReasonCode.PROTOCOL_ERROR, packet, "MQTT-3.15.2-1");
            }
        }
        PacketBytes data = method().u8(PropertyId.AUTHENTICATION_DATA).binary("00 01");
        rows.accepted("AUTH with data", V5, packet(AUTH).u8(0x18).properties(data));
        rows.violation("AUTH of no bytes", V5, ReasonCode.PROTOCOL_ERROR, packet(AUTH));
        rows.violation(
                "AUTH without properties",
                V5,
                ReasonCode.PROTOCOL_ERROR,
                packet(AUTH).u8(0x18));
        rows.violation(
                "AUTH without method",
                V5,
                ReasonCode.PROTOCOL_ERROR,
                packet(AUTH).u8(0x18).properties(fields()));
        rows.violation(
                "AUTH with a byte after its properties",
                V5,
                ReasonCode.MALFORMED_PACKET,
                packet(AUTH).u8(0x18).properties(method()).u8(0));
    }

    private static PacketBytes method() {
        return fields().u8(PropertyId.AUTHENTICATION_METHOD).string("SCRAM-SHA-256");
    }
}
