// SPDX-License-Identifier: Apache-2.0
package io.smqtt.message;

import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A message of an application: topic, payload, quality of service, retain flag and properties (MQTT 5.0, section 1.2).
 * Immutable; one instance serves all its subscribers on all threads.
 */
public final class ApplicationMessage {

    /** {@link #expiryIntervalSeconds()} of a message that does not expire. */
    public static final long NEVER = -1;

    /** {@link #id()} of a message that no broker has accepted yet. */
    public static final long NO_ID = 0;

    private final long id;
    private final TopicName topic;
    private final Payload payload;
    private final QoS qos;
    private final boolean retain;
    private final PublishProperties properties;
    private final long expiryIntervalSeconds;
    private final long acceptedAtNanos;
    private final boolean timed;
    private final boolean expiryStated;
    private final boolean repeated;
    private final int footprintBytes;
    private final @Nullable String publisherId;

    /**
     * Creates an accepted message. Applications use {@link #builder(String)}.
     *
     * @param id the identifier, unique over all messages, see {@link MessageIds}; or {@link #NO_ID}
     * @param topic the topic name
     * @param payload the payload
     * @param qos the publisher's quality of service
     * @param retain the publisher's retain flag
     * @param properties the properties
     * @param expiryIntervalSeconds message expiry interval, or {@link #NEVER}
     * @param acceptedAtNanos time of acceptance, of the broker's monotonic clock
     * @param publisherId the client identifier of the publisher; null for the broker itself
     */
    public ApplicationMessage(
            long id,
            TopicName topic,
            Payload payload,
            QoS qos,
            boolean retain,
            PublishProperties properties,
            long expiryIntervalSeconds,
            long acceptedAtNanos,
            @Nullable String publisherId) {
        this(
                id,
                topic,
                payload,
                qos,
                retain,
                properties,
                expiryIntervalSeconds,
                acceptedAtNanos,
                publisherId,
                false,
                true,
                false);
    }

    private ApplicationMessage(
            long id,
            TopicName topic,
            Payload payload,
            QoS qos,
            boolean retain,
            PublishProperties properties,
            long expiryIntervalSeconds,
            long acceptedAtNanos,
            @Nullable String publisherId,
            boolean timed,
            boolean expiryStated,
            boolean repeated) {
        this.id = id;
        this.repeated = repeated;
        this.timed = timed;
        this.expiryStated = expiryStated;
        this.topic = topic;
        this.payload = payload;
        this.qos = qos;
        this.retain = retain;
        this.properties = properties;
        this.expiryIntervalSeconds = expiryIntervalSeconds;
        this.acceptedAtNanos = acceptedAtNanos;
        this.publisherId = publisherId;
        this.footprintBytes = 96 + payload.size() + topic.utf8().length + properties.encodedBytes();
    }

    /**
     * Creates a builder for a message.
     *
     * @param topic a topic name
     * @return a builder
     * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
     */
    public static Builder builder(String topic) {
        return new Builder(TopicName.of(topic));
    }

    /**
     * Creates a builder with the values of this message, including identifier, publisher and time of acceptance.
     *
     * @return a builder
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /**
     * The identifier that the broker gave the message when it accepted it: the same wherever the message is forwarded and stored, also in
     * another process, and unique ({@link MessageIds}).
     *
     * @return a number, or {@link #NO_ID}
     */
    public long id() {
        return id;
    }

    /**
     * The topic name.
     *
     * @return the topic of the message
     */
    public TopicName topic() {
        return topic;
    }

    /**
     * The payload.
     *
     * @return the payload, may be empty
     */
    public Payload payload() {
        return payload;
    }

    /**
     * The publisher's quality of service.
     *
     * @return the level
     */
    public QoS qos() {
        return qos;
    }

    /**
     * The publisher's retain flag.
     *
     * @return true if the message is to be stored as a retained message
     */
    public boolean retain() {
        return retain;
    }

    /**
     * The properties.
     *
     * @return the properties, may be empty
     */
    public PublishProperties properties() {
        return properties;
    }

    /**
     * The message expiry interval that the publisher set (MQTT 5.0, section 3.3.2.3.3).
     *
     * @return seconds, or {@link #NEVER}
     */
    public long expiryIntervalSeconds() {
        return expiryIntervalSeconds;
    }

    /**
     * The time at which the broker accepted the message.
     *
     * @return nanoseconds of the broker's monotonic clock
     */
    public long acceptedAtNanos() {
        return acceptedAtNanos;
    }

