// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;

/** SUBSCRIBE and UNSUBSCRIBE (sections 3.8 and 3.10). Whether a text is a topic filter is not the decoder's question. */
final class SubscribeRows {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int SUBSCRIBE = 0x82;
    private static final int UNSUBSCRIBE = 0xA2;
    private static final String[] FILTERS = {
        "a", "a/b", "/", "+", "#", "a/+/b", "a/#", "+/+", "$SYS/#", "$share/g/a", "$share/g/#", "a b"
    };

    private SubscribeRows() {}

    static void addTo(RowCollector rows) {
        for (ProtocolVersion version : ProtocolVersion.values()) {
            addFilters(rows, version);
            addOptions(rows, version);
            addLengths(rows, version);
            addLimits(rows, version);
        }
        addIdentifiers(rows);
    }

    private static void addFilters(RowCollector rows, ProtocolVersion version) {
        for (String filter : FILTERS) {
            rows.accepted("SUBSCRIBE to '" + filter + "'", version, subscribe(version, filter, 0));
            rows.accepted("UNSUBSCRIBE from '" + filter + "'", version, unsubscribe(version, filter));
        }
        rows.accepted(
                "SUBSCRIBE to two filters",
                version,
                subscribe(version, "a", 1).string("b/#").u8(2));
        rows.accepted(
                "UNSUBSCRIBE from two filters",
                version,
                unsubscribe(version, "a").string("b/#"));
        rows.violation(
                "SUBSCRIBE with packet identifier 0",
                version,
                ReasonCode.PROTOCOL_ERROR,
                packet(SUBSCRIBE).u16(0).noPropertiesIn(version).string("a").u8(0),
                "MQTT-2.2.1-3");
        rows.violation(
                "UNSUBSCRIBE with packet identifier 0",
                version,
                ReasonCode.PROTOCOL_ERROR,
                packet(UNSUBSCRIBE).u16(0).noPropertiesIn(version).string("a"),
                "MQTT-2.2.1-3");
        rows.violation(
                "SUBSCRIBE without filter",
                version,
                ReasonCode.PROTOCOL_ERROR,
                packet(SUBSCRIBE).u16(1).noPropertiesIn(version),
                "MQTT-3.8.3-2");
        rows.violation(
                "UNSUBSCRIBE without filter",
                version,
                ReasonCode.PROTOCOL_ERROR,
                packet(UNSUBSCRIBE).u16(1).noPropertiesIn(version),
                "MQTT-3.10.3-2");
    }

    private static void addOptions(RowCollector rows, ProtocolVersion version) {
        for (int options = 0; options < 256; options++) {
            String name = String.format("SUBSCRIBE with options %02X", options);
            PacketBytes packet = subscribe(version, "a", options);
            int reserved = version.isV5() ? 0xC0 : version == ProtocolVersion.MQTT_3_1_1 ? 0xFC : 0;
            if ((options & reserved) != 0) {
                rows.violation(name, version, ReasonCode.MALFORMED_PACKET, packet, "MQTT-3.8.3-5");
            } else if ((options & 0x03) == 3 || (version.isV5() && (options & 0x30) == 0x30)) {
                rows.violation(name, version, ReasonCode.PROTOCOL_ERROR, packet);
            } else {
                rows.accepted(name, version, packet);
            }
        }
        for (String filter : new String[] {"$share/g/a", "$share/g/#", "$share"}) {
            String name = "SUBSCRIBE with no local to '" + filter + "'";
            if (version.isV5()) {
                rows.violation(name, version, ReasonCode.PROTOCOL_ERROR, subscribe(version, filter, 4), "MQTT-3.8.3-4");
            }
        }
        if (version.isV5()) {
            rows.accepted("SUBSCRIBE with no local to '$shared/a'", version, subscribe(version, "$shared/a", 4));
        }
    }

