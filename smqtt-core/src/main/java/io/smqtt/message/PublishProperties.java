// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of an application message that are forwarded from publisher to subscriber (MQTT 5.0, section 3.3.2.3): payload format indicator,
 * content type, response topic, correlation data and user properties, in the order of the publisher. They are kept as encoded bytes, so that
 * forwarding is a copy; the accessors parse. Properties of one connection (topic alias, subscription identifiers), and those that count down
 * (message expiry) are not included.
 * Immutable and thread-safe.
 */
public final class PublishProperties {

    /** No properties. */
    public static final PublishProperties EMPTY = new PublishProperties(new byte[0]);

    private final byte[] encoded;

    private PublishProperties(byte[] encoded) {
        this.encoded = encoded;
    }

    /**
     * Creates properties from a validated property block.
     *
     * @param encoded the encoded properties without their length; not to be changed afterwards
     * @return the properties
     */
    public static PublishProperties ofEncoded(byte[] encoded) {
        return encoded.length == 0 ? EMPTY : new PublishProperties(encoded);
    }

    /**
     * Creates a builder.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Whether there are no properties.
     *
     * @return true if nothing is encoded
     */
    public boolean isEmpty() {
        return encoded.length == 0;
    }

    /**
     * The length of the encoded block.
     *
     * @return bytes, without its length field
     */
    public int encodedBytes() {
        return encoded.length;
    }

    /**
     * Copies the encoded block, without its length field, into an array.
     *
     * @param target the array
     * @param index the index of the first byte
     * @throws IndexOutOfBoundsException if the array is too short
     */
    public void copyTo(byte[] target, int index) {
        System.arraycopy(encoded, 0, target, index, encoded.length);
    }

    /**
     * Appends the encoded block, without its length field.
     *
     * @param target the buffer to write to
     */
    public void writeTo(ByteBuf target) {
        target.writeBytes(encoded);
    }

    /**
     * Whether the publisher declares the payload to be UTF-8 text.
     *
     * @return true for payload format indicator 1
     */
    public boolean isPayloadUtf8() {
        int at = find(PropertyId.PAYLOAD_FORMAT_INDICATOR);
        return at >= 0 && encoded[at] == 1;
    }

    /**
     * The content type.
     *
     * @return null if there is none
     */
    public @Nullable String contentType() {
        return stringAt(find(PropertyId.CONTENT_TYPE));
    }

    /**
     * The response topic.
     *
     * @return null if there is none
     */
    public @Nullable String responseTopic() {
        return stringAt(find(PropertyId.RESPONSE_TOPIC));
    }

    /**
     * The correlation data.
     *
     * @return a copy, or null if there is none
     */
    public byte @Nullable [] correlationData() {
        int at = find(PropertyId.CORRELATION_DATA);
        return at < 0 ? null : Arrays.copyOfRange(encoded, at + 2, at + 2 + lengthAt(at));
    }

    /**
     * The user properties.
     *
     * @return in the publisher's order; empty if there are none
     */
    public List<UserProperty> userProperties() {
        List<UserProperty> properties = new ArrayList<>();
        for (int at = 0; at < encoded.length; at = next(at)) {
            if (encoded[at] == PropertyId.USER_PROPERTY) {
                int value = at + 3 + lengthAt(at + 1);
                properties.add(new UserProperty(text(at + 1), text(value)));
            }
        }
        return properties;
    }

    /**
     * Returns these properties with one user property in place of all with the same name, at the position of the first of them, or at the end. The
     * other properties keep their bytes and their order.
     *
     * @param name at most 65,535 bytes of UTF-8
     * @param value at most 65,535 bytes of UTF-8
     * @return new properties
     * @throws IllegalArgumentException if name or value are longer
     */
    public PublishProperties withUserProperty(String name, String value) {
        Builder changed = new Builder();
        boolean placed = false;
        for (int at = 0; at < encoded.length; at = next(at)) {
            if (encoded[at] != PropertyId.USER_PROPERTY || !text(at + 1).equals(name)) {
                changed.encoded.write(encoded, at, next(at) - at);
            } else if (!placed) {
                changed.userProperty(name, value);
                placed = true;
            }
        }
        if (!placed) {
            changed.userProperty(name, value);
        }
        return changed.build();
    }

    private int find(int id) {
        for (int at = 0; at < encoded.length; at = next(at)) {
            if (encoded[at] == id) {
                return at + 1;
            }
        }
        return -1;
    }

    private int next(int at) {
        if (encoded[at] == PropertyId.PAYLOAD_FORMAT_INDICATOR) {
            return at + 2;
        }
        int end = at + 3 + lengthAt(at + 1);
        return encoded[at] == PropertyId.USER_PROPERTY ? end + 2 + lengthAt(end) : end;
    }

    private int lengthAt(int at) {
        return (encoded[at] & 0xFF) << 8 | (encoded[at + 1] & 0xFF);
    }

    private @Nullable String stringAt(int at) {
        return at < 0 ? null : text(at);
    }

    private String text(int at) {
        return new String(encoded, at + 2, lengthAt(at), StandardCharsets.UTF_8);
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof PublishProperties properties && Arrays.equals(encoded, properties.encoded));
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(encoded);
    }

    @Override
    public String toString() {
        return "PublishProperties[" + encoded.length + " bytes]";
    }

    /** Builds properties in the order of its calls. Not thread-safe. */
    public static final class Builder {

        private static final int MAXIMUM_BYTES = 65_535;

        private final ByteArrayOutputStream encoded = new ByteArrayOutputStream();

        private Builder() {}

        /**
         * Declares the payload to be UTF-8 text.
         *
         * @return this builder
         */
        public Builder payloadUtf8() {
            encoded.write(PropertyId.PAYLOAD_FORMAT_INDICATOR);
            encoded.write(1);
            return this;
        }

        /**
         * Sets the content type.
         *
         * @param contentType at most 65,535 bytes of UTF-8
         * @return this builder
         */
        public Builder contentType(String contentType) {
            encoded.write(PropertyId.CONTENT_TYPE);
            return write(contentType.getBytes(StandardCharsets.UTF_8));
        }

        /**
         * Sets the response topic.
         *
         * @param responseTopic a topic name
         * @return this builder
         */
        public Builder responseTopic(String responseTopic) {
            encoded.write(PropertyId.RESPONSE_TOPIC);
            return write(responseTopic.getBytes(StandardCharsets.UTF_8));
        }

        /**
         * Sets the correlation data.
         *
         * @param correlationData at most 65,535 bytes
         * @return this builder
         */
        public Builder correlationData(byte[] correlationData) {
            encoded.write(PropertyId.CORRELATION_DATA);
            return write(correlationData);
        }

        /**
         * Adds a user property.
         *
         * @param name at most 65,535 bytes of UTF-8
         * @param value at most 65,535 bytes of UTF-8
         * @return this builder
         */
        public Builder userProperty(String name, String value) {
            encoded.write(PropertyId.USER_PROPERTY);
            return write(name.getBytes(StandardCharsets.UTF_8)).write(value.getBytes(StandardCharsets.UTF_8));
        }

        /**
         * Builds the properties.
         *
         * @return the properties
         */
        public PublishProperties build() {
            return ofEncoded(encoded.toByteArray());
        }

        private Builder write(byte[] bytes) {
            if (bytes.length > MAXIMUM_BYTES) {
                throw new IllegalArgumentException("a property must not be longer than 65,535 bytes");
            }
            encoded.write(bytes.length >> 8);
            encoded.write(bytes.length);
            encoded.writeBytes(bytes);
            return this;
        }
    }
}
