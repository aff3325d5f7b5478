// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;

/** PUBLISH (section 3.3 of all versions), but its flags, strings and property matrix. */
final class PublishRows {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    private PublishRows() {}

    static void addTo(RowCollector rows) {
        for (ProtocolVersion version : ProtocolVersion.values()) {
            addPackets(rows, version);
            addTopics(rows, version);
            addLengths(rows, version);
        }
        addAliases(rows);
        addPropertyValues(rows);
    }

    private static void addPackets(RowCollector rows, ProtocolVersion version) {
        rows.accepted("PUBLISH of QoS 0", version, publish(version, 0x30, "a/b").text("hello"));
        rows.accepted(
                "PUBLISH of QoS 0, retained",
                version,
                publish(version, 0x31, "a/b").text("hello"));
        for (int qos = 1; qos <= 2; qos++) {
            int first = 0x30 | qos << 1;
            rows.accepted(
                    "PUBLISH of QoS " + qos,
                    version,
                    publish(version, first, "a/b").text("hello"));
            rows.accepted(
                    "PUBLISH of QoS " + qos + ", DUP",
                    version,
                    publish(version, first | 8, "a").text("x"));
            rows.accepted("PUBLISH of QoS " + qos + ", all flags", version, publish(version, first | 9, "a"));
            rows.violation(
                    "PUBLISH of QoS " + qos + " with packet identifier 0",
                    version,
                    ReasonCode.PROTOCOL_ERROR,
                    packet(first).string("a").u16(0).noPropertiesIn(version),
                    "MQTT-2.2.1-3");
            rows.violation(
                    "PUBLISH of QoS " + qos + " without packet identifier",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(first).string("a"));
            rows.violation(
                    "PUBLISH of QoS " + qos + " with half a packet identifier",
                    version,
                    ReasonCode.MALFORMED_PACKET,
                    packet(first).string("a").u8(1));
        }
        rows.accepted(
                "PUBLISH with packet identifier 65,535",
                version,
                packet(0x32).string("a").u16(65_535).noPropertiesIn(version));
        rows.accepted("PUBLISH without payload", version, publish(version, 0x30, "a"));
        rows.accepted(
                "PUBLISH with any bytes", version, publish(version, 0x30, "a").hex("00 FF FE 80 00"));
        for (int bytes : new int[] {120, 130, 16_000, 17_000, 100_000}) {
            rows.accepted(
                    "PUBLISH of " + bytes + " bytes of payload",
                    version,
                    publish(version, 0x30, "a").bytes(new byte[bytes]));
        }
    }

    private static void addTopics(RowCollector rows, ProtocolVersion version) {
        ReasonCode invalid = ReasonCode.TOPIC_NAME_INVALID;
        for (String topic : new String[] {"/", "//", "a/", "/a", " ", "a b", "$SYS/x", "$share/g/t", "$"}) {
            rows.accepted("topic name '" + topic + "'", version, publish(version, 0x30, topic), "MQTT-4.7.3-1");
        }
        for (String topic : new String[] {"+", "#", "a/+", "a/#", "a+", "a/#/b", "#a"}) {
            rows.violation(
                    "topic name '" + topic + "'",
                    version,
                    invalid,
                    publish(version, 0x30, topic),
                    "MQTT-3.3.2-2",
                    "MQTT-4.7.1-1");
        }
        rows.accepted("topic name of 4,096 bytes", version, publish(version, 0x30, "x".repeat(4_096)));
        rows.accepted("topic name of 128 levels", version, publish(version, 0x30, "/".repeat(127)));
        rows.violation("topic name of 4,097 bytes", version, invalid, publish(version, 0x30, "x".repeat(4_097)));
        rows.violation("topic name of 129 levels", version, invalid, publish(version, 0x30, "/".repeat(128)));
        rows.violation(
                "empty topic name", version, ReasonCode.PROTOCOL_ERROR, publish(version, 0x30, ""), "MQTT-4.7.3-1");
    }

    private static void addLengths(RowCollector rows, ProtocolVersion version) {
        ReasonCode malformed = ReasonCode.MALFORMED_PACKET;
        rows.violation("PUBLISH of no bytes", version, malformed, packet(0x30));
        rows.violation("PUBLISH of one byte", version, malformed, packet(0x30).u8(0));
        rows.violation(
                "topic name cut off", version, malformed, packet(0x30).u16(4).text("a/b"));
        rows.violation(
                "topic name of 65,535 bytes cut off",
                version,
                malformed,
                packet(0x30).u16(65_535).text("a"));
        rows.needsMore(
                "PUBLISH without its last byte",
                version,
                fields().hex("30 06 00 01 61 00 78").toBytes());
    }