    private static void addLengths(RowCollector rows, ProtocolVersion version) {
        ReasonCode malformed = ReasonCode.MALFORMED_PACKET;
        for (int first : new int[] {SUBSCRIBE, UNSUBSCRIBE}) {
            String name = first == SUBSCRIBE ? "SUBSCRIBE" : "UNSUBSCRIBE";
            rows.violation(name + " of no bytes", version, malformed, packet(first));
            rows.violation(
                    name + " of one byte", version, malformed, packet(first).u8(0));
            PacketBytes half = packet(first).u16(1).noPropertiesIn(version).u8(0);
            rows.violation(name + " with half a filter length", version, malformed, half);
            PacketBytes cut =
                    packet(first).u16(1).noPropertiesIn(version).u16(4).text("a/b");
            rows.violation(name + " with a filter cut off", version, malformed, cut);
            rows.needsMore(
                    name + ", first four bytes",
                    version,
                    fields().u8(first).u8(20).u16(1).toBytes());
        }
        PacketBytes noOptions = packet(SUBSCRIBE).u16(1).noPropertiesIn(version).string("a");
        rows.violation("SUBSCRIBE without options", version, malformed, noOptions);
        rows.violation(
                "SUBSCRIBE with a byte after its options",
                version,
                malformed,
                subscribe(version, "a", 0).u8(0));
        rows.violation(
                "UNSUBSCRIBE with a byte after its filter",
                version,
                malformed,
                unsubscribe(version, "a").u8(0));
    }

    private static void addLimits(RowCollector rows, ProtocolVersion version) {
        PacketBytes subscribe = packet(SUBSCRIBE).u16(1).noPropertiesIn(version);
        PacketBytes unsubscribe = packet(UNSUBSCRIBE).u16(1).noPropertiesIn(version);
        for (int i = 0; i < 1_000; i++) {
            subscribe.string("f" + i).u8(0);
            unsubscribe.string("f" + i);
        }
        rows.accepted("SUBSCRIBE to 1,000 filters", version, subscribe);
        rows.accepted("UNSUBSCRIBE from 1,000 filters", version, unsubscribe);
        rows.violation(
                "SUBSCRIBE to 1,001 filters",
                version,
                ReasonCode.QUOTA_EXCEEDED,
                fields().bytes(subscribe.string("one more").u8(0).toBytes()));
        rows.violation(
                "UNSUBSCRIBE from 1,001 filters",
                version,
                ReasonCode.QUOTA_EXCEEDED,
                fields().bytes(unsubscribe.string("one more").toBytes()));
        rows.accepted("SUBSCRIBE to 4,096 bytes", version, subscribe(version, "x".repeat(4_096), 0));
        rows.violation(
                "SUBSCRIBE to 4,097 bytes",
                version,
                ReasonCode.TOPIC_FILTER_INVALID,
                subscribe(version, "x".repeat(4_097), 0));
        rows.violation(
                "UNSUBSCRIBE from 4,097 bytes",
                version,
                ReasonCode.TOPIC_FILTER_INVALID,
                unsubscribe(version, "x".repeat(4_097)));
    }

    private static void addIdentifiers(RowCollector rows) {
        for (int identifier : new int[] {1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455}) {
            rows.accepted(
                    "SUBSCRIBE with identifier " + identifier,
                    V5,
                    subscribe(fields().u8(PropertyId.SUBSCRIPTION_IDENTIFIER).variable(identifier)));
        }
        rows.violation(
                "SUBSCRIBE with identifier 0",
                V5,
                ReasonCode.PROTOCOL_ERROR,
                subscribe(fields().u8(PropertyId.SUBSCRIPTION_IDENTIFIER).u8(0)));
        rows.violation(
                "SUBSCRIBE with two identifiers",
                V5,
                ReasonCode.PROTOCOL_ERROR,
                subscribe(fields().u8(PropertyId.SUBSCRIPTION_IDENTIFIER)
                        .u8(1)
                        .u8(PropertyId.SUBSCRIPTION_IDENTIFIER)
                        .u8(2)));
        rows.violation(
                "SUBSCRIBE with an identifier of five bytes",
                V5,
                ReasonCode.MALFORMED_PACKET,
                subscribe(fields().u8(PropertyId.SUBSCRIPTION_IDENTIFIER).hex("80 80 80 80 01")));
        rows.violation(
                "SUBSCRIBE with an overlong identifier",
                V5,
                ReasonCode.MALFORMED_PACKET,
                subscribe(fields().u8(PropertyId.SUBSCRIPTION_IDENTIFIER).hex("81 00")),
                "MQTT-1.5.5-1");
    }

    private static PacketBytes subscribe(PacketBytes properties) {
        return packet(SUBSCRIBE).u16(1).properties(properties).string("a").u8(0);
    }

    private static PacketBytes subscribe(ProtocolVersion version, String filter, int options) {
        return packet(SUBSCRIBE).u16(10).noPropertiesIn(version).string(filter).u8(options);
    }

    private static PacketBytes unsubscribe(ProtocolVersion version, String filter) {
        return packet(UNSUBSCRIBE).u16(10).noPropertiesIn(version).string(filter);
    }
}
