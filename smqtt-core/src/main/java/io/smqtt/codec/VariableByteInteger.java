// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import io.netty.buffer.ByteBuf;

/** The variable byte integer (MQTT 5.0, section 1.5.5): its length and its encoding. */
final class VariableByteInteger {

    private VariableByteInteger() {}

    static int size(int value) {
        if (value < 1 << 7) {
            return 1;
        }
        return value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4;
    }

    /** Writes the shortest form [MQTT-1.5.5-1]. */
    static void write(ByteBuf out, int value) {
        int rest = value;
        while (rest >= 1 << 7) {
            out.writeByte(rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        out.writeByte(rest);
    }
}
