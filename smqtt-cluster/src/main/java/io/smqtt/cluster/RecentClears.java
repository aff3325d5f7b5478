// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Topics that somebody has cleared though no message was known: one may be on its way that is older than that. A minute,
 * and a bounded number and size.
 */
@OnClusterLoop
final class RecentClears {

    /** How many are remembered at most. */
    static final int MOST = 16_384;

    private static final int MOST_CHARACTERS = 2 * 1024 * 1024;
    private static final long KEPT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Map<String, Clear> clears = new LinkedHashMap<>();
    private long characters;

    private record Clear(RetainedVersion version, long atNanos) {}

    /** Remembers the later one of this and what is remembered. */
    void add(String topic, RetainedVersion version, long nowNanos) {
        RetainedVersion known = take(topic);
        RetainedVersion later = known != null && known.isAfter(version) ? known : version;
        clears.put(topic, new Clear(later, nowNanos));
        characters += topic.length();
        while (clears.size() > MOST || characters > MOST_CHARACTERS) {
            removeFirst();
        }
    }

    /** Forgets a topic; null if it is not remembered. */
    @Nullable
    RetainedVersion take(String topic) {
        Clear clear = clears.remove(topic);
        if (clear == null) {
            return null;
        }
        characters -= topic.length();
        return clear.version();
    }

    /** When a topic was cleared; null if it is not remembered. */
    @Nullable
    RetainedVersion get(String topic) {
        Clear clear = clears.get(topic);
        return clear == null ? null : clear.version();
    }

    /** Forgets those of long ago. */
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
