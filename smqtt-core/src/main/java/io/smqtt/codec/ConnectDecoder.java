// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.UserProperty;
import io.smqtt.message.Will;
import io.smqtt.topic.TopicName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Decodes a CONNECT (MQTT 5.0 and MQTT 3.1.1, section 3.1). */
final class ConnectDecoder {

    private static final long PROPERTIES = PropertyReader.allowed(
            PropertyId.SESSION_EXPIRY_INTERVAL,
            PropertyId.AUTHENTICATION_METHOD,
            PropertyId.AUTHENTICATION_DATA,
            PropertyId.REQUEST_PROBLEM_INFORMATION,
            PropertyId.REQUEST_RESPONSE_INFORMATION,
            PropertyId.RECEIVE_MAXIMUM,
            PropertyId.TOPIC_ALIAS_MAXIMUM,
            PropertyId.USER_PROPERTY,
            PropertyId.MAXIMUM_PACKET_SIZE);

    private static final long WILL_PROPERTIES = PropertyReader.allowed(
            PropertyId.PAYLOAD_FORMAT_INDICATOR,
            PropertyId.MESSAGE_EXPIRY_INTERVAL,
            PropertyId.CONTENT_TYPE,
            PropertyId.RESPONSE_TOPIC,
            PropertyId.CORRELATION_DATA,
            PropertyId.WILL_DELAY_INTERVAL,
            PropertyId.USER_PROPERTY);

    private static final byte[] MQTT = ProtocolVersion.MQTT_5.protocolName().getBytes(StandardCharsets.US_ASCII);
    private static final byte[] MQISDP = ProtocolVersion.MQTT_3_1.protocolName().getBytes(StandardCharsets.US_ASCII);

    private static final int RESERVED = 0x01;
    private static final int CLEAN_START = 0x02;
    private static final int WILL = 0x04;
    private static final int WILL_RETAIN = 0x20;
    private static final int PASSWORD = 0x40;
    private static final int USER_NAME = 0x80;

    /** The bit that a bridge adds to the protocol level before MQTT 5.0; mosquitto calls it a private protocol. */
    private static final int BRIDGE = 0x80;

    private final PacketReader reader;
    private final PropertyReader properties;
    private final TopicCache topics;
    private boolean bridge;

    ConnectDecoder(PacketReader reader, PropertyReader properties, TopicCache topics) {
        this.reader = reader;
        this.properties = properties;
        this.topics = topics;
    }

    /** Decodes the body; the packet ends where the reader ends. */
    ConnectPacket decode(boolean shortestLength) {
        ProtocolVersion version = readVersion();
        try {
            if (version.isV5() && !shortestLength) { // [MQTT-1.5.5-1]
                throw PacketReader.malformed("the remaining length is longer than necessary");
            }
            return decode(version);
        } catch (ProtocolViolation violation) {
            throw violation.inConnect(version);
        }
    }

    private ProtocolVersion readVersion() {
        int nameLength = reader.readLength();
        boolean mqtt = isName(MQTT, nameLength);
        if (!mqtt && !isName(MQISDP, nameLength)) { // [MQTT-3.1.2-1]
            throw unsupported("the protocol name is not known");
        }
        reader.at += nameLength;
        int level = reader.readByte();
        ProtocolVersion version = ProtocolVersion.of(mqtt ? "MQTT" : "MQIsdp", level & ~BRIDGE);
        bridge = (level & BRIDGE) != 0;
        if (version == null || (bridge && version.isV5())) { // [MQTT-3.1.2-2]
            throw unsupported("the protocol level is not supported").inConnect(closestTo(mqtt, level));
        }
        return version;
    }

    private boolean isName(byte[] name, int length) {
        return Arrays.equals(name, 0, name.length, reader.array, reader.at, reader.at + length);
    }

    /** The version whose CONNACK the client most likely understands. */
    private static ProtocolVersion closestTo(boolean mqtt, int level) {
        if (!mqtt) {
            return ProtocolVersion.MQTT_3_1;
        }
        return (level & ~BRIDGE) >= 5 ? ProtocolVersion.MQTT_5 : ProtocolVersion.MQTT_3_1_1;
    }

