// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import io.smqtt.bytes.MalformedBytesException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Keys. Numbers are big endian, so that the rows of a session are adjacent and in order. */
final class Keys {

    static final int NUMBER_BYTES = Long.BYTES;

    private Keys() {}

    static byte[] number(long number) {
        return ByteBuffer.allocate(NUMBER_BYTES).putLong(number).array();
    }

    static byte[] message(long session, long sequence) {
        return ByteBuffer.allocate(2 * NUMBER_BYTES)
                .putLong(session)
                .putLong(sequence)
                .array();
    }

    /** A length precedes the filter, so that no key is the prefix of another one. */
    static byte[] subscription(long session, String clientFilter) {
        byte[] filter = clientFilter.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(NUMBER_BYTES + Short.BYTES + filter.length)
                .putLong(session)
                .putShort((short) filter.length)
                .put(filter)
                .array();
    }

    static byte[] received(long session, int packetId) {
        return ByteBuffer.allocate(NUMBER_BYTES + Short.BYTES)
                .putLong(session)
                .putShort((short) packetId)
                .array();
    }

    /** The number at the beginning of a key. */
    static long first(byte[] key) {
        if (key.length < NUMBER_BYTES) {
            throw new MalformedBytesException("a key ends too early");
        }
        return ByteBuffer.wrap(key).getLong();
    }

    static long sequence(byte[] key) {
        if (key.length != 2 * NUMBER_BYTES) {
            throw new MalformedBytesException("a key has a wrong length");
        }
        return ByteBuffer.wrap(key).getLong(NUMBER_BYTES);
    }

    static int packetId(byte[] key) {
        if (key.length != NUMBER_BYTES + Short.BYTES) {
            throw new MalformedBytesException("a key has a wrong length");
        }
        return ByteBuffer.wrap(key).getShort(NUMBER_BYTES) & 0xFFFF;
    }

    static String filter(byte[] key) {
        int begin = NUMBER_BYTES + Short.BYTES;
        if (key.length < begin || (ByteBuffer.wrap(key).getShort(NUMBER_BYTES) & 0xFFFF) != key.length - begin) {
            throw new MalformedBytesException("a key has a wrong length");
        }
        return new String(key, begin, key.length - begin, StandardCharsets.UTF_8);
    }
}
