// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.mqtt.MqttConnAckVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessage;
import io.netty.handler.codec.mqtt.MqttMessageIdAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageIdVariableHeader;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttPubReplyMessageVariableHeader;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttReasonCodeAndPropertiesVariableHeader;
import io.netty.handler.codec.mqtt.MqttSubAckMessage;
import io.netty.handler.codec.mqtt.MqttUnsubAckMessage;
import io.smqtt.message.ReasonCode;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A packet that the broker sent, as Netty's decoder reads it, and its bytes. Immutable but for the arrays it hands out. */
public final class ReceivedPacket {

    private final byte[] bytes;
    private final MqttMessage message;
    private final byte[] payload;

    ReceivedPacket(byte[] bytes, MqttMessage message) {
        this.bytes = bytes;
        this.message = message;
        ByteBuf content = message instanceof MqttPublishMessage publish ? publish.payload() : null;
        this.payload = content == null ? new byte[0] : ByteBufUtil.getBytes(content);
        if (content != null) {
            content.release();
        }
    }

    /**
     * The packet as it came.
     *
     * @return all its bytes, with the fixed header
     */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * The packet type.
     *
     * @return the type
     */
    public MqttMessageType type() {
        return message.fixedHeader().messageType();
    }

    /**
     * The DUP flag of a PUBLISH.
     *
     * @return whether it is set
     */
    public boolean dup() {
        return message.fixedHeader().isDup();
    }

    /**
     * The RETAIN flag of a PUBLISH.
     *
     * @return whether it is set
     */
    public boolean retain() {
        return message.fixedHeader().isRetain();
    }

    /**
     * The QoS of a PUBLISH.
     *
     * @return 0 to 2
     */
    public int qos() {
        return message.fixedHeader().qosLevel().value();
    }

    /**
     * The topic name of a PUBLISH.
     *
     * @return the name, empty if only an alias was sent
     */
    public String topic() {
        return ((MqttPublishMessage) message).variableHeader().topicName();
    }

    /**
     * The payload of a PUBLISH.
     *
     * @return the bytes
     */
    public byte[] payload() {
        return payload;
    }

    /**
     * The payload of a PUBLISH as text.
     *
     * @return UTF-8 decoded
     */
    public String text() {
        return new String(payload, StandardCharsets.UTF_8);
    }

    /**
     * The packet identifier.
     *
     * @return the identifier; 0 in a PUBLISH of QoS 0
     */
    public int packetId() {
        if (message instanceof MqttPublishMessage publish) {
            return qos() == 0 ? 0 : publish.variableHeader().packetId();
        }
        return ((MqttMessageIdVariableHeader) message.variableHeader()).messageId();
    }

    /**
     * The reason code of a packet with one; the return code of an older CONNACK. A reason code that is left out is 0.
     *
     * @return 0 to 255
     */
    public int reasonCode() {
        Object header = message.variableHeader();
        if (header instanceof MqttConnAckVariableHeader connAck) {
            return connAck.connectReturnCode().byteValue() & 0xFF;
        }
        if (header instanceof MqttPubReplyMessageVariableHeader reply) {
            return reply.reasonCode() & 0xFF;
        }
        if (header instanceof MqttReasonCodeAndPropertiesVariableHeader reason) {
            return reason.reasonCode() & 0xFF;
        }
        return 0;
    }

    /**
     * The reason code of a packet with one.
     *
     * @return null if the standard knows no such code
     */
    public @Nullable ReasonCode reason() {
        return ReasonCode.of(reasonCode());
    }

    /**
     * The reason codes of a SUBACK or UNSUBACK.
     *
     * @return one for each filter; none in an UNSUBACK before MQTT 5.0
     */
    public List<Integer> reasonCodes() {
        if (message instanceof MqttSubAckMessage subAck) {
            return subAck.payload().reasonCodes();
        }
        if (message instanceof MqttUnsubAckMessage unsubAck) {
            return unsubAck.payload().unsubscribeReasonCodes().stream()
                    .map(code -> code & 0xFF)
                    .toList();
        }
        throw new IllegalStateException(this + " has no list of reason codes");
    }

    /**
     * The Session Present flag of a CONNACK.
     *
     * @return whether it is set
     */
    public boolean sessionPresent() {
        return ((MqttConnAckVariableHeader) message.variableHeader()).isSessionPresent();
    }

    /**
     * The only value of a property: an Integer (also for four bytes: the low 32 bits), a String, bytes or a string pair.
     *
     * @param id the property identifier
     * @return null if the packet does not have it
     */
    public @Nullable Object property(int id) {
        MqttProperties.MqttProperty<?> found = allProperties().getProperty(id);
        return found == null ? null : found.value();
    }

    /**
     * The value of a property of one, two or four bytes, or of variable length.
     *
     * @param id the property identifier
     * @return the value; -1 if the packet does not have it
     */
    public long number(int id) {
        Object value = property(id);
        return value == null ? -1 : ((Integer) value) & 0xFFFF_FFFFL;
    }

    /**
     * The values of a property that may come more than once.
     *
     * @param id the property identifier
     * @return in the order of the packet
     */
    public List<Object> properties(int id) {
        return allProperties().getProperties(id).stream()
                .<Object>map(property -> property.value())
                .toList();
    }

    /**
     * The user properties.
     *
     * @return name=value, in the order of the packet
     */
    public List<String> userProperties() {
        return allProperties().listAll().stream()
                .filter(MqttProperties.UserProperties.class::isInstance)
                .flatMap(property -> ((MqttProperties.UserProperties) property).value().stream())
                .map(pair -> pair.key + "=" + pair.value)
                .toList();
    }

    /**
     * Which properties the packet has.
     *
     * @return their identifiers, ascending
     */
    public List<Integer> propertyIds() {
        return allProperties().listAll().stream()
                .map(property -> property.propertyId())
                .sorted()
                .toList();
    }

    private MqttProperties allProperties() {
        Object header = message.variableHeader();
        if (message instanceof MqttPublishMessage publish) {
            return publish.variableHeader().properties();
        }
        if (header instanceof MqttConnAckVariableHeader connAck) {
            return connAck.properties();
        }
        if (header instanceof MqttPubReplyMessageVariableHeader reply) {
            return reply.properties();
        }
        if (header instanceof MqttMessageIdAndPropertiesVariableHeader suback) {
            return suback.properties();
        }
        return header instanceof MqttReasonCodeAndPropertiesVariableHeader reason
                ? reason.properties()
                : MqttProperties.NO_PROPERTIES;
    }

    @Override
    public String toString() {
        return type() + " " + HexFormat.of().formatHex(bytes, 0, Math.min(bytes.length, 100));
    }
}
