// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import org.jspecify.annotations.Nullable;

/**
 * Encodes PUBLISH packets (MQTT 5.0, section 3.3), each message once. While the same message is sent in the same form to one subscriber after
 * another, the packet is copied whole, and only its packet identifier and DUP flag are set. Packets with a topic alias or subscription
 * identifiers are encoded for each subscriber.
 *
 * <p>Keeps one packet image in an array. One instance per event loop; not thread-safe.
 */
public final class PublishEncoder {

    /** No subscription identifiers. */
    public static final int[] NO_IDENTIFIERS = {};

    private static final int MAXIMUM_IMAGE_BYTES = 65_536;
    private static final int DUPLICATE = 0x08;
    private static final int EXPIRY_BYTES = 5;
    private static final int ALIAS_BYTES = 3;

    private byte[] image = new byte[1_024];
    private int imageBytes;
    private int imagePacketIdAt;

    private @Nullable ApplicationMessage lastMessage;
    private boolean lastV5;
    private QoS lastQos = QoS.AT_MOST_ONCE;
    private boolean lastRetain;
    private long lastExpirySeconds;

    private int propertyBytes;
    private int remainingLength;

    /** Creates an encoder. */
    public PublishEncoder() {}

    /**
     * Appends a PUBLISH to a buffer, which grows as needed.
     *
     * @param out the buffer
     * @param version the subscriber's version; before MQTT 5.0 identifiers, expiry and alias are not sent
     * @param message the message
     * @param qos the quality of service of this delivery
     * @param duplicate whether it is a resend; must be false at QoS 0 [MQTT-3.3.1-2]
     * @param retain the retain flag of this delivery
     * @param packetId 1 to 65,535; not used at QoS 0
     * @param subscriptionIdentifiers 1 to 268,435,455 each; {@link #NO_IDENTIFIERS} for none
     * @param remainingExpirySeconds 0 to 4,294,967,295, or {@link ApplicationMessage#NEVER}
     * @param topicAlias 1 to 65,535; 0 for none
     * @param topicPresent whether the topic name is sent; false only with a topic alias that the client knows
     * @throws IllegalArgumentException if the packet would exceed the maximum size of an MQTT packet
     */
    public void encode(
            ByteBuf out,
            ProtocolVersion version,
            ApplicationMessage message,
            QoS qos,
            boolean duplicate,
            boolean retain,
            int packetId,
            int[] subscriptionIdentifiers,
            long remainingExpirySeconds,
            int topicAlias,
            boolean topicPresent) {
        boolean v5 = version.isV5();
        boolean shared = !v5 || (subscriptionIdentifiers.length == 0 && topicAlias == 0);
        if (shared && isLast(message, v5, qos, retain, remainingExpirySeconds)) {
            encodeAgain(out, message, qos, duplicate, retain, packetId, remainingExpirySeconds);
            return;
        }
        measure(v5, message, qos, subscriptionIdentifiers, remainingExpirySeconds, topicAlias, topicPresent);
        writeHeader(
                out,
                v5,
                message,
                qos,
                duplicate,
                retain,
                packetId,
                subscriptionIdentifiers,
                remainingExpirySeconds,
                topicAlias,
                topicPresent,
                message.payload().size());
        message.payload().writeTo(out);
        if (shared) {
            remember(message, v5, qos, retain, remainingExpirySeconds);
        }
    }

