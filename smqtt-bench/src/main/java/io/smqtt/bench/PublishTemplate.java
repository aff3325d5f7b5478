// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A PUBLISH packet (section 3.3) encoded once; each message is a copy with its few variable bytes replaced. The payload
 * begins with a {@link Stamp}; the rest is filler. A topic with the suffix {@link #NUMBER} gets a number per message.
 */
final class PublishTemplate {

    /** The suffix of a numbered topic. */
    static final String NUMBER = "########";

    private static final int TOPIC_ALIAS = 0x23;
    private static final int USER_PROPERTY = 0x26;

    private final byte[] packet;
    private final int topicEnd;
    private final int identifierAt;
    private final int payloadAt;
    private final boolean numbered;

    /** A message without properties. */
    PublishTemplate(int version, String topic, int qos, boolean retain, int payloadBytes) {
        this(version, topic, qos, retain, List.of(), 0, letters(payloadBytes));
    }

    /**
     * A message with properties, which are for MQTT 5 only.
     *
     * @param topic the topic; empty if the alias stands for it
     * @param topicAlias 0 for none
     * @param payload the payload before it is stamped
     */
    PublishTemplate(
            int version,
            String topic,
            int qos,
            boolean retain,
            List<UserProperty> userProperties,
            int topicAlias,
            byte[] payload) {
        numbered = topic.endsWith(NUMBER);
        int topicBytes = ClientPackets.stringBytes(topic);
        ByteBuf properties = version == 5 ? properties(userProperties, topicAlias) : Unpooled.EMPTY_BUFFER;
        int length = topicBytes + (qos > 0 ? 2 : 0) + properties.readableBytes() + payload.length;
        ByteBuf out = Unpooled.buffer(length + 5);
        out.writeByte(0x30 | qos << 1 | (retain ? 1 : 0));
        ClientPackets.variableByteInteger(out, length);
        out.writeShort(topicBytes - 2).writeBytes(topic.getBytes(StandardCharsets.UTF_8));
        topicEnd = out.writerIndex();
        identifierAt = qos > 0 ? topicEnd : -1;
        if (qos > 0) {
            out.writeShort(0);
        }
        out.writeBytes(properties);
        payloadAt = out.writerIndex();
        out.writeBytes(payload);
        packet = new byte[out.readableBytes()];
        out.readBytes(packet);
    }

    /** A payload of letters. */
    static byte[] letters(int bytes) {
        byte[] letters = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            letters[i] = (byte) ('a' + i % 26);
        }
        return letters;
    }

    private static ByteBuf properties(List<UserProperty> userProperties, int topicAlias) {
        int length = topicAlias > 0 ? 3 : 0;
        for (UserProperty property : userProperties) {
            length += property.encodedBytes();
        }
        ByteBuf out = Unpooled.buffer(length + 4);
        ClientPackets.variableByteInteger(out, length);
        if (topicAlias > 0) {
            out.writeByte(TOPIC_ALIAS).writeShort(topicAlias);
        }
        for (UserProperty property : userProperties) {
            out.writeByte(USER_PROPERTY);
            ClientPackets.string(out, property.name());
            ClientPackets.string(out, property.value());
        }
        return out;
    }

    /** Appends a message whose payload is stamped. */
    void write(ByteBuf out, int packetIdentifier, long sentNanos, int publisher, int sequence) {
        int start = append(out, packetIdentifier, sequence);
        Stamp.write(out, start + payloadAt, sentNanos, publisher, sequence);
    }

    /** Appends a message without a stamp, such as the empty one that deletes a retained message. */
    void writeBare(ByteBuf out, int packetIdentifier, int number) {
        append(out, packetIdentifier, number);
    }

    private int append(ByteBuf out, int packetIdentifier, int number) {
        int start = out.writerIndex();
        out.writeBytes(packet);
        if (identifierAt >= 0) {
            out.setShort(start + identifierAt, packetIdentifier);
        }
        if (numbered) {
            int rest = number;
            for (int i = 1; i <= NUMBER.length(); i++) {
                out.setByte(start + topicEnd - i, '0' + rest % 10);
                rest /= 10;
            }
        }
        return start;
    }

    int packetBytes() {
        return packet.length;
    }
}
