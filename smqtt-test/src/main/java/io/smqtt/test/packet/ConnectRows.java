// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.connect;
import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.Arrays;

/** CONNECT (section 3.1 of all versions), but its properties, which are in {@link PropertyRows}. */
final class ConnectRows {

    private static final int CLEAN = 0x02;
    private static final int WILL = 0x04;

    private ConnectRows() {}

    static void addTo(RowCollector rows) {
        addProtocols(rows);
        for (ProtocolVersion version : ProtocolVersion.values()) {
            addFlags(rows, version);
            addClientIds(rows, version);
            addWills(rows, version);
            addCredentials(rows, version);
            addLengths(rows, version);
        }
        addPropertyValues(rows);
    }

    private static void addProtocols(RowCollector rows) {
        ReasonCode unsupported = ReasonCode.UNSUPPORTED_PROTOCOL_VERSION;
        for (int level : new int[] {0, 1, 2, 3, 6, 7, 0x7F, 0x83, 0x85, 0xFF}) {
            PacketBytes packet =
                    packet(0x10).string("MQTT").u8(level).u8(CLEAN).u16(0).string("c");
            rows.violation("MQTT at level " + level, null, unsupported, packet, "MQTT-3.1.2-2");
        }
        for (int level : new int[] {0, 2, 4, 5, 0x82, 0x84, 0x85}) {
            PacketBytes packet =
                    packet(0x10).string("MQIsdp").u8(level).u8(CLEAN).u16(0).string("c");
            rows.violation("MQIsdp at level " + level, null, unsupported, packet, "MQTT-3.1.2-2");
        }
        for (ProtocolVersion version : new ProtocolVersion[] {ProtocolVersion.MQTT_3_1, ProtocolVersion.MQTT_3_1_1}) {
            PacketBytes packet = packet(0x10).string(version.protocolName()).u8(0x80 | version.level());
            rows.accepted(
                    version + " from a bridge", null, packet.u8(CLEAN).u16(0).string("c"));
        }
        for (String name : new String[] {"", "M", "MQTt", "mqtt", "MQTTX", "MQIsdpX", "AMQP"}) {
            PacketBytes packet =
                    packet(0x10).string(name).u8(4).u8(CLEAN).u16(0).string("c");
            rows.violation("protocol name '" + name + "'", null, unsupported, packet, "MQTT-3.1.2-1");
        }
        PacketBytes notText =
                packet(0x10).binary("FF FF FF FF").u8(4).u8(CLEAN).u16(0).string("c");
        rows.violation("protocol name that is no text", null, unsupported, notText, "MQTT-3.1.2-1");
        rows.violation("CONNECT of no bytes", null, ReasonCode.MALFORMED_PACKET, packet(0x10));
        rows.violation(
                "CONNECT of half a name length",
                null,
                ReasonCode.MALFORMED_PACKET,
                packet(0x10).u8(0));
        rows.violation(
                "protocol name longer than the packet",
                null,
                ReasonCode.MALFORMED_PACKET,
                packet(0x10).u16(0xFFFF).text("MQTT"));
        rows.violation(
                "no protocol level",
                null,
                ReasonCode.MALFORMED_PACKET,
                packet(0x10).string("MQTT"));
    }

    private static void addFlags(RowCollector rows, ProtocolVersion version) {
        boolean v31 = version == ProtocolVersion.MQTT_3_1;
        rows.accepted(version + " clean", null, connect(version, CLEAN, 60, "c"));
        rows.accepted(version + " not clean", null, connect(version, 0, 60, "c"));
        rows.accepted(version + " keep alive 0", null, connect(version, CLEAN, 0, "c"));
        rows.accepted(version + " keep alive 65,535", null, connect(version, CLEAN, 65_535, "c"));
        PacketBytes reserved = connect(version, CLEAN | 0x01, 0, "c");
        addIf(rows, v31, version + " reserved flag", reserved, "MQTT-3.1.2-3");
        for (int qos = 1; qos <= 3; qos++) {
            PacketBytes willQos = connect(version, CLEAN | qos << 3, 0, "c");
            addIf(rows, v31, version + " will QoS " + qos + " without will", willQos, "MQTT-3.1.2-11");
        }
        PacketBytes willRetain = connect(version, CLEAN | 0x20, 0, "c");
        addIf(rows, v31, version + " will retain without will", willRetain, "MQTT-3.1.2-13");
        PacketBytes password = connect(version, CLEAN | 0x40, 0, "c").binary("70");
        addIf(rows, version.isV5(), version + " password without user name", password, "MQTT-3.1.2-22@3.1.1");
    }