    /**
     * The publisher.
     *
     * @return the client identifier of the publisher, or null for the broker itself
     */
    public @Nullable String publisherId() {
        return publisherId;
    }

    /**
     * Whether a QoS 2 message may have been accepted before, by another node or before a crash, with the same {@link #id()}: its publisher has sent
     * it again.
     *
     * @return true if a subscriber must check whether it has taken the message
     */
    public boolean isRepeated() {
        return repeated;
    }

    /**
     * Returns this message as one that may have been accepted before.
     *
     * @return a new message
     */
    public ApplicationMessage repeated() {
        Builder copy = toBuilder();
        copy.repeated = true;
        return copy.build();
    }

    /**
     * Whether the message has expired.
     *
     * @param nowNanos the broker's monotonic clock
     * @return true once the interval has passed
     */
    public boolean isExpired(long nowNanos) {
        return expiryIntervalSeconds != NEVER
                && nowNanos - acceptedAtNanos >= TimeUnit.SECONDS.toNanos(expiryIntervalSeconds);
    }

    /**
     * The remaining expiry interval, as it is forwarded [MQTT-3.3.2-6].
     *
     * @param nowNanos the broker's monotonic clock
     * @return seconds, or {@link #NEVER}
     */
    public long remainingExpirySeconds(long nowNanos) {
        if (expiryIntervalSeconds == NEVER) {
            return NEVER;
        }
        long waitedSeconds = TimeUnit.NANOSECONDS.toSeconds(nowNanos - acceptedAtNanos);
        return Math.max(0, expiryIntervalSeconds - waitedSeconds);
    }

    /**
     * The approximate memory of the message, for limits in bytes.
     *
     * @return bytes of payload, topic and properties plus a fixed overhead
     */
    public int footprintBytes() {
        return footprintBytes;
    }

    @Override
    public String toString() {
        return "ApplicationMessage[" + topic + ", " + qos + (retain ? ", retain, " : ", ") + payload + ']';
    }

    /** Builds messages. Not thread-safe. */
    public static final class Builder {

        private final long id;
        private TopicName topic;
        private Payload payload = Payload.EMPTY;
        private QoS qos = QoS.AT_MOST_ONCE;
        private boolean retain;
        private PublishProperties properties = PublishProperties.EMPTY;
        private long expiryIntervalSeconds = NEVER;
        private boolean expiryStated;
        private final long acceptedAtNanos;
        private final @Nullable String publisherId;
        private final boolean timed;
        private boolean repeated;

        private Builder(TopicName topic) {
            id = NO_ID;
            this.topic = topic;
            acceptedAtNanos = 0;
            publisherId = null;
            timed = false;
        }

        private Builder(ApplicationMessage from) {
            id = from.id;
            topic = from.topic;
            payload = from.payload;
            qos = from.qos;
            retain = from.retain;
            properties = from.properties;
            expiryIntervalSeconds = from.expiryIntervalSeconds;
            expiryStated = from.expiryStated;
            acceptedAtNanos = from.acceptedAtNanos;
            publisherId = from.publisherId;
            timed = from.timed;
            repeated = from.repeated;
        }

        /**
         * Sets the topic.
         *
         * @param topic a topic name
         * @return this builder
         * @throws io.smqtt.topic.InvalidTopicException if the text is not a topic name
         */
        public Builder topic(String topic) {
            this.topic = TopicName.of(topic);
            return this;
        }

        /**
         * Sets the payload; default empty.
         *
         * @param payload the payload
         * @return this builder
         */
        public Builder payload(Payload payload) {
            this.payload = payload;
            return this;
        }

        /**
         * Sets the payload to a text.
         *
         * @param text the payload, as UTF-8
         * @return this builder
         */
        public Builder payload(String text) {
            return payload(Payload.of(text));
        }

        /**
         * Sets the quality of service; default QoS 0.
         *
         * @param qos the level
         * @return this builder
         */
        public Builder qos(QoS qos) {
            this.qos = qos;
            return this;
        }

        /**
         * Sets the retain flag; default false.
         *
         * @param retain true to store the message as a retained message
         * @return this builder
         */
        public Builder retain(boolean retain) {
            this.retain = retain;
            return this;
        }

        /**
         * Sets the properties; default none.
         *
         * @param properties the properties
         * @return this builder
         */
        public Builder properties(PublishProperties properties) {
            this.properties = properties;
            return this;
        }

