// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;
import java.nio.charset.StandardCharsets;

/** A PUBLISH of any version (section 3.3), or a will message. QoS 0 and not retained unless told otherwise. */
public final class PublishBytes implements VersionedPacket {

    private final String topic;
    private final PropertyBytes properties = PropertyBytes.none();
    private byte[] payload = new byte[0];
    private int packetId;
    private int qos;
    private boolean retain;
    private boolean dup;

    private PublishBytes(String topic) {
        this.topic = topic;
    }

    /**
     * Starts a PUBLISH.
     *
     * @param topic the topic name, maybe empty
     * @return a builder
     */
    public static PublishBytes to(String topic) {
        return new PublishBytes(topic);
    }

    /**
     * The payload.
     *
     * @param value text
     * @return this
     */
    public PublishBytes payload(String value) {
        return payload(value.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The payload.
     *
     * @param value bytes, not copied
     * @return this
     */
    public PublishBytes payload(byte... value) {
        payload = value;
        return this;
    }

    /**
     * The QoS of a will, or QoS 0.
     *
     * @param level 0 to 3
     * @return this
     */
    public PublishBytes qos(int level) {
        qos = level;
        return this;
    }

    /**
     * The QoS and the packet identifier.
     *
     * @param level 0 to 3
     * @param id the packet identifier, written if the QoS is not 0
     * @return this
     */
    public PublishBytes qos(int level, int id) {
        packetId = id;
        return qos(level);
    }

    /**
     * Sets the RETAIN flag.
     *
     * @return this
     */
    public PublishBytes retained() {
        retain = true;
        return this;
    }

    /**
     * Sets the DUP flag.
     *
     * @return this
     */
    public PublishBytes dup() {
        dup = true;
        return this;
    }

    /**
     * The properties, to add to.
     *
     * @return written in MQTT 5.0 only
     */
    public PropertyBytes properties() {
        return properties;
    }

    /**
     * The topic name.
     *
     * @return as given
     */
    public String topic() {
        return topic;
    }

    /**
     * The QoS.
     *
     * @return as given
     */
    public int qos() {
        return qos;
    }

    byte[] payload() {
        return payload;
    }

    boolean retain() {
        return retain;
    }

    @Override
    public byte[] toBytes(ProtocolVersion version) {
        PacketBytes packet = PacketBytes.packet(0x30 | (dup ? 8 : 0) | qos << 1 | (retain ? 1 : 0))
                .string(topic);
        if (qos > 0) {
            packet.u16(packetId);
        }
        return packet.propertiesIn(version, properties.fields()).bytes(payload).toBytes();
    }
}
