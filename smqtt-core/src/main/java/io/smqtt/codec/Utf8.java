// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Strict UTF-8 as MQTT requires it (MQTT 5.0, section 1.5.4): no surrogates, no overlong forms, no U+0000. */
final class Utf8 {

    /** Reads eight bytes of an array as one little-endian number. */
    static final VarHandle EIGHT_BYTES = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;

    private Utf8() {}

    /** Whether the bytes are strict UTF-8. Skips plain ASCII eight bytes at a time. */
    static boolean isStrict(byte[] bytes, int from, int end) {
        int at = from;
        while (at < end) {
            if (end - at >= Long.BYTES && isPlain((long) EIGHT_BYTES.get(bytes, at))) {
                at += Long.BYTES;
            } else if (bytes[at] > 0) {
                at++;
            } else {
                int length = sequenceLength(bytes, at, end);
                if (length == 0) {
                    return false;
                }
                at += length;
            }
        }
        return true;
    }

    /** Whether all eight bytes are from 0x01 to 0x7F: otherwise a byte, or a byte less one, has its high bit set. */
    private static boolean isPlain(long eightBytes) {
        return ((eightBytes | (eightBytes - ONES)) & HIGH_BITS) == 0;
    }

    /** The length of the multi-byte sequence at an index, or 0 if it is not valid [MQTT-1.5.4-1] [MQTT-1.5.4-2]. */
    private static int sequenceLength(byte[] bytes, int at, int end) {
        int lead = bytes[at] & 0xFF;
        if (lead < 0xC2 || lead > 0xF4) { // also U+0000
            return 0;
        }
        int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (end - at < length || !isSecond(lead, bytes[at + 1] & 0xFF)) {
            return 0;
        }
        for (int i = at + 2; i < at + length; i++) {
            if ((bytes[i] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return length;
    }

    private static boolean isSecond(int lead, int second) {
        int lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80; // lower ones would be overlong
        int highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF; // surrogates, above U+10FFFF
        return second >= lowest && second <= highest;
    }
}