    private ConnectPacket decode(ProtocolVersion version) {
        int flags = reader.readByte();
        requireFlags(flags, version);
        boolean cleanStart = (flags & CLEAN_START) != 0;
        int keepAliveSeconds = reader.readShort();
        properties.startPacket();
        if (version.isV5()) {
            properties.read(PROPERTIES);
        }
        long absentExpiry = cleanStart || version.isV5() ? 0 : ConnectPacket.NEVER_EXPIRES;
        long sessionExpirySeconds = properties.number(PropertyId.SESSION_EXPIRY_INTERVAL, absentExpiry);
        int receiveMaximum = (int) properties.number(PropertyId.RECEIVE_MAXIMUM, 65_535);
        long maximumPacketSize = properties.number(PropertyId.MAXIMUM_PACKET_SIZE, 0xFFFF_FFFFL);
        int topicAliasMaximum = (int) properties.number(PropertyId.TOPIC_ALIAS_MAXIMUM, 0);
        boolean responseInformation = properties.number(PropertyId.REQUEST_RESPONSE_INFORMATION, 0) == 1;
        boolean problemInformation = properties.number(PropertyId.REQUEST_PROBLEM_INFORMATION, 1) == 1;
        List<UserProperty> userProperties = properties.userProperties();
        String method = properties.string(PropertyId.AUTHENTICATION_METHOD);
        byte[] data = properties.binary(PropertyId.AUTHENTICATION_DATA);
        if (data != null && method == null) {
            throw protocolError("authentication data without authentication method");
        }
        String clientId = readClientId(version, cleanStart);
        Will will = (flags & WILL) == 0 ? null : readWill(flags, version);
        String userName = isPresent(flags & USER_NAME, version) ? reader.readString() : null;
        byte[] password = isPresent(flags & PASSWORD, version) ? reader.readBinary() : null;
        reader.requireEnd();
        return new ConnectPacket(
                version,
                bridge,
                clientId,
                cleanStart,
                keepAliveSeconds,
                will,
                userName,
                password,
                sessionExpirySeconds,
                receiveMaximum,
                maximumPacketSize,
                topicAliasMaximum,
                responseInformation,
                problemInformation,
                userProperties,
                method,
                data);
    }

    private static void requireFlags(int flags, ProtocolVersion version) {
        boolean v31 = version == ProtocolVersion.MQTT_3_1; // does not define unused bits
        if ((flags & RESERVED) != 0 && !v31) { // [MQTT-3.1.2-3]
            throw PacketReader.malformed("the reserved CONNECT flag is set");
        }
        int willQos = flags >> 3 & 3;
        if ((flags & WILL) == 0) {
            if ((willQos != 0 || (flags & WILL_RETAIN) != 0) && !v31) { // [MQTT-3.1.2-11] [MQTT-3.1.2-13]
                throw PacketReader.malformed("will QoS or will retain without a will");
            }
        } else if (willQos == 3) { // [MQTT-3.1.2-12]
            throw PacketReader.malformed("the will QoS is 3");
        }
        if (!version.isV5() && (flags & (USER_NAME | PASSWORD)) == PASSWORD) { // [MQTT-3.1.2-22] of 3.1.1
            throw PacketReader.malformed("a password without a user name");
        }
    }

    /** Whether a field is present. In MQTT 3.1 the remaining length takes precedence over the flag (section 3.1). */
    private boolean isPresent(int flag, ProtocolVersion version) {
        return flag != 0 && (version != ProtocolVersion.MQTT_3_1 || reader.remaining() > 0);
    }

    private String readClientId(ProtocolVersion version, boolean cleanStart) {
        String clientId = reader.readString(); // [MQTT-3.1.3-3] [MQTT-3.1.3-4]
        if (clientId.isEmpty()) {
            boolean allowed = switch (version) {
                case MQTT_3_1 -> false;
                case MQTT_3_1_1 -> cleanStart; // [MQTT-3.1.3-7] [MQTT-3.1.3-8] of 3.1.1
                case MQTT_5 -> true; // [MQTT-3.1.3-6]
            };
            if (!allowed) {
                throw new ProtocolViolation(ReasonCode.CLIENT_IDENTIFIER_NOT_VALID, "the client identifier is empty");
            }
        }
        return clientId;
    }

    private Will readWill(int flags, ProtocolVersion version) {
        PublishProperties willProperties = PublishProperties.EMPTY;
        long delaySeconds = 0;
        long expirySeconds = ApplicationMessage.NEVER;
        if (version.isV5()) {
            properties.read(WILL_PROPERTIES);
            delaySeconds = properties.number(PropertyId.WILL_DELAY_INTERVAL, 0);
            expirySeconds = properties.number(PropertyId.MESSAGE_EXPIRY_INTERVAL, ApplicationMessage.NEVER);
            willProperties = properties.passedOn();
        }
        int topicLength = reader.readLength();
        TopicName topic = topics.get(reader.array, reader.at, topicLength); // [MQTT-3.1.3-11]
        reader.at += topicLength;
        Payload payload = Payload.of(reader.readBinary());
        QoS qos = QoS.of(flags >> 3 & 3);
        boolean retain = (flags & WILL_RETAIN) != 0;
        return new Will(
                new ApplicationMessage(
                        ApplicationMessage.NO_ID, topic, payload, qos, retain, willProperties, expirySeconds, 0, null),
                delaySeconds);
    }

    private static ProtocolViolation unsupported(String message) {
        return new ProtocolViolation(ReasonCode.UNSUPPORTED_PROTOCOL_VERSION, message);
    }

    private static ProtocolViolation protocolError(String message) {
        return new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, message);
    }
}
