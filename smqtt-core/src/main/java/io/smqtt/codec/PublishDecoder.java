// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PayloadReader;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;

/** Decodes a PUBLISH (MQTT 5.0, section 3.3) into one reused view. */
final class PublishDecoder {

    private static final long PROPERTIES = PropertyReader.allowed(
            PropertyId.PAYLOAD_FORMAT_INDICATOR,
            PropertyId.MESSAGE_EXPIRY_INTERVAL,
            PropertyId.TOPIC_ALIAS,
            PropertyId.RESPONSE_TOPIC,
            PropertyId.CORRELATION_DATA,
            PropertyId.USER_PROPERTY,
            PropertyId.SUBSCRIPTION_IDENTIFIER, // rejected below with its own reason code
            PropertyId.CONTENT_TYPE);

    private final PacketReader reader;
    private final PropertyReader properties;
    private final TopicCache topics;
    private final PublishPacket packet;

    PublishDecoder(PacketReader reader, PropertyReader properties, TopicCache topics, PayloadReader payloads) {
        this.packet = new PublishPacket(payloads);
        this.reader = reader;
        this.properties = properties;
        this.topics = topics;
    }

    /**
     * The length of the packet up to the payload, so that of a buffer without an array only this part is copied. For lengths that do not fit in
     * the packet it is the whole packet, which is rejected later.
     */
    static int headerLength(ByteBuf in, int start, int length, int first, ProtocolVersion version) {
        if (length < 2) {
            return length;
        }
        int header = 2 + in.getUnsignedShort(start) + ((first & 0x06) == 0 ? 0 : 2);
        if (!version.isV5()) {
            return Math.min(header, length);
        }
        int block = 0;
        for (int shift = 0; shift <= 21 && header < length; shift += 7) {
            int b = in.getByte(start + header++);
            block |= (b & 0x7F) << shift;
            if (b >= 0) {
                break;
            }
        }
        return Math.min(header + block, length);
    }

    /** Decodes the header at the position of the reader; the rest of the packet is the payload. */
    void decode(ByteBuf in, int start, int length, int first, ProtocolVersion version, PacketHandler handler) {
        int headerStart = reader.at;
        packet.duplicate = (first & 0x08) != 0;
        packet.qos = QoS.of(first >> 1 & 3);
        packet.retain = (first & 0x01) != 0;
        int topicLength = reader.readLength();
        packet.topic = topicLength == 0 ? null : topics.get(reader.array, reader.at, topicLength);
        reader.at += topicLength;
        packet.packetId = (first & 0x06) == 0 ? 0 : reader.readPacketId();
        readProperties(version);
        int headerLength = reader.at - headerStart;
        packet.source = in;
        packet.payloadIndex = start + headerLength;
        packet.payloadSize = length - headerLength;
        try {
            handler.onPublish(packet);
        } finally {
            packet.source = Unpooled.EMPTY_BUFFER;
        }
    }

    private void readProperties(ProtocolVersion version) {
        packet.topicAlias = 0;
        packet.expiryIntervalSeconds = ApplicationMessage.NEVER;
        packet.properties = PublishProperties.EMPTY;
        if (version.isV5()) {
            readProperties();
        }
        if (packet.topic == null && packet.topicAlias == 0) { // [MQTT-4.7.3-1]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a PUBLISH has neither topic name nor topic alias");
        }
    }

    private void readProperties() {
        if (reader.at < reader.end && reader.array[reader.at] == 0) {
            reader.at++;
            return;
        }
        properties.startPacket();
        properties.read(PROPERTIES);
        if (properties.has(PropertyId.SUBSCRIPTION_IDENTIFIER)) { // [MQTT-3.3.4-6]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "a client's PUBLISH has a subscription identifier");
        }
        packet.topicAlias = (int) properties.number(PropertyId.TOPIC_ALIAS, 0);
        packet.expiryIntervalSeconds = properties.number(PropertyId.MESSAGE_EXPIRY_INTERVAL, ApplicationMessage.NEVER);
        packet.properties = properties.passedOn();
    }
}
