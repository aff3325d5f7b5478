// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import io.netty.handler.codec.mqtt.MqttMessageType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A packet between a client and a broker, as far as faults and comparisons need to know it. Nothing is checked: of a packet that
 * is malformed the parts that cannot be read are empty or 0. Immutable but for the arrays it hands out.
 */
public final class WirePacket {

    private static final int SHOWN_BYTES = 100;

    private final byte[] bytes;
    private final boolean v5;
    private final int bodyStart;

    /**
     * Takes the bytes of a packet.
     *
     * @param bytes the whole packet, with its fixed header; not copied
     * @param v5 whether the connection speaks MQTT 5.0
     */
    WirePacket(byte[] bytes, boolean v5) {
        this.bytes = bytes;
        this.v5 = v5;
        int start = 1;
        while (start < bytes.length && start < 4 && bytes[start] < 0) {
            start++;
        }
        bodyStart = Math.min(bytes.length, start + 1);
    }

    /** Whether these are the bytes of a CONNECT of MQTT 5.0. */
    static boolean isConnectOfV5(byte[] bytes) {
        WirePacket packet = new WirePacket(bytes, false);
        int level = packet.bodyStart + 2 + packet.u16(packet.bodyStart);
        return packet.type() == MqttMessageType.CONNECT && level < bytes.length && bytes[level] == 5;
    }

    /**
     * The packet as it was sent.
     *
     * @return all its bytes
     */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * The packet type.
     *
     * @return the type; of a malformed one the nearest that there is
     */
    public MqttMessageType type() {
        return MqttMessageType.valueOf(Math.max(1, (first() & 0xF0) >> 4));
    }

    private int first() {
        return bytes.length == 0 ? 0x10 : bytes[0] & 0xFF;
    }

    private boolean isPublish() {
        return type() == MqttMessageType.PUBLISH;
    }

    /**
     * The QoS of a PUBLISH.
     *
     * @return 0 to 2, 3 if it is malformed
     */
    public int qos() {
        return isPublish() ? (first() & 0x06) >> 1 : 0;
    }

    /**
     * The DUP flag of a PUBLISH.
     *
     * @return whether it is set
     */
    public boolean dup() {
        return isPublish() && (first() & 0x08) != 0;
    }

    /**
     * The RETAIN flag of a PUBLISH.
     *
     * @return whether it is set
     */
    public boolean retain() {
        return isPublish() && (first() & 0x01) != 0;
    }

    /**
     * The topic name of a PUBLISH.
     *
     * @return empty if only an alias was sent, and in other packets
     */
    public String topic() {
        if (!isPublish()) {
            return "";
        }
        int end = Math.min(bytes.length, bodyStart + 2 + u16(bodyStart));
        return bodyStart + 2 > end ? "" : new String(bytes, bodyStart + 2, end - bodyStart - 2, StandardCharsets.UTF_8);
    }

    private int afterTopic() {
        return bodyStart + 2 + u16(bodyStart);
    }

    /**
     * The packet identifier.
     *
     * @return 0 in packets without one
     */
    public int packetId() {
        return switch (type()) {
            case PUBLISH -> qos() == 0 ? 0 : u16(afterTopic());
            case PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK -> u16(bodyStart);
            default -> 0;
        };
    }

    /**
     * The payload of a PUBLISH.
     *
     * @return empty in other packets
     */
    public byte[] payload() {
        if (!isPublish()) {
            return new byte[0];
        }
        int at = afterTopic() + (qos() == 0 ? 0 : 2);
        if (v5) {
            int length = 0;
            int shift = 0;
            int next;
            do {
                next = at < bytes.length ? bytes[at] : 0;
                at++;
                length |= (next & 0x7F) << shift;
                shift += 7;
            } while (next < 0 && shift < 28);
            at += length;
        }
        return at < 0 || at >= bytes.length ? new byte[0] : Arrays.copyOfRange(bytes, at, bytes.length);
    }

    /**
     * The payload of a PUBLISH as text.
     *
     * @return UTF-8 decoded
     */
    public String text() {
        return new String(payload(), StandardCharsets.UTF_8);
    }

    private int u16(int at) {
        return at + 1 < bytes.length ? (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF : 0;
    }

    /** {@return the type, what a PUBLISH carries, and the first bytes} */
    @Override
    public String toString() {
        String text = type().toString();
        if (packetId() != 0) {
            text += " " + packetId();
        }
        if (isPublish()) {
            text += " QoS " + qos() + (dup() ? " DUP" : "") + (retain() ? " RETAIN" : "") + " '" + topic() + "'";
        }
        return text + " " + HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, SHOWN_BYTES))
                + (bytes.length > SHOWN_BYTES ? "…" : "");
    }
}