    private static void addAliases(RowCollector rows) {
        PacketBytes one = fields().u8(PropertyId.TOPIC_ALIAS).u16(1);
        rows.accepted(
                "topic name and topic alias",
                V5,
                packet(0x30).string("a").properties(one).text("x"));
        rows.accepted(
                "topic alias alone", V5, packet(0x30).string("").properties(one).text("x"));
        rows.accepted(
                "topic alias 65,535",
                V5,
                packet(0x30)
                        .string("a")
                        .properties(fields().u8(PropertyId.TOPIC_ALIAS).u16(65_535)));
        rows.violation(
                "topic alias 0",
                V5,
                ReasonCode.TOPIC_ALIAS_INVALID,
                packet(0x30)
                        .string("a")
                        .properties(fields().u8(PropertyId.TOPIC_ALIAS).u16(0)),
                "MQTT-3.3.2-8");
        rows.violation(
                "topic alias 0 alone",
                V5,
                ReasonCode.TOPIC_ALIAS_INVALID,
                packet(0x30)
                        .string("")
                        .properties(fields().u8(PropertyId.TOPIC_ALIAS).u16(0)),
                "MQTT-3.3.2-8");
    }

    private static void addPropertyValues(RowCollector rows) {
        for (int value = 0; value <= 1; value++) {
            accept(
                    rows,
                    "payload format " + value,
                    fields().u8(PropertyId.PAYLOAD_FORMAT_INDICATOR).u8(value));
        }
        refuse(
                rows,
                "payload format 2",
                fields().u8(PropertyId.PAYLOAD_FORMAT_INDICATOR).u8(2));
        accept(
                rows,
                "message expiry 0",
                fields().u8(PropertyId.MESSAGE_EXPIRY_INTERVAL).u32(0));
        accept(
                rows,
                "message expiry",
                fields().u8(PropertyId.MESSAGE_EXPIRY_INTERVAL).u32(0xFFFF_FFFFL));
        accept(rows, "response topic", fields().u8(PropertyId.RESPONSE_TOPIC).string("answers/1"));
        for (String topic : new String[] {"answers/+", "#", "a+", ""}) {
            refuse(
                    rows,
                    "response topic '" + topic + "'",
                    fields().u8(PropertyId.RESPONSE_TOPIC).string(topic));
        }
        accept(
                rows,
                "empty correlation data",
                fields().u8(PropertyId.CORRELATION_DATA).binary(""));
        accept(
                rows,
                "correlation data",
                fields().u8(PropertyId.CORRELATION_DATA).binary("00 FF"));
        accept(rows, "empty content type", fields().u8(PropertyId.CONTENT_TYPE).string(""));
        PacketBytes identifier = fields().u8(PropertyId.SUBSCRIPTION_IDENTIFIER).variable(1);
        rows.violation(
                "PUBLISH with subscription identifier",
                V5,
                ReasonCode.PROTOCOL_ERROR,
                publish(identifier),
                "MQTT-3.3.4-6");
        accept(rows, "100 user properties", userProperties(100));
        accept(
                rows,
                "all properties",
                fields().u8(PropertyId.PAYLOAD_FORMAT_INDICATOR)
                        .u8(1)
                        .u8(PropertyId.MESSAGE_EXPIRY_INTERVAL)
                        .u32(60)
                        .u8(PropertyId.TOPIC_ALIAS)
                        .u16(7)
                        .u8(PropertyId.RESPONSE_TOPIC)
                        .string("r")
                        .u8(PropertyId.CORRELATION_DATA)
                        .binary("01 02")
                        .u8(PropertyId.USER_PROPERTY)
                        .string("n")
                        .string("v")
                        .u8(PropertyId.CONTENT_TYPE)
                        .string("text/plain")
                        .u8(PropertyId.USER_PROPERTY)
                        .string("n")
                        .string("w"));
    }

    private static PacketBytes userProperties(int count) {
        PacketBytes properties = fields();
        for (int i = 0; i < count; i++) {
            properties.u8(PropertyId.USER_PROPERTY).string("name").string("value");
        }
        return properties;
    }

    private static void accept(RowCollector rows, String name, PacketBytes properties) {
        rows.accepted("PUBLISH with " + name, V5, publish(properties));
    }

    private static void refuse(RowCollector rows, String name, PacketBytes properties) {
        String[] tags = name.startsWith("response topic") ? new String[] {"MQTT-3.3.2-14"} : new String[0];
        rows.violation("PUBLISH with " + name, V5, ReasonCode.PROTOCOL_ERROR, publish(properties), tags);
    }

    private static PacketBytes publish(PacketBytes properties) {
        return packet(0x32).string("t").u16(9).properties(properties).text("x");
    }

    private static PacketBytes publish(ProtocolVersion version, int first, String topic) {
        PacketBytes packet = packet(first).string(topic);
        return ((first & 6) == 0 ? packet : packet.u16(10)).noPropertiesIn(version);
    }
}
