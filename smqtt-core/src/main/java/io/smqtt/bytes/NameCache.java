// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bytes;

import io.smqtt.topic.TopicName;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cache of recent topics and client identifiers, by their bytes. Messages of a topic follow each other, and decoding the topic again
 * costs more than the rest of a message. Each entry has one place, where the next one replaces it. For one thread.
 */
public final class NameCache {

    private static final int LONGEST = 256;

    private final @Nullable TopicName[] topics;
    private final @Nullable Text[] texts;

    private record Text(byte[] utf8, String value) {}

    /**
     * Creates an empty cache.
     *
     * @param places capacity for topics, and the same for client identifiers; a power of two
     */
    public NameCache(int places) {
        topics = new @Nullable TopicName[places];
        texts = new @Nullable Text[places];
    }

    /** The topic with these bytes, or null. */
    @Nullable
    TopicName topic(byte[] bytes, int from, int length) {
        TopicName known = topics[placeOf(bytes, from, length)];
        return known != null && isSame(known.utf8(), bytes, from, length) ? known : null;
    }

    /** Adds a topic. */
    void keep(TopicName topic) {
        byte[] utf8 = topic.utf8();
        if (utf8.length <= LONGEST) {
            topics[placeOf(utf8, 0, utf8.length)] = topic;
        }
    }

    /** The string with these bytes, or null. */
    @Nullable
    String text(byte[] bytes, int from, int length) {
        Text known = texts[placeOf(bytes, from, length)];
        return known != null && isSame(known.utf8, bytes, from, length) ? known.value : null;
    }

    /** Adds a string. */
    void keep(String text, byte[] bytes, int from, int length) {
        if (length <= LONGEST) {
            texts[placeOf(bytes, from, length)] = new Text(Arrays.copyOfRange(bytes, from, from + length), text);
        }
    }

    private static boolean isSame(byte[] known, byte[] bytes, int from, int length) {
        return known.length == length && Arrays.equals(known, 0, length, bytes, from, from + length);
    }

    private int placeOf(byte[] bytes, int from, int length) {
        int hash = length;
        for (int i = from + Math.max(0, length - LONGEST); i < from + length; i++) {
            hash = 31 * hash + bytes[i];
        }
        return (hash ^ hash >>> 15) & topics.length - 1;
    }
}
