// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.packet;

/**
 * Writes the properties of an MQTT 5.0 packet one after the other (section 2.2.2), without a check: a property may come
 * twice, or in a packet that does not take it. Not thread-safe.
 */
public final class PropertyBytes {

    private final PacketBytes fields = PacketBytes.fields();

    private PropertyBytes() {}

    /**
     * Starts without properties.
     *
     * @return no property yet
     */
    public static PropertyBytes none() {
        return new PropertyBytes();
    }

    /**
     * The properties as fields, without their length.
     *
     * @return the fields; shared, not a copy
     */
    public PacketBytes fields() {
        return fields;
    }

    /**
     * Adds a property of one byte.
     *
     * @param id the property identifier
     * @param value 0 to 255
     * @return this
     */
    public PropertyBytes u8(int id, int value) {
        fields.variable(id).u8(value);
        return this;
    }

    /**
     * Adds a property of two bytes.
     *
     * @param id the property identifier
     * @param value 0 to 65,535
     * @return this
     */
    public PropertyBytes u16(int id, int value) {
        fields.variable(id).u16(value);
        return this;
    }

    /**
     * Adds a property of four bytes.
     *
     * @param id the property identifier
     * @param value 0 to 4,294,967,295
     * @return this
     */
    public PropertyBytes u32(int id, long value) {
        fields.variable(id).u32(value);
        return this;
    }

    /**
     * Adds a property that is a variable byte integer.
     *
     * @param id the property identifier
     * @param value 0 to 268,435,455
     * @return this
     */
    public PropertyBytes variable(int id, int value) {
        fields.variable(id).variable(value);
        return this;
    }

    /**
     * Adds a property that is a string.
     *
     * @param id the property identifier
     * @param value the text
     * @return this
     */
    public PropertyBytes string(int id, String value) {
        fields.variable(id).string(value);
        return this;
    }

    /**
     * Adds a property that is binary data.
     *
     * @param id the property identifier
     * @param value the data
     * @return this
     */
    public PropertyBytes binary(int id, byte... value) {
        fields.variable(id).binary(value);
        return this;
    }

    /**
     * Payload Format Indicator, 0x01.
     *
     * @param value 1 if the payload is text
     * @return this
     */
    public PropertyBytes payloadFormat(int value) {
        return u8(0x01, value);
    }

    /**
     * Message Expiry Interval, 0x02.
     *
     * @param seconds the interval
     * @return this
     */
    public PropertyBytes messageExpiry(long seconds) {
        return u32(0x02, seconds);
    }

    /**
     * Content Type, 0x03.
     *
     * @param value the type
     * @return this
     */
    public PropertyBytes contentType(String value) {
        return string(0x03, value);
    }

    /**
     * Response Topic, 0x08.
     *
     * @param topic the topic
     * @return this
     */
    public PropertyBytes responseTopic(String topic) {
        return string(0x08, topic);
    }

    /**
     * Correlation Data, 0x09.
     *
     * @param data the data
     * @return this
     */
    public PropertyBytes correlationData(byte... data) {
        return binary(0x09, data);
    }

    /**
     * Subscription Identifier, 0x0B.
     *
     * @param identifier 1 to 268,435,455
     * @return this
     */
    public PropertyBytes subscriptionIdentifier(int identifier) {
        return variable(0x0B, identifier);
    }

    /**
     * Session Expiry Interval, 0x11.
     *
     * @param seconds the interval; 4,294,967,295 for never
     * @return this
     */
    public PropertyBytes sessionExpiry(long seconds) {
        return u32(0x11, seconds);
    }

    /**
     * Authentication Method, 0x15.
     *
     * @param method the method
     * @return this
     */
    public PropertyBytes authenticationMethod(String method) {
        return string(0x15, method);
    }

    /**
     * Authentication Data, 0x16.
     *
     * @param data the data
     * @return this
     */
    public PropertyBytes authenticationData(byte... data) {
        return binary(0x16, data);
    }

    /**
     * Request Problem Information, 0x17.
     *
     * @param value 0 or 1
     * @return this
     */
    public PropertyBytes requestProblemInformation(int value) {
        return u8(0x17, value);
    }

    /**
     * Will Delay Interval, 0x18.
     *
     * @param seconds the interval
     * @return this
     */
    public PropertyBytes willDelay(long seconds) {
        return u32(0x18, seconds);
    }

    /**
     * Request Response Information, 0x19.
     *
     * @param value 0 or 1
     * @return this
     */
    public PropertyBytes requestResponseInformation(int value) {
        return u8(0x19, value);
    }

    /**
     * Receive Maximum, 0x21.
     *
     * @param messages the number of QoS 1 and 2 messages
     * @return this
     */
    public PropertyBytes receiveMaximum(int messages) {
        return u16(0x21, messages);
    }

    /**
     * Topic Alias Maximum, 0x22.
     *
     * @param aliases the highest alias
     * @return this
     */
    public PropertyBytes topicAliasMaximum(int aliases) {
        return u16(0x22, aliases);
    }

    /**
     * Topic Alias, 0x23.
     *
     * @param alias the alias
     * @return this
     */
    public PropertyBytes topicAlias(int alias) {
        return u16(0x23, alias);
    }

    /**
     * User Property, 0x26.
     *
     * @param name the name
     * @param value the value
     * @return this
     */
    public PropertyBytes user(String name, String value) {
        fields.variable(0x26).string(name).string(value);
        return this;
    }

    /**
     * Maximum Packet Size, 0x27.
     *
     * @param bytes the size
     * @return this
     */
    public PropertyBytes maximumPacketSize(long bytes) {
        return u32(0x27, bytes);
    }
}