        /**
         * Sets the message expiry interval; default never.
         *
         * @param interval rounded down to seconds, 0 to 4,294,967,295
         * @return this builder
         * @throws IllegalArgumentException if the interval is out of range
         */
        public Builder expiryInterval(Duration interval) {
            long seconds = interval.toSeconds();
            if (seconds < 0 || seconds > 0xFFFF_FFFFL) {
                throw new IllegalArgumentException("a message expiry interval is 0 to 4,294,967,295 seconds");
            }
            expiryIntervalSeconds = seconds;
            expiryStated = true;
            return this;
        }

        /**
         * Sets that the message never expires. A message that replaces another one in a {@code PublishInterceptor} has the interval of that one
         * unless it sets an interval or calls this method.
         *
         * @return this builder
         */
        public Builder neverExpires() {
            expiryIntervalSeconds = NEVER;
            expiryStated = true;
            return this;
        }

        /**
         * Builds the message.
         *
         * @return the message; not yet accepted by a broker, unless the builder was created from an accepted one
         */
        public ApplicationMessage build() {
            return new ApplicationMessage(
                    id,
                    topic,
                    payload,
                    qos,
                    retain,
                    properties,
                    expiryIntervalSeconds,
                    acceptedAtNanos,
                    publisherId,
                    timed && !retain, // retained ones are delivered much later
                    expiryStated,
                    repeated);
        }
    }

    /**
     * Returns this message as an accepted one.
     *
     * @param id the identifier, unique over all messages, see {@link MessageIds}; or {@link #NO_ID}
     * @param nowNanos the broker's monotonic clock
     * @param publisher the client identifier of the publisher; null for the broker itself
     * @return a new message
     */
    public ApplicationMessage accepted(long id, long nowNanos, @Nullable String publisher) {
        return new ApplicationMessage(
                id, topic, payload, qos, retain, properties, expiryIntervalSeconds, nowNanos, publisher);
    }

    /**
     * Returns this message as one whose routing is timed.
     *
     * @param nowNanos time of acceptance, of the broker's monotonic clock
     * @return a new message
     */
    public ApplicationMessage timed(long nowNanos) {
        return new ApplicationMessage(
                id,
                topic,
                payload,
                qos,
                retain,
                properties,
                expiryIntervalSeconds,
                nowNanos,
                publisherId,
                true,
                true,
                repeated);
    }

    /**
     * Returns this message with its payload on the heap, to be kept without a reference to the payload.
     *
     * @return this message, unless its payload is in a network buffer; then the same message for each call, so that stores and queues
     *     which know a message by its identity keep it once (calls of several threads at the same time may get different ones)
     */
    public ApplicationMessage onHeap() {
        return payload instanceof NetworkPayload network ? network.onHeap(this) : this;
    }

    /** This message with another payload. */
    ApplicationMessage withPayload(Payload other) {
        return new ApplicationMessage(
                id,
                topic,
                other,
                qos,
                retain,
                properties,
                expiryIntervalSeconds,
                acceptedAtNanos,
                publisherId,
                timed,
                expiryStated,
                repeated);
    }

    /**
     * Returns this message as a replacement of an accepted one: with its identifier, publisher and time of acceptance, and with its expiry
     * interval unless this message sets its own.
     *
     * @param original the accepted message
     * @return this message if it was built from that one, or a new one
     */
    public ApplicationMessage inPlaceOf(ApplicationMessage original) {
        if (expiryStated
                && id == original.id
                && acceptedAtNanos == original.acceptedAtNanos
                && timed == (original.timed && !retain)
                && repeated == original.repeated
                && Objects.equals(publisherId, original.publisherId)) {
            return this;
        }
        return new ApplicationMessage(
                original.id,
                topic,
                payload,
                qos,
                retain,
                properties,
                expiryStated ? expiryIntervalSeconds : original.expiryIntervalSeconds,
                original.acceptedAtNanos,
                original.publisherId,
                original.timed && !retain,
                true,
                original.repeated);
    }

    /**
     * Returns this accepted message with other properties.
     *
     * @param other the other properties
     * @return a new message
     */
    public ApplicationMessage withProperties(PublishProperties other) {
        return new ApplicationMessage(
                id,
                topic,
                payload,
                qos,
                retain,
                other,
                expiryIntervalSeconds,
                acceptedAtNanos,
                publisherId,
                timed,
                expiryStated,
                repeated);
    }

    /**
     * Whether the routing of this message is timed.
     *
     * @return true for a sample of all messages
     */
    public boolean isTimed() {
        return timed;
    }
}
