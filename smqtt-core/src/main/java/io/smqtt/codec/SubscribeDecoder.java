// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.List;

/** Decodes SUBSCRIBE and UNSUBSCRIBE (MQTT 5.0, sections 3.8 and 3.10). */
final class SubscribeDecoder {

    private static final long SUBSCRIBE_PROPERTIES =
            PropertyReader.allowed(PropertyId.SUBSCRIPTION_IDENTIFIER, PropertyId.USER_PROPERTY);
    private static final long UNSUBSCRIBE_PROPERTIES = PropertyReader.allowed(PropertyId.USER_PROPERTY);

    private final PacketReader reader;
    private final PropertyReader properties;
    private final DecoderLimits limits;

    SubscribeDecoder(PacketReader reader, PropertyReader properties, DecoderLimits limits) {
        this.reader = reader;
        this.properties = properties;
        this.limits = limits;
    }

    SubscribePacket decodeSubscribe(ProtocolVersion version) {
        int packetId = reader.readPacketId();
        properties.startPacket();
        if (version.isV5()) {
            properties.read(SUBSCRIBE_PROPERTIES);
        }
        List<SubscribePacket.Request> requests = new ArrayList<>(4);
        while (requests.isEmpty() || reader.remaining() > 0) {
            String filter = readFilter(requests.size());
            requests.add(readOptions(filter, version));
        }
        int identifier = (int) properties.number(PropertyId.SUBSCRIPTION_IDENTIFIER, 0);
        return new SubscribePacket(packetId, identifier, requests);
    }

    UnsubscribePacket decodeUnsubscribe(ProtocolVersion version) {
        int packetId = reader.readPacketId();
        properties.startPacket();
        if (version.isV5()) {
            properties.read(UNSUBSCRIBE_PROPERTIES);
        }
        List<String> filters = new ArrayList<>(4);
        while (filters.isEmpty() || reader.remaining() > 0) {
            filters.add(readFilter(filters.size()));
        }
        return new UnsubscribePacket(packetId, filters);
    }

    private String readFilter(int count) {
        if (reader.remaining() == 0) { // [MQTT-3.8.3-2] [MQTT-3.10.3-2]
            throw protocolError("no topic filter");
        }
        if (count >= limits.maximumFilters()) {
            throw new ProtocolViolation(ReasonCode.QUOTA_EXCEEDED, "a packet has too many topic filters");
        }
        reader.require(2);
        if (reader.shortAt(reader.at) > limits.maximumTopicBytes()) {
            throw new ProtocolViolation(ReasonCode.TOPIC_FILTER_INVALID, "a topic filter is too long");
        }
        return reader.readString(); // [MQTT-3.8.3-1] [MQTT-3.10.3-1]
    }

    private SubscribePacket.Request readOptions(String filter, ProtocolVersion version) {
        int options = reader.readByte();
        int reserved = switch (version) {
            case MQTT_3_1 -> 0; // does not define unused bits
            case MQTT_3_1_1 -> 0xFC;
            case MQTT_5 -> 0xC0;
        };
        if ((options & reserved) != 0) { // [MQTT-3.8.3-5]
            throw PacketReader.malformed("reserved bits of the subscription options are set");
        }
        if ((options & 0x03) == 3) {
            throw protocolError("a subscription has QoS 3");
        }
        QoS qos = QoS.of(options & 0x03);
        if (!version.isV5()) {
            return new SubscribePacket.Request(filter, qos, false, false, 0);
        }
        boolean noLocal = (options & 0x04) != 0;
        int retainHandling = options >> 4 & 3;
        if (retainHandling == 3) {
            throw protocolError("the retain handling is 3");
        }
        if (noLocal && SharedFilter.isShared(filter)) { // [MQTT-3.8.3-4]
            throw protocolError("no local on a shared subscription");
        }
        return new SubscribePacket.Request(filter, qos, noLocal, (options & 0x08) != 0, retainHandling);
    }

    private static ProtocolViolation protocolError(String message) {
        return new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, message);
    }
}