    private static void addIf(RowCollector rows, boolean accepted, String name, PacketBytes packet, String tag) {
        if (accepted) {
            rows.accepted(name, null, packet, tag);
        } else {
            rows.violation(name, null, ReasonCode.MALFORMED_PACKET, packet, tag);
        }
    }

    private static void addClientIds(RowCollector rows, ProtocolVersion version) {
        rows.accepted(
                version + " client identifier of 23 characters", null, connect(version, CLEAN, 0, "x".repeat(23)));
        rows.accepted(
                version + " client identifier of 200 characters", null, connect(version, CLEAN, 0, "x".repeat(200)));
        addEmptyClientId(rows, version, CLEAN, version != ProtocolVersion.MQTT_3_1);
        addEmptyClientId(rows, version, 0, version.isV5());
    }

    private static void addEmptyClientId(RowCollector rows, ProtocolVersion version, int flags, boolean accepted) {
        String name = version + " empty client identifier, " + (flags == CLEAN ? "clean" : "not clean");
        PacketBytes packet = connect(version, flags, 0, "");
        if (accepted) {
            rows.accepted(name, null, packet, "MQTT-3.1.3-6");
        } else {
            rows.violation(name, null, ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, packet, "MQTT-3.1.3-8@3.1.1");
        }
    }

    private static void addWills(RowCollector rows, ProtocolVersion version) {
        for (int qos = 0; qos <= 2; qos++) {
            rows.accepted(version + " will of QoS " + qos, null, will(version, qos << 3, "will/topic", "gone"));
            rows.accepted(
                    version + " retained will of QoS " + qos,
                    null,
                    will(version, qos << 3 | 0x20, "will/topic", "gone"));
        }
        rows.accepted(version + " will without payload", null, will(version, 0, "w", ""));
        rows.violation(
                version + " will of QoS 3",
                null,
                ReasonCode.MALFORMED_PACKET,
                will(version, 0x18, "w", "gone"),
                "MQTT-3.1.2-12");
        ReasonCode invalid = ReasonCode.TOPIC_NAME_INVALID;
        for (String topic : new String[] {"", "a/+", "#", "a/#", "+", "a+b"}) {
            rows.violation(
                    version + " will topic '" + topic + "'",
                    null,
                    invalid,
                    will(version, 0, topic, "gone"),
                    "MQTT-3.3.2-2");
        }
        rows.violation(version + " will topic too long", null, invalid, will(version, 0, "x".repeat(4_097), ""));
        rows.violation(
                version + " will topic of too many levels", null, invalid, will(version, 0, "/".repeat(128), ""));
        PacketBytes noPayload =
                connect(version, CLEAN | WILL, 0, "c").noPropertiesIn(version).string("w");
        rows.violation(version + " will payload missing", null, ReasonCode.MALFORMED_PACKET, noPayload);
        rows.violation(
                version + " will missing", null, ReasonCode.MALFORMED_PACKET, connect(version, CLEAN | WILL, 0, "c"));
        PacketBytes cutPayload = connect(version, CLEAN | WILL, 0, "c")
                .noPropertiesIn(version)
                .string("w")
                .u16(5)
                .text("gone");
        rows.violation(version + " will payload cut off", null, ReasonCode.MALFORMED_PACKET, cutPayload);
    }

    private static PacketBytes will(ProtocolVersion version, int flags, String topic, String payload) {
        return connect(version, CLEAN | WILL | flags, 0, "c")
                .noPropertiesIn(version)
                .string(topic)
                .string(payload);
    }

