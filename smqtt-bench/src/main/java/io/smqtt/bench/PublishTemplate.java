// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/**
 * A PUBLISH packet (section 3.3) encoded once; each message is a copy with its few variable bytes replaced. The payload
 * begins with a {@link Stamp}; the rest is filler. A topic with the suffix {@link #NUMBER} gets a number per message.
 */
final class PublishTemplate {

    /** The suffix of a numbered topic. */
    static final String NUMBER = "########";

    private final byte[] packet;
    private final int topicEnd;
    private final int identifierAt;
    private final int payloadAt;
    private final boolean numbered;

    PublishTemplate(int version, String topic, int qos, boolean retain, int payloadBytes) {
        numbered = topic.endsWith(NUMBER);
        int topicBytes = ClientPackets.stringBytes(topic);
        int length = topicBytes + (qos > 0 ? 2 : 0) + (version == 5 ? 1 : 0) + payloadBytes;
        ByteBuf out = Unpooled.buffer(length + 5);
        out.writeByte(0x30 | qos << 1 | (retain ? 1 : 0));
        ClientPackets.variableByteInteger(out, length);
        out.writeShort(topicBytes - 2).writeBytes(topic.getBytes(StandardCharsets.UTF_8));
        topicEnd = out.writerIndex();
        identifierAt = qos > 0 ? topicEnd : -1;
        if (qos > 0) {
            out.writeShort(0);
        }
        if (version == 5) {
            out.writeByte(0);
        }
        payloadAt = out.writerIndex();
        for (int i = 0; i < payloadBytes; i++) {
            out.writeByte('a' + i % 26);
        }
        packet = new byte[out.readableBytes()];
        out.readBytes(packet);
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
