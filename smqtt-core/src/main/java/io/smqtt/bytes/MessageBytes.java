// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bytes;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PropertyId;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The byte form of an application message, the same in a store and between nodes: flags, topic, expiry interval, publisher, properties,
 * payload, the shared subscriptions that it is for, and its identifier. The time of acceptance is left to the row or frame around it, because a
 * store and a peer have other clocks; so is a version.
 */
@AnyThread
public final class MessageBytes {

    /** The byte behind a block whose message {@linkplain ApplicationMessage#isRepeated() may have been accepted before}. */
    private static final int REPEATED = 1;

    /** A flag that is free for the caller. */
    public static final int CALLER = 0x40;

    private static final int QOS = 0x03;
    private static final int RETAIN = 0x04;
    private static final int EXPIRES = 0x08;
    private static final int PUBLISHER = 0x10;
    private static final int PROPERTIES = 0x20;
    private static final int GROUPS = 0x80;

    private MessageBytes() {}

    /**
     * Writes a message.
     *
     * @param target where to write to
     * @param message the message
     * @param expirySeconds the expiry interval that is written, or {@link ApplicationMessage#NEVER}
     * @param groups the shared subscriptions that it is for
     * @param flags {@link #CALLER} or 0
     */
    public static void write(
            ByteWriter target, ApplicationMessage message, long expirySeconds, List<SharedFilter> groups, int flags) {
        write(target, message, expirySeconds, groups, flags, false);
    }

    /**
     * Writes a message as a block, with its length before it, and with the byte of {@link #readRepeated} if it may have been accepted before.
     *
     * @param target where to write to
     * @param message the message
     * @param expirySeconds the expiry interval that is written, or {@link ApplicationMessage#NEVER}
     * @param groups the shared subscriptions that it is for
     * @param flags {@link #CALLER} or 0
     */
    public static void writeBlock(
            ByteWriter target, ApplicationMessage message, long expirySeconds, List<SharedFilter> groups, int flags) {
        write(target, message, expirySeconds, groups, flags, true);
    }

    private static void write(
            ByteWriter target,
            ApplicationMessage message,
            long expirySeconds,
            List<SharedFilter> groups,
            int flags,
            boolean withLength) {
        String name = message.publisherId();
        byte[] publisher = name == null ? null : name.getBytes(StandardCharsets.UTF_8);
        PublishProperties properties = message.properties();
        List<byte[]> shared = texts(groups);
        if (withLength) {
            int rest = message.isRepeated() ? 1 : 0;
            target.number(size(message, expirySeconds, publisher, shared) + rest);
        }
        target.u8(flags
                        | message.qos().level()
                        | (message.retain() ? RETAIN : 0)
                        | (expirySeconds == ApplicationMessage.NEVER ? 0 : EXPIRES)
                        | (publisher == null ? 0 : PUBLISHER)
                        | (properties.isEmpty() ? 0 : PROPERTIES)
                        | (shared.isEmpty() ? 0 : GROUPS))
                .block(message.topic().utf8());
        if (expirySeconds != ApplicationMessage.NEVER) {
            target.number(expirySeconds);
        }
        if (publisher != null) {
            target.block(publisher);
        }
        if (!properties.isEmpty()) {
            target.block(properties);
        }
        target.block(message.payload());
        if (!shared.isEmpty()) {
            target.number(shared.size());
            shared.forEach(target::block);
        }
        target.i64(message.id());
        if (withLength && message.isRepeated()) {
            target.u8(REPEATED);
        }
    }

    private static List<byte[]> texts(List<SharedFilter> groups) {
        if (groups.isEmpty()) {
            return List.of();
        }
        List<byte[]> texts = new ArrayList<>(groups.size());
        groups.forEach(group -> texts.add(group.toString().getBytes(StandardCharsets.UTF_8)));
        return texts;
    }

    private static int size(
            ApplicationMessage message, long expirySeconds, byte @Nullable [] publisher, List<byte[]> groups) {
        int bytes = 1
                + ByteWriter.blockBytes(message.topic().utf8().length)
                + ByteWriter.blockBytes(message.payload().size())
                + Long.BYTES;
        if (expirySeconds != ApplicationMessage.NEVER) {
            bytes += ByteWriter.numberBytes(expirySeconds);
        }
        if (publisher != null) {
            bytes += ByteWriter.blockBytes(publisher.length);
        }
        if (!message.properties().isEmpty()) {
            bytes += ByteWriter.blockBytes(message.properties().encodedBytes());
        }
        if (!groups.isEmpty()) {
            bytes += ByteWriter.numberBytes(groups.size());
            for (byte[] group : groups) {
                bytes += ByteWriter.blockBytes(group.length);
            }
        }
        return bytes;
    }

