// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.connect;
import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.LinkedHashMap;
import java.util.Map;

/** UTF-8 encoded strings, wherever packets have them (MQTT 5.0, section 1.5.4). */
final class StringRows {

    private static final String SURROGATES = "MQTT-1.5.4-1";
    private static final String NULL_CHARACTER = "MQTT-1.5.4-2";

    private static final Map<String, String> STRICT = new LinkedHashMap<>();
    private static final Map<String, String> NOT_STRICT = new LinkedHashMap<>();

    static {
        STRICT.put("one byte", "61");
        STRICT.put("two bytes", "C3 A4");
        STRICT.put("three bytes", "E2 82 AC");
        STRICT.put("four bytes", "F0 9F 98 80");
        STRICT.put("U+0001", "01");
        STRICT.put("U+007F", "7F");
        STRICT.put("U+0080", "C2 80");
        STRICT.put("U+07FF", "DF BF");
        STRICT.put("U+0800", "E0 A0 80");
        STRICT.put("U+D7FF", "ED 9F BF");
        STRICT.put("U+E000", "EE 80 80");
        STRICT.put("U+FEFF", "EF BB BF 61");
        STRICT.put("U+FFFF", "EF BF BF");
        STRICT.put("U+10000", "F0 90 80 80");
        STRICT.put("U+10FFFF", "F4 8F BF BF");
        STRICT.put("sixteen plain bytes, then two", "61 62 63 64 65 66 67 68 69 6A 6B 6C 6D 6E 6F 70 C3 A4");
        NOT_STRICT.put("U+0000", "00");
        NOT_STRICT.put("U+0000 after text", "61 62 00");
        NOT_STRICT.put("U+0000 within eight plain bytes", "61 62 63 00 65 66 67 68");
        NOT_STRICT.put("overlong U+0000", "C0 80");
        NOT_STRICT.put("overlong two bytes", "C1 BF");
        NOT_STRICT.put("overlong three bytes", "E0 9F BF");
        NOT_STRICT.put("overlong four bytes", "F0 8F BF BF");
        NOT_STRICT.put("lowest surrogate", "ED A0 80");
        NOT_STRICT.put("highest surrogate", "ED BF BF");
        NOT_STRICT.put("pair of surrogates", "ED A0 BD ED B8 80");
        NOT_STRICT.put("above U+10FFFF", "F4 90 80 80");
        NOT_STRICT.put("lead byte F5", "F5 80 80 80");
        NOT_STRICT.put("byte FE", "FE");
        NOT_STRICT.put("byte FF", "FF");
        NOT_STRICT.put("lone continuation", "80");
        NOT_STRICT.put("continuation missing", "C3");
        NOT_STRICT.put("second of three missing", "E2 28 A1");
        NOT_STRICT.put("third of three missing", "E2 82 28");
        NOT_STRICT.put("third of three cut off", "E2 82");
        NOT_STRICT.put("fourth of four missing", "F0 9F 98 28");
        NOT_STRICT.put("fourth of four cut off", "F0 9F 98");
        NOT_STRICT.put("lone byte within plain ones", "61 62 63 64 65 66 67 68 80 61 62 63 64 65 66 67");
    }

    private StringRows() {}

    static void addTo(RowCollector rows) {
        for (ProtocolVersion version : ProtocolVersion.values()) {
            STRICT.forEach((name, hex) -> addAccepted(rows, version, name, hex));
            NOT_STRICT.forEach((name, hex) -> addRefused(rows, version, name, hex));
        }
        NOT_STRICT.forEach((name, hex) -> addRefusedProperties(rows, name, hex));
        STRICT.forEach((name, hex) ->
                rows.accepted("content type: " + name, ProtocolVersion.MQTT_5, publish(PropertyId.CONTENT_TYPE, hex)));
    }

    private static void addAccepted(RowCollector rows, ProtocolVersion version, String name, String hex) {
        rows.accepted("topic name: " + name, version, publish(version, hex), "MQTT-1.5.4-3");
        rows.accepted("topic filter: " + name, version, subscribe(version, hex), "MQTT-3.8.3-1");
    }

    private static void addRefused(RowCollector rows, ProtocolVersion version, String name, String hex) {
        String tag = name.startsWith("U+0000") ? NULL_CHARACTER : SURROGATES;
        ReasonCode reason = ReasonCode.MALFORMED_PACKET;
        rows.violation("topic name: " + name, version, reason, publish(version, hex), tag, "MQTT-3.3.2-1");
        rows.violation("topic filter: " + name, version, reason, subscribe(version, hex), tag, "MQTT-3.8.3-1");
        PacketBytes unsubscribe = packet(0xA2).u16(1).noPropertiesIn(version).binary(hex);
        rows.violation("unsubscribe: " + name, version, reason, unsubscribe, tag, "MQTT-3.10.3-1");
        PacketBytes clientId = packet(0x10)
                .string(version.protocolName())
                .u8(version.level())
                .u8(2)
                .u16(0)
                .noPropertiesIn(version)
                .binary(hex);
        rows.violation(version + " client identifier: " + name, null, reason, clientId, tag, "MQTT-3.1.3-4");
        PacketBytes user = connect(version, 0x82, 0, "c").binary(hex);
        rows.violation(version + " user name: " + name, null, reason, user, tag, "MQTT-3.1.3-12");
        PacketBytes will = connect(version, 0x06, 0, "c")
                .noPropertiesIn(version)
                .binary(hex)
                .string("w");
        rows.violation(version + " will topic: " + name, null, reason, will, tag, "MQTT-3.1.3-11");
    }

    private static void addRefusedProperties(RowCollector rows, String name, String hex) {
        ProtocolVersion v5 = ProtocolVersion.MQTT_5;
        ReasonCode reason = ReasonCode.MALFORMED_PACKET;
        rows.violation("content type: " + name, v5, reason, publish(PropertyId.CONTENT_TYPE, hex), "MQTT-3.3.2-19");
        rows.violation("response topic: " + name, v5, reason, publish(PropertyId.RESPONSE_TOPIC, hex), "MQTT-3.3.2-13");
        PacketBytes userName = fields().u8(PropertyId.USER_PROPERTY).binary(hex).string("v");
        rows.violation("user property name: " + name, v5, reason, publish(userName));
        PacketBytes userValue =
                fields().u8(PropertyId.USER_PROPERTY).string("n").binary(hex);
        rows.violation("user property value: " + name, v5, reason, publish(userValue));
        PacketBytes text = fields().u8(PropertyId.REASON_STRING).binary(hex);
        rows.violation(
                "reason string: " + name, v5, reason, packet(0x40).u16(1).u8(0).properties(text));
        PacketBytes method = fields().u8(PropertyId.AUTHENTICATION_METHOD).binary(hex);
        rows.violation(
                "authentication method: " + name,
                v5,
                reason,
                packet(0xF0).u8(0x18).properties(method));
    }

    private static PacketBytes publish(ProtocolVersion version, String topic) {
        return packet(0x30).binary(topic).noPropertiesIn(version).text("x");
    }

    private static PacketBytes publish(int property, String hex) {
        return publish(fields().u8(property).binary(hex));
    }

    private static PacketBytes publish(PacketBytes properties) {
        return packet(0x30).string("t").properties(properties).text("x");
    }

    private static PacketBytes subscribe(ProtocolVersion version, String filter) {
        return packet(0x82).u16(1).noPropertiesIn(version).binary(filter).u8(1);
    }
}
