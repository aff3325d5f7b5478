// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bytes;

import io.smqtt.message.Payload;
import io.smqtt.topic.TopicName;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads what {@link ByteWriter} wrote, and never beyond the end. All methods throw {@link MalformedBytesException} if the bytes end too
 * early or have another form. For one thread.
 */
public final class ByteReader {

    private final byte[] bytes;
    private final int end;
    private int at;

    /**
     * Creates a reader of an array.
     *
     * @param bytes not copied
     */
    public ByteReader(byte[] bytes) {
        this(bytes, 0, bytes.length);
    }

    /**
     * Creates a reader of a part of an array.
     *
     * @param bytes not copied
     * @param start where the part begins
     * @param end the index after its last byte
     */
    public ByteReader(byte[] bytes, int start, int end) {
        this.bytes = bytes;
        this.at = start;
        this.end = end;
    }

    /**
     * The number of bytes that have not been read.
     *
     * @return bytes
     */
    public int remaining() {
        return end - at;
    }

    /** Requires that everything has been read. */
    public void requireEnd() {
        if (at != end) {
            throw new MalformedBytesException(remaining() + " bytes too long");
        }
    }

    /**
     * Reads a byte that is one of a few formats.
     *
     * @param formats the known formats
     * @return the format
     */
    public int format(int... formats) {
        int found = u8();
        for (int format : formats) {
            if (found == format) {
                return found;
            }
        }
        throw new MalformedBytesException("format " + found + ", expected one of " + Arrays.toString(formats));
    }

    /**
     * Whether the next byte has a value. Reads nothing.
     *
     * @param value 0 to 255
     * @return false also at the end
     */
    public boolean startsWith(int value) {
        return at < end && (bytes[at] & 0xFF) == value;
    }

    /**
     * Reads one byte.
     *
     * @return 0 to 255
     */
    public int u8() {
        require(1);
        return bytes[at++] & 0xFF;
    }

    /**
     * Reads four bytes.
     *
     * @return any number
     */
    public int i32() {
        require(4);
        int value = (bytes[at] & 0xFF) << 24
                | (bytes[at + 1] & 0xFF) << 16
                | (bytes[at + 2] & 0xFF) << 8
                | (bytes[at + 3] & 0xFF);
        at += 4;
        return value;
    }

    /**
     * Reads eight bytes.
     *
     * @return any number
     */
    public long i64() {
        long high = i32();
        return high << 32 | (i32() & 0xFFFF_FFFFL);
    }

    /**
     * Reads a number of variable length.
     *
     * @return any number
     */
    public long number() {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int next = u8();
            value |= (long) (next & 0x7F) << shift;
            if ((next & 0x80) == 0) {
                return value;
            }
        }
        throw new MalformedBytesException("a number has too many bytes");
    }

    /**
     * Reads a number of variable length.
     *
     * @param maximum the largest value allowed
     * @return 0 to the maximum
     */
    public int number(int maximum) {
        long value = number();
        if (value < 0 || value > maximum) {
            throw new MalformedBytesException("a number is too large");
        }
        return (int) value;
    }

    /**
     * Reads a number that {@link ByteWriter#signed} wrote.
     *
     * @return any number
     */
    public long signed() {
        long value = number();
        return value >>> 1 ^ -(value & 1);
    }

    /**
     * Reads the number of elements. All of them must be within the end.
     *
     * @param bytesEach the minimum size of an element
     * @return the number of elements
     */
    public int count(int bytesEach) {
        int count = number(Integer.MAX_VALUE);
        if (count > remaining() / bytesEach) {
            throw new MalformedBytesException("the bytes end too early");
        }
        return count;
    }

    /**
     * Reads a block of UTF-8.
     *
     * @return the string
     */
    public String text() {
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
            throw new MalformedBytesException("a string is not UTF-8");
        }
    }

    private boolean isAscii(int length) {
        int all = 0;
        for (int i = at; i < at + length; i++) {
            all |= bytes[i];
        }
        return (all & 0x80) == 0;
    }

    /**
     * Reads a string that occurs often.
     *
     * @param names recent strings
     * @return the string
     */
    public String text(NameCache names) {
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
     * Reads a topic name that occurs often.
     *
     * @param names recent topics
     * @return the topic name
     * @throws io.smqtt.topic.InvalidTopicException if it is not a topic name
     */
    public TopicName topic(NameCache names) {
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

    /**
     * Reads a block as a payload.
     *
     * @return a copy of the bytes
     */
    public Payload payload() {
        int length = length();
        Payload payload = Payload.copyOf(bytes, at, length);
        at += length;
        return payload;
    }

    /**
     * Reads a block.
     *
     * @return a copy of the bytes
     */
    public byte[] byteArray() {
        int length = length();
        byte[] block = Arrays.copyOfRange(bytes, at, at + length);
        at += length;
        return block;
    }

    /**
     * Skips a block.
     *
     * @return a reader of it
     */
    public ByteReader part() {
        int length = length();
        ByteReader part = new ByteReader(bytes, at, at + length);
        at += length;
        return part;
    }

    /** Reads the length of a block, which must be within the end. */
    private int length() {
        int length = number(Integer.MAX_VALUE);
        require(length);
        return length;
    }

    private void require(int length) {
        if (remaining() < length) {
            throw new MalformedBytesException("the bytes end too early");
        }
    }
}
