// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicLevels;
import io.smqtt.topic.TopicName;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Converts the bytes of a topic name to a {@link TopicName}. Recent topics are in a direct-mapped table of fixed size: a hit compares all bytes,
 * and neither validates nor allocates. One instance per decoder.
 */
final class TopicCache {

    private static final int SLOT_BITS = 12;
    private static final int MAXIMUM_CACHED_BYTES = 256;
    private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

    private final @Nullable TopicName[] slots = new @Nullable TopicName[1 << SLOT_BITS];
    private final int maximumBytes;
    private final int maximumLevels;

    TopicCache(int maximumBytes, int maximumLevels) {
        this.maximumBytes = maximumBytes;
        this.maximumLevels = maximumLevels;
    }

    /** The topic name of these bytes, which have all arrived. */
    TopicName get(byte[] bytes, int from, int length) {
        if (length > MAXIMUM_CACHED_BYTES) {
            return create(bytes, from, length);
        }
        int slot = slot(bytes, from, length);
        TopicName cached = slots[slot];
        if (cached != null) {
            byte[] utf8 = cached.utf8();
            if (Arrays.equals(utf8, 0, utf8.length, bytes, from, from + length)) {
                return cached;
            }
        }
        TopicName created = create(bytes, from, length);
        slots[slot] = created;
        return created;
    }

    private TopicName create(byte[] bytes, int from, int length) {
        if (length > maximumBytes) {
            throw invalid("a topic name is too long");
        }
        if (!Utf8.isStrict(bytes, from, from + length)) { // [MQTT-1.5.4-1] [MQTT-1.5.4-2]
            throw PacketReader.malformed("a topic name is not strict UTF-8");
        }
        TopicName topic;
        try {
            topic = TopicName.ofUtf8(Arrays.copyOfRange(bytes, from, from + length));
        } catch (InvalidTopicException e) { // [MQTT-3.3.2-2] [MQTT-4.7.3-1]
            throw invalid(String.valueOf(e.getMessage()));
        }
        if (TopicLevels.count(topic.value()) > maximumLevels) {
            throw invalid("a topic name has too many levels");
        }
        return topic;
    }

    private static int slot(byte[] bytes, int from, int length) {
        long hash = length * MIX;
        int at = from;
        int end = from + length;
        for (; end - at >= Long.BYTES; at += Long.BYTES) {
            hash = mix(hash ^ (long) Utf8.EIGHT_BYTES.get(bytes, at));
        }
        for (; at < end; at++) {
            hash = hash * 31 + bytes[at];
        }
        return (int) (mix(hash) >>> Long.SIZE - SLOT_BITS);
    }

    private static long mix(long value) {
        long mixed = value * MIX;
        return (mixed ^ mixed >>> 32) * MIX;
    }

    private static ProtocolViolation invalid(String message) {
        return new ProtocolViolation(ReasonCode.TOPIC_NAME_INVALID, message);
    }
}
