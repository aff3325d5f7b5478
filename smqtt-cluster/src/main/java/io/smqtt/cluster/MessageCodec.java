// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
 * Encodes and decodes a forwarded message: flags, topic, remaining expiry interval, publisher, properties, payload, groups, identifier, and the
 * number of earlier hops between nodes, if any. Later versions add fields at the end, which are skipped.
 */
@AnyThread
final class MessageCodec {

    private static final int QOS = 0x03;
    private static final int RETAIN = 0x04;
    private static final int EXPIRES = 0x08;
    private static final int PUBLISHER = 0x10;
    private static final int PROPERTIES = 0x20;
    private static final int TO_ALL = 0x40;
    private static final int GROUPS = 0x80;

    private MessageCodec() {}

    /**
     * Writes a message.
     *
     * @param nowNanos the broker's monotonic clock
     */
    static void write(FrameWriter target, ForwardedMessage forwarded, long nowNanos) {
        write(target, forwarded.message(), forwarded.toAll(), forwarded.groups(), nowNanos, false);
    }

    /**
     * Writes the length of a message, then the message.
     *
     * @param toAll whether it goes to all subscribers that are not in a shared group
     * @param groups the groups that get it
     * @param nowNanos the broker's monotonic clock
     */
    static void writeBlock(
            FrameWriter target, ApplicationMessage message, boolean toAll, List<SharedFilter> groups, long nowNanos) {
        write(target, message, toAll, groups, nowNanos, true);
    }

    private static void write(
            FrameWriter target,
            ApplicationMessage message,
            boolean toAll,
            List<SharedFilter> groups,
            long nowNanos,
            boolean withLength) {
        long expiry = message.remainingExpirySeconds(nowNanos);
        String name = message.publisherId();
        byte[] publisher = name == null ? null : name.getBytes(StandardCharsets.UTF_8);
        PublishProperties properties = message.properties();
        List<byte[]> shared = texts(groups);
        int flags = message.qos().level()
                | (message.retain() ? RETAIN : 0)
                | (expiry == ApplicationMessage.NEVER ? 0 : EXPIRES)
                | (publisher == null ? 0 : PUBLISHER)
                | (properties.isEmpty() ? 0 : PROPERTIES)
                | (toAll ? TO_ALL : 0)
                | (shared.isEmpty() ? 0 : GROUPS);
        if (withLength) {
            target.number(bytes(message, expiry, publisher, shared));
        }
        target.u8(flags).block(message.topic().utf8());
        if (expiry != ApplicationMessage.NEVER) {
            target.number(expiry);
        }
        if (publisher != null) {
            target.block(publisher);
        }
        if (!properties.isEmpty()) {
            byte[] encoded = new byte[properties.encodedBytes()];
            ByteBuf view = Unpooled.wrappedBuffer(encoded).writerIndex(0);
            properties.writeTo(view);
            target.block(encoded);
        }
        target.block(message.payload());
        if (!shared.isEmpty()) {
            target.number(shared.size());
            shared.forEach(target::block);
        }
        target.i64(message.id());
    }

    private static List<byte[]> texts(List<SharedFilter> groups) {
        if (groups.isEmpty()) {
            return List.of();
        }
        List<byte[]> texts = new ArrayList<>(groups.size());
        groups.forEach(group -> texts.add(group.toString().getBytes(StandardCharsets.UTF_8)));
        return texts;
    }

    /** The size of a message without its length prefix. */
    private static int bytes(
            ApplicationMessage message, long expiry, byte @Nullable [] publisher, List<byte[]> groups) {
        int bytes = 1
                + FrameWriter.blockBytes(message.topic().utf8().length)
                + FrameWriter.blockBytes(message.payload().size())
                + Long.BYTES;
        if (expiry != ApplicationMessage.NEVER) {
            bytes += FrameWriter.numberBytes(expiry);
        }
        if (publisher != null) {
            bytes += FrameWriter.blockBytes(publisher.length);
        }
        if (!message.properties().isEmpty()) {
            bytes += FrameWriter.blockBytes(message.properties().encodedBytes());
        }
        if (!groups.isEmpty()) {
            bytes += FrameWriter.numberBytes(groups.size());
            for (byte[] group : groups) {
                bytes += FrameWriter.blockBytes(group.length);
            }
        }
        return bytes;
    }

    /**
     * Reads a message up to the end of the source.
     *
     * @param nowNanos the broker's monotonic clock, the base of its expiry
     * @param names the known names
     * @throws MalformedFrameException if it is not well-formed
     */
    static ForwardedMessage read(FrameReader source, long nowNanos, NameCache names) {
        int flags = source.u8();
        if ((flags & QOS) == QOS) {
            throw new MalformedFrameException("unknown QoS");
        }
        TopicName topic = topic(source, names);
        long expiry = (flags & EXPIRES) == 0 ? ApplicationMessage.NEVER : expiry(source.number());
        String publisher = (flags & PUBLISHER) == 0 ? null : source.text(names);
        PublishProperties properties = (flags & PROPERTIES) == 0 ? PublishProperties.EMPTY : properties(source.block());
        Payload payload = source.payload();
        List<SharedFilter> groups = (flags & GROUPS) == 0 ? List.of() : groups(source);
        long id = source.remaining() >= Long.BYTES // in a batch each message is a separate block
                ? source.i64()
                : ApplicationMessage.NO_ID;
        ApplicationMessage message = new ApplicationMessage(
                id,
                topic,
                payload,
                QoS.of(flags & QOS),
                (flags & RETAIN) != 0,
                properties,
                expiry,
                nowNanos,
                publisher);
        return new ForwardedMessage(message, (flags & TO_ALL) != 0, groups);
    }

    private static TopicName topic(FrameReader source, NameCache names) {
        try {
            return source.topic(names);
        } catch (InvalidTopicException e) {
            throw new MalformedFrameException("a topic is not well-formed");
        }
    }

    private static List<SharedFilter> groups(FrameReader source) {
        List<SharedFilter> groups = new ArrayList<>();
        int count = source.count(1);
        for (int i = 0; i < count; i++) {
            groups.add(group(source.text()));
        }
        return List.copyOf(groups);
    }

    private static PublishProperties properties(byte[] encoded) {
        requireProperties(encoded);
        return PublishProperties.ofEncoded(encoded);
    }

    private static long expiry(long seconds) {
        if (seconds < 0 || seconds > 0xFFFF_FFFFL) {
            throw new MalformedFrameException("an expiry interval is too large");
        }
        return seconds;
    }

    static SharedFilter group(String text) {
        try {
            return SharedFilter.of(text);
        } catch (InvalidTopicException e) {
            throw new MalformedFrameException("a group is not well-formed");
        }
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
                default -> throw new MalformedFrameException("a property is not allowed in a forwarded message");
            };
            at += texts == 0 ? 2 : 1;
            for (int i = 0; i < texts; i++) {
                int length =
                        at + 2 > encoded.length ? encoded.length : (encoded[at] & 0xFF) << 8 | (encoded[at + 1] & 0xFF);
                at += 2 + length;
            }
        }
        if (at > encoded.length) {
            throw new MalformedFrameException("a property is truncated");
        }
    }
}
