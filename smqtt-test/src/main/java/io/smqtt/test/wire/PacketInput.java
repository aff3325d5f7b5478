// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Cuts a stream into MQTT packets. Not thread-safe. */
final class PacketInput {

    private static final int CHUNK = 16_384;

    private final InputStream input;
    private final Pace pace;

    /** Is told of bytes that were read, before the next are. */
    interface Pace {

        void read(int bytes) throws InterruptedException;

        /** {@return how many bytes may be read at once} */
        int atMost();
    }

    PacketInput(InputStream input, Pace pace) {
        this.input = input;
        this.pace = pace;
    }

    /**
     * Reads a packet. One whose length is malformed is taken for all that can be told of it; the next read goes on behind.
     *
     * @return null at the end of the stream; what came of a packet that did not come whole is lost
     */
    byte @Nullable [] next() throws IOException, InterruptedException {
        ByteArrayOutputStream packet = new ByteArrayOutputStream();
        int length = 0;
        for (int i = 0; i < 5; i++) {
            pace.atMost();
            int next = input.read();
            if (next < 0) {
                return null;
            }
            packet.write(next);
            pace.read(1);
            if (i > 0) {
                length |= (next & 0x7F) << 7 * (i - 1);
                if (next < 0x80) {
                    break;
                } else if (i == 4) {
                    length = 0; // malformed
                }
            }
        }
        byte[] chunk = new byte[CHUNK];
        while (length > 0) {
            int count = input.read(chunk, 0, Math.min(length, Math.min(CHUNK, Math.max(1, pace.atMost()))));
            if (count < 0) {
                return null;
            }
            packet.write(chunk, 0, count);
            length -= count;
            pace.read(count);
        }
        return packet.toByteArray();
    }
}