    private static void addCredentials(RowCollector rows, ProtocolVersion version) {
        boolean v31 = version == ProtocolVersion.MQTT_3_1; // the remaining length outweighs the flags there
        rows.accepted(
                version + " user name",
                null,
                connect(version, CLEAN | 0x80, 0, "c").string("user"));
        rows.accepted(
                version + " empty user name",
                null,
                connect(version, CLEAN | 0x80, 0, "c").string(""));
        rows.accepted(
                version + " user name and password",
                null,
                connect(version, CLEAN | 0xC0, 0, "c").string("user").binary("00 FF 80"));
        rows.accepted(
                version + " empty password",
                null,
                connect(version, CLEAN | 0xC0, 0, "c").string("user").string(""));
        rows.accepted(
                version + " everything",
                null,
                will(version, 0xF0, "will/topic", "gone").string("user").string("password"));
        addIf(rows, v31, version + " user name missing", connect(version, CLEAN | 0x80, 0, "c"), "MQTT-3.1.3-1");
        addIf(
                rows,
                v31,
                version + " password missing",
                connect(version, CLEAN | 0xC0, 0, "c").string("user"),
                "MQTT-3.1.3-1");
        rows.violation(
                version + " user name without flag",
                null,
                ReasonCode.MALFORMED_PACKET,
                connect(version, CLEAN, 0, "c").string("user"),
                "MQTT-3.1.2-16");
        rows.violation(
                version + " password without flag",
                null,
                ReasonCode.MALFORMED_PACKET,
                connect(version, CLEAN | 0x80, 0, "c").string("user").string("password"),
                "MQTT-3.1.2-18");
        rows.violation(
                version + " user name cut off",
                null,
                ReasonCode.MALFORMED_PACKET,
                connect(version, CLEAN | 0x80, 0, "c").u16(5).text("user"));
        rows.violation(
                version + " password cut off",
                null,
                ReasonCode.MALFORMED_PACKET,
                connect(version, CLEAN | 0xC0, 0, "c").string("user").u16(9).text("password"));
    }

    private static void addLengths(RowCollector rows, ProtocolVersion version) {
        byte[] whole = connect(version, CLEAN, 0, "client").toBytes();
        for (int length = 2; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            rows.needsMore(version + " CONNECT, first " + length + " bytes", null, cut);
            byte[] shortened = cut.clone();
            shortened[1] = (byte) (length - 2);
            rows.violation(
                    version + " CONNECT of only " + length + " bytes", null, ReasonCode.MALFORMED_PACKET, shortened);
        }
        rows.violation(
                version + " byte after CONNECT fields",
                null,
                ReasonCode.MALFORMED_PACKET,
                connect(version, CLEAN, 0, "c").u8(0));
    }

    private static void addPropertyValues(RowCollector rows) {
        add(
                rows,
                "session expiry 0",
                fields().u8(PropertyId.SESSION_EXPIRY_INTERVAL).u32(0));
        add(
                rows,
                "session expiry never",
                fields().u8(PropertyId.SESSION_EXPIRY_INTERVAL).u32(0xFFFF_FFFFL));
        add(rows, "receive maximum 1", fields().u8(PropertyId.RECEIVE_MAXIMUM).u16(1));
        add(
                rows,
                "maximum packet size 1",
                fields().u8(PropertyId.MAXIMUM_PACKET_SIZE).u32(1));
        add(
                rows,
                "topic alias maximum 0",
                fields().u8(PropertyId.TOPIC_ALIAS_MAXIMUM).u16(0));
        add(
                rows,
                "request problem information 0",
                fields().u8(PropertyId.REQUEST_PROBLEM_INFORMATION).u8(0));
        add(
                rows,
                "request response information 1",
                fields().u8(PropertyId.REQUEST_RESPONSE_INFORMATION).u8(1));
        refuse(
                rows,
                "receive maximum 0",
                fields().u8(PropertyId.RECEIVE_MAXIMUM).u16(0));
        refuse(
                rows,
                "maximum packet size 0",
                fields().u8(PropertyId.MAXIMUM_PACKET_SIZE).u32(0));
        refuse(
                rows,
                "request problem information 2",
                fields().u8(PropertyId.REQUEST_PROBLEM_INFORMATION).u8(2));
        refuse(
                rows,
                "request response information 2",
                fields().u8(PropertyId.REQUEST_RESPONSE_INFORMATION).u8(2));
        refuse(
                rows,
                "authentication data without method",
                fields().u8(PropertyId.AUTHENTICATION_DATA).binary("01"));
        PacketBytes method = fields().u8(PropertyId.AUTHENTICATION_METHOD).string("SCRAM-SHA-256");
        add(rows, "authentication method", method);
        add(
                rows,
                "authentication method and data",
                method.u8(PropertyId.AUTHENTICATION_DATA).binary("01"));
    }

    private static void add(RowCollector rows, String name, PacketBytes properties) {
        rows.accepted("CONNECT with " + name, null, connect(ProtocolVersion.MQTT_5, CLEAN, 0, "c", properties));
    }

    private static void refuse(RowCollector rows, String name, PacketBytes properties) {
        rows.violation(
                "CONNECT with " + name,
                null,
                ReasonCode.PROTOCOL_ERROR,
                connect(ProtocolVersion.MQTT_5, CLEAN, 0, "c", properties));
    }
}
