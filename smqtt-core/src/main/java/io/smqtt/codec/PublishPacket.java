// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PayloadReader;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.topic.TopicName;
import org.jspecify.annotations.Nullable;

/**
 * A decoded PUBLISH (MQTT 5.0, section 3.3): one instance per decoder, reused for each packet, so that decoding allocates nothing. Valid only
 * during {@link PacketHandler#onPublish}.
 */
public final class PublishPacket {

    QoS qos = QoS.AT_MOST_ONCE;
    boolean duplicate;
    boolean retain;
    int packetId;

    @Nullable
    TopicName topic;

    int topicAlias;
    long expiryIntervalSeconds = ApplicationMessage.NEVER;
    PublishProperties properties = PublishProperties.EMPTY;
    ByteBuf source = Unpooled.EMPTY_BUFFER;
    int payloadIndex;
    int payloadSize;

    private final PayloadReader reader;

    PublishPacket(PayloadReader reader) {
        this.reader = reader;
    }

    /**
     * The quality of service.
     *
     * @return the level
     */
    public QoS qos() {
        return qos;
    }

    /**
     * The DUP flag.
     *
     * @return true for a resent packet
     */
    public boolean duplicate() {
        return duplicate;
    }

    /**
     * The retain flag.
     *
     * @return true if the message is to be stored
     */
    public boolean retain() {
        return retain;
    }

    /**
     * The packet identifier.
     *
     * @return 1 to 65,535; 0 at QoS 0
     */
    public int packetId() {
        return packetId;
    }

    /**
     * The topic name.
     *
     * @return null if only a topic alias was sent
     */
    public @Nullable TopicName topic() {
        return topic;
    }

    /**
     * The topic alias.
     *
     * @return 1 to 65,535; 0 for none
     */
    public int topicAlias() {
        return topicAlias;
    }

    /**
     * The message expiry interval.
     *
     * @return seconds, or {@link ApplicationMessage#NEVER}
     */
    public long expiryIntervalSeconds() {
        return expiryIntervalSeconds;
    }

    /**
     * The properties that are forwarded to subscribers.
     *
     * @return may be empty
     */
    public PublishProperties properties() {
        return properties;
    }

    /**
     * The length of the payload.
     *
     * @return bytes
     */
    public int payloadSize() {
        return payloadSize;
    }

    /**
     * The maximum size of the next read from the socket, as the payload suggests.
     *
     * @return bytes
     */
    public int largestRead() {
        return reader.largestRead(payloadSize);
    }

    /**
     * Copies the payload out of the network buffer.
     *
     * @return a new payload on the heap
     */
    public Payload payload() {
        return Payload.copyOf(source, payloadIndex, payloadSize);
    }

    /**
     * Takes the payload, which may stay in the network buffer.
     *
     * @return a payload with one reference, to be released by the caller
     */
    public Payload payloadInPlace() {
        return reader.read(source, payloadIndex, payloadSize);
    }
}
