// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import static io.smqtt.test.packet.PacketBytes.connect;
import static io.smqtt.test.packet.PacketBytes.fields;
import static io.smqtt.test.packet.PacketBytes.packet;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Every property on every packet that a client sends: once, twice, cut off (MQTT 5.0, section 2.2.2.2). */
final class PropertyRows {

    private static final int USER_PROPERTY = 0x26;
    private static final int SUBSCRIPTION_IDENTIFIER = 0x0B;
    private static final int SERVER_REFERENCE = 0x1C;

    /** The packets of clients that carry properties, and which, as table 2-4 of the standard lists them. */
    private enum Carrier {
        CONNECT(0x11, 0x15, 0x16, 0x17, 0x19, 0x21, 0x22, 0x26, 0x27),
        WILL(0x01, 0x02, 0x03, 0x08, 0x09, 0x18, 0x26),
        PUBLISH(0x01, 0x02, 0x03, 0x08, 0x09, 0x23, 0x26),
        PUBACK(0x1F, 0x26),
        PUBREC(0x1F, 0x26),
        PUBREL(0x1F, 0x26),
        PUBCOMP(0x1F, 0x26),
        SUBSCRIBE(0x0B, 0x26),
        UNSUBSCRIBE(0x26),
        DISCONNECT(0x11, 0x1F, 0x26),
        AUTH(0x15, 0x16, 0x1F, 0x26);

        private final Set<Integer> allowed;

        Carrier(Integer... allowed) {
            this.allowed = Set.of(allowed);
        }

        @Nullable
        ProtocolVersion version() {
            return this == CONNECT || this == WILL ? null : ProtocolVersion.MQTT_5;
        }

        PacketBytes with(PacketBytes properties) {
            return switch (this) {
                case CONNECT -> connect(ProtocolVersion.MQTT_5, 2, 0, "c", properties);
                case WILL ->
                    connect(ProtocolVersion.MQTT_5, 6, 0, "c")
                            .properties(properties)
                            .string("w")
                            .string("gone");
                case PUBLISH -> packet(0x30).string("t").properties(properties).text("x");
                case PUBACK -> packet(0x40).u16(1).u8(0).properties(properties);
                case PUBREC -> packet(0x50).u16(1).u8(0).properties(properties);
                case PUBREL -> packet(0x62).u16(1).u8(0).properties(properties);
                case PUBCOMP -> packet(0x70).u16(1).u8(0).properties(properties);
                case SUBSCRIBE ->
                    packet(0x82).u16(1).properties(properties).string("a").u8(0);
                case UNSUBSCRIBE -> packet(0xA2).u16(1).properties(properties).string("a");
                case DISCONNECT -> packet(0xE0).u8(0).properties(properties);
                case AUTH -> packet(0xF0).u8(0x18).properties(properties);
            };
        }

        /** What else must stand in the block for it to be legal. */
        PacketBytes besides(int property) {
            PacketBytes block = fields();
            boolean method = (this == AUTH && property != 0x15) || (this == CONNECT && property == 0x16);
            return method ? block.u8(0x15).string("m") : block;
        }
    }

    private PropertyRows() {}

    static void addTo(RowCollector rows) {
        for (Carrier carrier : Carrier.values()) {
            for (int property = 0; property < 256; property++) {
                add(rows, carrier, property);
            }
            addBlocks(rows, carrier);
        }
    }

    private static void add(RowCollector rows, Carrier carrier, int property) {
        String name = String.format("%s with property %02X", carrier, property);
        byte[] value = value(property);
        PacketBytes once = carrier.with(carrier.besides(property).u8(property).bytes(value));
        if (!carrier.allowed.contains(property)) {
            boolean known = (carrier == Carrier.PUBLISH && property == SUBSCRIPTION_IDENTIFIER)
                    || (carrier == Carrier.DISCONNECT && property == SERVER_REFERENCE);
            ReasonCode reason = known ? ReasonCode.PROTOCOL_ERROR : ReasonCode.MALFORMED_PACKET;
            rows.violation(name, carrier.version(), reason, once);
            return;
        }
        rows.accepted(name, carrier.version(), once);
        PacketBytes twice = carrier.with(
                carrier.besides(property).u8(property).bytes(value).u8(property).bytes(value));
        if (property == USER_PROPERTY) {
            rows.accepted(name + " twice", carrier.version(), twice);
        } else {
            rows.violation(name + " twice", carrier.version(), ReasonCode.PROTOCOL_ERROR, twice);
        }
        for (int length = 0; length < value.length; length++) {
            byte[] cut = Arrays.copyOf(value, length);
            rows.violation(
                    name + " cut off after " + length + " bytes",
                    carrier.version(),
                    ReasonCode.MALFORMED_PACKET,
                    carrier.with(carrier.besides(property).u8(property).bytes(cut)));
        }
    }

    /** A legal value of each property; nothing for identifiers that the standard does not have. */
    private static byte[] value(int property) {
        PacketBytes value = fields();
        Function<PacketBytes, PacketBytes> write = switch (property) {
            case 0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A, 0x0B -> fields -> fields.u8(1);
            case 0x13, 0x21, 0x22, 0x23 -> fields -> fields.u16(300);
            case 0x02, 0x11, 0x18, 0x27 -> fields -> fields.u32(70_000);
            case 0x03, 0x08, 0x12, 0x15, 0x1A, 0x1C, 0x1F -> fields -> fields.string("text");
            case 0x09, 0x16 -> fields -> fields.binary("00 FF");
            case USER_PROPERTY -> fields -> fields.string("name").string("value");
            default -> fields -> fields;
        };
        return write.apply(value).toBytes();
    }

    private static void addBlocks(RowCollector rows, Carrier carrier) {
        PacketBytes user = fields();
        for (int i = 0; i < 101; i++) {
            user.u8(USER_PROPERTY).string("n").string("v");
        }
        rows.violation(
                carrier + " with 101 user properties",
                carrier.version(),
                ReasonCode.QUOTA_EXCEEDED,
                carrier.with(user));
        PacketBytes twoBytes =
                carrier.besides(0).u8(0x80 | USER_PROPERTY).u8(0).string("n").string("v");
        rows.violation(
                carrier + " with an overlong property identifier",
                carrier.version(),
                ReasonCode.MALFORMED_PACKET,
                carrier.with(twoBytes),
                "MQTT-1.5.5-1");
    }
}
