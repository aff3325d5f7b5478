// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

import io.smqtt.message.ProtocolVersion;

/** A SUBSCRIBE of any version (section 3.8). */
public final class SubscribeBytes implements VersionedPacket {

    /** The option No Local, MQTT 5.0. */
    public static final int NO_LOCAL = 0x04;

    /** The option Retain As Published, MQTT 5.0. */
    public static final int RETAIN_AS_PUBLISHED = 0x08;

    /** The option that retained messages are sent only if the subscription is new, MQTT 5.0. */
    public static final int RETAINED_IF_NEW = 0x10;

    /** The option that no retained messages are sent, MQTT 5.0. */
    public static final int NO_RETAINED = 0x20;

    private final int packetId;
    private final PropertyBytes properties = PropertyBytes.none();
    private final PacketBytes filters = PacketBytes.fields();

    private SubscribeBytes(int packetId) {
        this.packetId = packetId;
    }

    /**
     * Starts a SUBSCRIBE.
     *
     * @param packetId the packet identifier
     * @return a builder without filters
     */
    public static SubscribeBytes of(int packetId) {
        return new SubscribeBytes(packetId);
    }

    /**
     * Adds a topic filter.
     *
     * @param filter the filter
     * @param options the QoS, in MQTT 5.0 with the constants of this class added
     * @return this
     */
    public SubscribeBytes filter(String filter, int options) {
        filters.string(filter).u8(options);
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
     * The subscription identifier, MQTT 5.0.
     *
     * @param identifier 1 to 268,435,455
     * @return this
     */
    public SubscribeBytes identifier(int identifier) {
        properties.subscriptionIdentifier(identifier);
        return this;
    }

    @Override
    public byte[] toBytes(ProtocolVersion version) {
        return PacketBytes.packet(0x82)
                .u16(packetId)
                .propertiesIn(version, properties.fields())
                .bytes(filters.toBytes())
                .toBytes();
    }
}