    /**
     * Reads a message.
     *
     * @param source where to read from
     * @param flags the first byte of the form, which the caller has read
     * @param acceptedAtNanos the base of its expiry interval, of the broker's monotonic clock
     * @param names recent topics and client identifiers
     * @param groups the shared subscriptions are added to this list
     * @return the message; without an identifier if the source ends before it
     * @throws MalformedBytesException if it is not well-formed
     */
    public static ApplicationMessage read(
            ByteReader source, int flags, long acceptedAtNanos, NameCache names, List<? super SharedFilter> groups) {
        if ((flags & QOS) == QOS) {
            throw new MalformedBytesException("unknown QoS");
        }
        TopicName topic = topic(source, names);
        long expiry = (flags & EXPIRES) == 0 ? ApplicationMessage.NEVER : expiry(source.number());
        String publisher = (flags & PUBLISHER) == 0 ? null : source.text(names);
        PublishProperties properties =
                (flags & PROPERTIES) == 0 ? PublishProperties.EMPTY : properties(source.byteArray());
        Payload payload = source.payload();
        if ((flags & GROUPS) != 0) {
            int count = source.count(1);
            for (int i = 0; i < count; i++) {
                groups.add(group(source.text()));
            }
        }
        long id = source.remaining() >= Long.BYTES // earlier nodes wrote none
                ? source.i64()
                : ApplicationMessage.NO_ID;
        QoS qos = QoS.of(flags & QOS);
        boolean retain = (flags & RETAIN) != 0;
        return new ApplicationMessage(id, topic, payload, qos, retain, properties, expiry, acceptedAtNanos, publisher);
    }

    /**
     * Reads what follows a message in its block.
     *
     * @param source where to read from, behind the message; to the end of the block
     * @param message the message
     * @return the same message, or as one that may have been accepted before
     */
    public static ApplicationMessage readRepeated(ByteReader source, ApplicationMessage message) {
        boolean repeated = message.qos() == QoS.EXACTLY_ONCE && source.remaining() > 0 && source.u8() == REPEATED;
        return repeated ? message.repeated() : message;
    }

    /**
     * Converts the text of a shared subscription.
     *
     * @param text share name and filter, with their prefix
     * @return the shared subscription
     * @throws MalformedBytesException if the text is no shared subscription
     */
    public static SharedFilter group(String text) {
        try {
            return SharedFilter.of(text);
        } catch (InvalidTopicException e) {
            throw new MalformedBytesException("a group is not well-formed");
        }
    }

    private static TopicName topic(ByteReader source, NameCache names) {
        try {
            return source.topic(names);
        } catch (InvalidTopicException e) {
            throw new MalformedBytesException("a topic is not well-formed");
        }
    }

    private static long expiry(long seconds) {
        if (seconds < 0 || seconds > 0xFFFF_FFFFL) {
            throw new MalformedBytesException("an expiry interval is too large");
        }
        return seconds;
    }

    private static PublishProperties properties(byte[] encoded) {
        requireProperties(encoded);
        return PublishProperties.ofEncoded(encoded);
    }

    /** Validates properties, because later readers do not check their bounds. */
    private static void requireProperties(byte[] encoded) {
        int at = 0;
        while (at < encoded.length) {
            int id = encoded[at];
            int texts = switch (id) {
                case PropertyId.PAYLOAD_FORMAT_INDICATOR -> 0;
                case PropertyId.CONTENT_TYPE, PropertyId.RESPONSE_TOPIC, PropertyId.CORRELATION_DATA -> 1;
                case PropertyId.USER_PROPERTY -> 2;
                default -> throw new MalformedBytesException("a property is not allowed in a message");
            };
            at += texts == 0 ? 2 : 1;
            for (int i = 0; i < texts; i++) {
                int length =
                        at + 2 > encoded.length ? encoded.length : (encoded[at] & 0xFF) << 8 | (encoded[at + 1] & 0xFF);
                at += 2 + length;
            }
        }
        if (at > encoded.length) {
            throw new MalformedBytesException("a property is truncated");
        }
    }
}