    /**
     * Appends a PUBLISH without its payload, which the caller sends behind the buffer. The remaining length includes the payload. For payloads that
     * are too large to copy; for the parameters see {@link #encode}.
     *
     * @param out the buffer
     * @param version the subscriber's version
     * @param message the message
     * @param qos the quality of service of this delivery
     * @param duplicate whether it is a resend
     * @param retain the retain flag of this delivery
     * @param packetId 1 to 65,535; not used at QoS 0
     * @param subscriptionIdentifiers 1 to 268,435,455 each
     * @param remainingExpirySeconds 0 to 4,294,967,295, or {@link ApplicationMessage#NEVER}
     * @param topicAlias 1 to 65,535; 0 for none
     * @param topicPresent whether the topic name is sent
     * @throws IllegalArgumentException if the packet would exceed the maximum size of an MQTT packet
     */
    public void encodeHeader(
            ByteBuf out,
            ProtocolVersion version,
            ApplicationMessage message,
            QoS qos,
            boolean duplicate,
            boolean retain,
            int packetId,
            int[] subscriptionIdentifiers,
            long remainingExpirySeconds,
            int topicAlias,
            boolean topicPresent) {
        boolean v5 = version.isV5();
        measure(v5, message, qos, subscriptionIdentifiers, remainingExpirySeconds, topicAlias, topicPresent);
        writeHeader(
                out,
                v5,
                message,
                qos,
                duplicate,
                retain,
                packetId,
                subscriptionIdentifiers,
                remainingExpirySeconds,
                topicAlias,
                topicPresent,
                0);
    }

    /**
     * The length of the packet that {@link #encode} writes, for the client's maximum packet size [MQTT-3.1.2-24].
     *
     * @param version the subscriber's version
     * @param message the message
     * @param qos the quality of service of this delivery
     * @param subscriptionIdentifiers 1 to 268,435,455 each
     * @param remainingExpirySeconds 0 to 4,294,967,295, or {@link ApplicationMessage#NEVER}
     * @param topicAlias 1 to 65,535; 0 for none
     * @param topicPresent whether the topic name is sent
     * @return bytes, fixed header and payload included; more than {@link PacketEncoder#MAXIMUM_PACKET_BYTES} if there
     *     can be no such packet
     */
    public static int size(
            ProtocolVersion version,
            ApplicationMessage message,
            QoS qos,
            int[] subscriptionIdentifiers,
            long remainingExpirySeconds,
            int topicAlias,
            boolean topicPresent) {
        boolean v5 = version.isV5();
        int properties = v5 ? propertyBytes(message, subscriptionIdentifiers, remainingExpirySeconds, topicAlias) : 0;
        long length = remainingLength(v5, message, qos, properties, topicPresent);
        return length > FixedHeader.MAXIMUM_REMAINING_LENGTH
                ? Integer.MAX_VALUE
                : (int) length + 1 + VariableByteInteger.size((int) length);
    }

    private boolean isLast(ApplicationMessage message, boolean v5, QoS qos, boolean retain, long expirySeconds) {
        return message == lastMessage
                && v5 == lastV5
                && qos == lastQos
                && retain == lastRetain
                && (!v5 || expirySeconds == lastExpirySeconds);
    }

    /** Records the form of the message that was just written. Its image is made only if the same form is needed again. */
    private void remember(ApplicationMessage message, boolean v5, QoS qos, boolean retain, long expirySeconds) {
        imageBytes = 0;
        if (remainingLength > MAXIMUM_IMAGE_BYTES - 5) {
            lastMessage = null;
            return;
        }
        lastMessage = message;
        lastV5 = v5;
        lastQos = qos;
        lastRetain = retain;
        lastExpirySeconds = expirySeconds;
    }

    private void encodeAgain(
            ByteBuf out,
            ApplicationMessage message,
            QoS qos,
            boolean duplicate,
            boolean retain,
            int packetId,
            long expirySeconds) {
        int start = out.writerIndex();
        if (imageBytes > 0) {
            out.writeBytes(image, 0, imageBytes);
            out.setByte(start, firstByte(qos, duplicate, retain));
            if (imagePacketIdAt > 0) {
                out.setShort(start + imagePacketIdAt, packetId);
            }
            return;
        }
        measure(lastV5, message, qos, NO_IDENTIFIERS, expirySeconds, 0, true);
        writeHeader(
                out,
                lastV5,
                message,
                qos,
                duplicate,
                retain,
                packetId,
                NO_IDENTIFIERS,
                expirySeconds,
                0,
                true,
                message.payload().size());
        message.payload().writeTo(out);
        takeImage(out, start, message, qos);
    }

