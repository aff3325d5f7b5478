// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.buffer.ByteBuf;
import io.smqtt.thread.OnEventLoop;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The names of recent topics at the other side, as they are written: a topic that is known is neither decoded nor compared with filters. Bounded:
 * at most {@value #SLOTS} topics of {@value #LONGEST} bytes.
 */
@OnEventLoop
final class RecentNames {

    static final int SLOTS = 1_024;
    static final int LONGEST = 256;

    /** The maximum length of a UTF-8 encoded string, whose length field has two bytes. */
    private static final int LONGEST_NAME = 65_535;

    private final Names names;
    private final byte[] @Nullable [] topics = new byte[SLOTS] @Nullable [];
    private final byte[] @Nullable [] written = new byte[SLOTS] @Nullable [];
    private final byte[] topic = new byte[LONGEST];

    /** Names of topics at the other side. */
    @FunctionalInterface
    interface Names {

        /** The name of a topic; null if it is not passed on. */
        @Nullable
        String of(String topic);
    }

    RecentNames(Names names) {
        this.names = names;
    }

    /**
     * Reads a topic.
     *
     * @param in from the topic on
     * @param length its bytes
     * @return the name in UTF-8, not to be changed; null if the topic is not passed on
     */
    byte @Nullable [] next(ByteBuf in, int length) {
        if (length > LONGEST) {
            return name(in.readCharSequence(length, StandardCharsets.UTF_8).toString());
        }
        in.readBytes(topic, 0, length);
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + topic[i];
        }
        int slot = (hash ^ hash >>> 16) & SLOTS - 1;
        byte[] known = topics[slot];
        if (known == null || !Arrays.equals(known, 0, known.length, topic, 0, length)) {
            topics[slot] = Arrays.copyOf(topic, length);
            written[slot] = name(new String(topic, 0, length, StandardCharsets.UTF_8));
        }
        return written[slot];
    }

    private byte @Nullable [] name(String read) {
        String name = names.of(read);
        byte[] utf8 = name == null ? null : name.getBytes(StandardCharsets.UTF_8);
        return utf8 == null || utf8.length > LONGEST_NAME ? null : utf8;
    }
}
