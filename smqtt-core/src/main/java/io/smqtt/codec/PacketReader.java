// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.smqtt.message.ReasonCode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A cursor over the bytes of one packet, or of its property block. It never reads past the end: a length beyond it is a malformed packet. One
 * instance per decoder.
 */
final class PacketReader {

    byte[] array = new byte[0];
    int at;
    int end;

    void reset(byte[] array, int from, int end) {
        this.array = array;
        this.at = from;
        this.end = end;
    }

    int remaining() {
        return end - at;
    }

    int readByte() {
        require(1);
        return array[at++] & 0xFF;
    }

    int readShort() {
        require(2);
        int value = shortAt(at);
        at += 2;
        return value;
    }

    long readInt() {
        require(4);
        long value = (long) shortAt(at) << 16 | shortAt(at + 2);
        at += 4;
        return value;
    }

    /** Reads a variable byte integer (MQTT 5.0, section 1.5.5). */
    int readVariableByteInteger() {
        int value = 0;
        for (int shift = 0; shift <= 21; shift += 7) {
            int b = readByte();
            value |= (b & 0x7F) << shift;
            if (b < 0x80) {
                if (b == 0 && shift > 0) { // [MQTT-1.5.5-1]
                    throw malformed("a variable byte integer is longer than necessary");
                }
                return value;
            }
        }
        throw malformed("a variable byte integer has more than four bytes");
    }

    /** Reads a packet identifier. */
    int readPacketId() {
        int packetId = readShort();
        if (packetId == 0) { // [MQTT-2.2.1-3]
            throw new ProtocolViolation(ReasonCode.PROTOCOL_ERROR, "the packet identifier is zero");
        }
        return packetId;
    }

    /** Reads a two byte length and checks that its bytes are present. */
    int readLength() {
        int length = readShort();
        require(length);
        return length;
    }

    String readString() {
        int length = readLength();
        int from = at;
        skipStrict(length);
        return new String(array, from, length, StandardCharsets.UTF_8);
    }

    void skipString() {
        skipStrict(readLength());
    }

    /** Skips bytes that must be strict UTF-8. */
    void skipStrict(int length) {
        if (!Utf8.isStrict(array, at, at + length)) { // [MQTT-1.5.4-1] [MQTT-1.5.4-2]
            throw malformed("a string is not strict UTF-8");
        }
        at += length;
    }

    byte[] readBinary() {
        int length = readLength();
        at += length;
        return Arrays.copyOfRange(array, at - length, at);
    }

    void skipBinary() {
        int length = readLength();
        at += length;
    }

    /** Reads the string whose length is at an index; it was skipped before. */
    String stringAt(int index) {
        return new String(array, index + 2, shortAt(index), StandardCharsets.UTF_8);
    }

    /** Reads the binary data whose length is at an index; it was skipped before. */
    byte[] binaryAt(int index) {
        return Arrays.copyOfRange(array, index + 2, index + 2 + shortAt(index));
    }

    int shortAt(int index) {
        return (array[index] & 0xFF) << 8 | (array[index + 1] & 0xFF);
    }

    void require(int bytes) {
        if (end - at < bytes) {
            throw malformed("a packet is shorter than its fields");
        }
    }

    void requireEnd() {
        if (at != end) {
            throw malformed("a packet is longer than its fields");
        }
    }

    static ProtocolViolation malformed(String message) {
        return new ProtocolViolation(ReasonCode.MALFORMED_PACKET, message);
    }
}