    private void takeImage(ByteBuf out, int start, ApplicationMessage message, QoS qos) {
        imageBytes = out.writerIndex() - start;
        if (image.length < imageBytes) {
            image = new byte[Math.min(MAXIMUM_IMAGE_BYTES, imageBytes * 2)];
        }
        out.getBytes(start, image, 0, imageBytes);
        int topicEnd = 1
                + VariableByteInteger.size(remainingLength)
                + 2
                + message.topic().utf8().length;
        imagePacketIdAt = qos == QoS.AT_MOST_ONCE ? 0 : topicEnd;
    }

    private void measure(
            boolean v5,
            ApplicationMessage message,
            QoS qos,
            int[] identifiers,
            long expirySeconds,
            int alias,
            boolean topicPresent) {
        propertyBytes = v5 ? propertyBytes(message, identifiers, expirySeconds, alias) : 0;
        long length = remainingLength(v5, message, qos, propertyBytes, topicPresent);
        if (length > FixedHeader.MAXIMUM_REMAINING_LENGTH) {
            throw new IllegalArgumentException("a packet has at most 268,435,455 bytes of remaining length");
        }
        remainingLength = (int) length;
    }

    private static int propertyBytes(ApplicationMessage message, int[] identifiers, long expirySeconds, int alias) {
        int bytes = message.properties().encodedBytes();
        bytes += expirySeconds == ApplicationMessage.NEVER ? 0 : EXPIRY_BYTES;
        bytes += alias == 0 ? 0 : ALIAS_BYTES;
        for (int identifier : identifiers) {
            bytes += 1 + VariableByteInteger.size(identifier);
        }
        return bytes;
    }

    private static long remainingLength(
            boolean v5, ApplicationMessage message, QoS qos, int properties, boolean topicPresent) {
        long length = 2L + (topicPresent || !v5 ? message.topic().utf8().length : 0);
        length += qos == QoS.AT_MOST_ONCE ? 0 : 2;
        length += v5 ? (long) VariableByteInteger.size(properties) + properties : 0;
        return length + message.payload().size();
    }

    private void writeHeader(
            ByteBuf out,
            boolean v5,
            ApplicationMessage message,
            QoS qos,
            boolean duplicate,
            boolean retain,
            int packetId,
            int[] identifiers,
            long expirySeconds,
            int alias,
            boolean topicPresent,
            int payloadBytes) {
        out.ensureWritable(5 + remainingLength - message.payload().size() + payloadBytes);
        out.writeByte(firstByte(qos, duplicate, retain));
        VariableByteInteger.write(out, remainingLength);
        if (topicPresent || !v5) {
            byte[] topic = message.topic().utf8();
            out.writeShort(topic.length);
            out.writeBytes(topic);
        } else {
            out.writeShort(0);
        }
        if (qos != QoS.AT_MOST_ONCE) { // [MQTT-2.2.1-2]
            out.writeShort(packetId);
        }
        if (v5) {
            writeProperties(out, message, identifiers, expirySeconds, alias);
        }
    }

    private void writeProperties(
            ByteBuf out, ApplicationMessage message, int[] identifiers, long expirySeconds, int alias) {
        VariableByteInteger.write(out, propertyBytes);
        if (expirySeconds != ApplicationMessage.NEVER) { // [MQTT-3.3.2-6]
            out.writeByte(PropertyId.MESSAGE_EXPIRY_INTERVAL);
            out.writeInt((int) expirySeconds);
        }
        if (alias != 0) {
            out.writeByte(PropertyId.TOPIC_ALIAS);
            out.writeShort(alias);
        }
        for (int identifier : identifiers) { // [MQTT-3.3.4-3] [MQTT-3.3.4-4]
            out.writeByte(PropertyId.SUBSCRIPTION_IDENTIFIER);
            VariableByteInteger.write(out, identifier);
        }
        message.properties().writeTo(out); // [MQTT-3.3.2-4] [MQTT-3.3.2-15] [MQTT-3.3.2-17] [MQTT-3.3.2-20]
    }

    private static int firstByte(QoS qos, boolean duplicate, boolean retain) {
        return FixedHeader.PUBLISH << 4 | (duplicate ? DUPLICATE : 0) | qos.level() << 1 | (retain ? 1 : 0);
    }
}
