// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.Payload;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.TopicName;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Reads the parts of a frame and never beyond its end. For one thread. */
final class FrameReader {

    private final byte[] bytes;
    private final int end;
    private int at;

    FrameReader(byte[] bytes, int start, int end) {
        this.bytes = bytes;
        this.at = start;
        this.end = end;
    }

    int remaining() {
        return end - at;
    }

    int u8() {
        require(1);
        return bytes[at++] & 0xFF;
    }

    int i32() {
        require(4);
        int value = (bytes[at] & 0xFF) << 24
                | (bytes[at + 1] & 0xFF) << 16
                | (bytes[at + 2] & 0xFF) << 8
                | (bytes[at + 3] & 0xFF);
        at += 4;
        return value;
    }

    long i64() {
        long high = i32();
        return high << 32 | (i32() & 0xFFFF_FFFFL);
    }

    long number() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = u8();
            value |= (long) (next & 0x7F) << shift;
            if ((next & 0x80) == 0) {
                return value;
            }
        }
        throw new MalformedFrameException("a number has too many bytes");
    }

    /** A number from 0 to a maximum. */
    int number(int maximum) {
        long value = number();
        if (value < 0 || value > maximum) {
            throw new MalformedFrameException("a number is too large");
        }
        return (int) value;
    }

    /** Reads the number of elements, each of which has a minimum size: all of them must be within the frame. */
    int count(int bytesEach) {
        int count = number(Integer.MAX_VALUE);
        if (count > remaining() / bytesEach) {
            throw new MalformedFrameException("the frame ends too early");
        }
        return count;
    }

    /** Reads the length of a block, which must be within the frame. */
    private int length() {
        int length = number(Integer.MAX_VALUE);
        require(length);
        return length;
    }

    String text() {
        int length = length();
        if (isAscii(length)) { // almost all are ASCII, and a decoder costs more than the rest of a message
            String text = new String(bytes, at, length, StandardCharsets.ISO_8859_1);
            at += length;
            return text;
        }
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, at, length))
                    .toString();
            at += length;
            return text;
        } catch (CharacterCodingException e) {
            throw new MalformedFrameException("a string is not UTF-8");
        }
    }

    private boolean isAscii(int length) {
        int all = 0;
        for (int i = at; i < at + length; i++) {
            all |= bytes[i];
        }
        return (all & 0x80) == 0;
    }

    /** Reads a string that occurs often. */
    String text(NameCache names) {
        int start = at;
        int length = length();
        String known = names.text(bytes, at, length);
        if (known != null) {
            at += length;
            return known;
        }
        int from = at;
        at = start;
        String text = text();
        names.keep(text, bytes, from, length);
        return text;
    }

    /**
     * Reads a topic that occurs often.
     *
     * @throws InvalidTopicException if it is not a topic
     */
    TopicName topic(NameCache names) {
        int start = at;
        int length = length();
        TopicName known = names.topic(bytes, at, length);
        if (known != null) {
            at += length;
            return known;
        }
        at = start;
        TopicName topic = TopicName.of(text());
        names.keep(topic);
        return topic;
    }

    Payload payload() {
        int length = length();
        Payload payload = Payload.copyOf(bytes, at, length);
        at += length;
        return payload;
    }

    byte[] block() {
        int length = length();
        byte[] block = new byte[length];
        System.arraycopy(bytes, at, block, 0, length);
        at += length;
        return block;
    }

    /** Returns a reader of the next block and skips the block. */
    FrameReader part() {
        int length = length();
        FrameReader part = new FrameReader(bytes, at, at + length);
        at += length;
        return part;
    }

    private void require(int length) {
        if (remaining() < length) {
            throw new MalformedFrameException("the frame ends too early");
        }
    }
}
