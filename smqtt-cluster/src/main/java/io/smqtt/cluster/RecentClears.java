// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.RetainedVersion;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Topics that were cleared although no message was known: an older message may still be in flight. Kept for a minute, within limits of
 * number and size.
 */
@OnClusterLoop
final class RecentClears {

    /** The maximum number of entries. */
    static final int MOST = 16_384;

    private static final int MOST_CHARACTERS = 2 * 1024 * 1024;
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Map<String, Clear> clears = new LinkedHashMap<>();
    private long characters;

    private record Clear(RetainedVersion version, long atNanos) {}

    /** Adds a version; the later one of this and the existing one is kept. */
    void add(String topic, RetainedVersion version, long nowNanos) {
        RetainedVersion known = take(topic);
        RetainedVersion later = known != null && known.isAfter(version) ? known : version;
        clears.put(topic, new Clear(later, nowNanos));
        characters += topic.length();
        while (clears.size() > MOST || characters > MOST_CHARACTERS) {
            removeFirst();
        }
    }

    /** Removes a topic; null if it is missing. */
    @Nullable
    RetainedVersion take(String topic) {
        Clear clear = clears.remove(topic);
        if (clear == null) {
            return null;
        }
        characters -= topic.length();
        return clear.version();
    }

    /** The version in which a topic was cleared; null if it is missing. */
    @Nullable
    RetainedVersion get(String topic) {
        Clear clear = clears.get(topic);
        return clear == null ? null : clear.version();
    }

    /** Removes expired entries. */
    void tick(long nowNanos) {
        while (!clears.isEmpty() && nowNanos - clears.values().iterator().next().atNanos() > KEPT_NANOS) {
            removeFirst();
        }
    }

    private void removeFirst() {
        Iterator<String> topics = clears.keySet().iterator();
        characters -= topics.next().length();
        topics.remove();
    }

    int size() {
        return clears.size();
    }
}
