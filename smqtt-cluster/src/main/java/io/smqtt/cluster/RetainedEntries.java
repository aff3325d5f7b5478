// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The retained messages known to one node, in topic partitions, each with a hash of its versions. Removed messages are kept as topic and
 * version, within limits of number and size. Beyond the limits the oldest removals are dropped first, so that nodes with the same order of
 * changes keep the same ones, and other nodes agree after a comparison.
 */
@OnClusterLoop
final class RetainedEntries {

    /** The number of topic partitions for the comparison. */
    static final int PARTS = 256;

    private static final int CLEARED_BYTES = 256;
    private static final long UNKNOWN = -1;

    private final int maxCleared;
    private final long maxClearedBytes;
    private final Consumer<Entry> dropped;
    private final List<Map<String, Entry>> parts = new ArrayList<>();
    private final long[] hashes = new long[PARTS];
    private final long[] latest = new long[PARTS]; // or UNKNOWN
    private final TreeSet<Entry> cleared =
            new TreeSet<>(Comparator.comparing(Entry::version).thenComparing(Entry::topic));
    private long clearedBytes;
    private int count;
    private int refused;
    private int expiring;
    private long forgotten;

    /**
     * The known state of a topic.
     *
     * @param topic the topic
     * @param version the version of this state
     * @param message the message; null if there is none, or none here
     * @param state whether there is a message
     * @param expiresAtNanos the expiry of a refused one, by the broker's monotonic clock, or {@link ApplicationMessage#NEVER}
     */
    record Entry(
            String topic,
            RetainedVersion version,
            @Nullable ApplicationMessage message,
            State state,
            long expiresAtNanos) {

        /** Whether a topic has a message. */
        enum State {
            /** It has one. */
            MESSAGE,
            /** It has one, which the limits of this node's tree refuse. */
            REFUSED,
            /** Its message was removed. */
            REMOVED,
            /** Its message has expired, on all nodes. */
            EXPIRED
        }

        static Entry of(RetainedVersion version, ApplicationMessage message) {
            return new Entry(message.topic().value(), version, message, State.MESSAGE, ApplicationMessage.NEVER);
        }

        static Entry cleared(String topic, RetainedVersion version) {
            return new Entry(topic, version, null, State.REMOVED, ApplicationMessage.NEVER);
        }

        Entry refused() {
            long at = expiresAtNanos;
            if (message != null && expires()) {
                at = message.acceptedAtNanos() + TimeUnit.SECONDS.toNanos(message.expiryIntervalSeconds());
            }
            return new Entry(topic, version, null, State.REFUSED, at);
        }

        private Entry expired() {
            return new Entry(topic, version, null, State.EXPIRED, ApplicationMessage.NEVER);
        }

        boolean isRefused() {
            return state == State.REFUSED;
        }

        boolean isRemoved() {
            return state == State.REMOVED;
        }

        boolean isCleared() {
            return state == State.REMOVED || state == State.EXPIRED;
        }

        private boolean expires() {
            return message == null
                    ? expiresAtNanos != ApplicationMessage.NEVER
                    : message.expiryIntervalSeconds() != ApplicationMessage.NEVER;
        }

        private boolean isExpired(long nowNanos) {
            return message == null
                    ? expiresAtNanos != ApplicationMessage.NEVER && nowNanos - expiresAtNanos >= 0
                    : message.isExpired(nowNanos);
        }

        /** The estimated size of a removed one, the same on every node. */
        private long bytes() {
            return CLEARED_BYTES + 2L * topic.length();
        }

        /** The row for other nodes; null if only the version is known. */
        @Nullable
        RetainedRow row() {
            if (isRefused()) {
                return null;
            }
            return message == null
                    ? new RetainedRow(RetainedRow.Kind.CLEARED, topic, version, null)
                    : RetainedRow.of(version, message);
        }
    }

    /**
     * Creates an empty table.
     *
     * @param maxCleared the maximum number of topics without a message
     * @param maxClearedBytes the approximate maximum bytes of these
     * @param dropped called with each entry that is dropped
     */
    RetainedEntries(int maxCleared, long maxClearedBytes, Consumer<Entry> dropped) {
        this.maxCleared = maxCleared;
        this.maxClearedBytes = maxClearedBytes;
        this.dropped = dropped;
        for (int i = 0; i < PARTS; i++) {
            parts.add(new ConcurrentHashMap<>());
        }
    }

    static int partOf(String topic) {
        return (int) (RouteHash.of(topic, 0) & PARTS - 1);
    }

    /** The entry of a topic, as the loop has it or had it a moment ago. */
    @AnyThread
    @Nullable
    Entry get(String topic) {
        return parts.get(partOf(topic)).get(topic);
    }

    /** Replaces the entry of a topic, and drops entries above the limits, possibly the new one. */
    void put(Entry entry) {
        int part = partOf(entry.topic());
        account(part, parts.get(part).put(entry.topic(), entry), -1);
        account(part, entry, 1);
        while (cleared.size() > maxCleared || clearedBytes > maxClearedBytes) {
            drop(cleared.first());
            forgotten++;
        }
    }

    private void drop(Entry entry) {
        int part = partOf(entry.topic());
        account(part, parts.get(part).remove(entry.topic()), -1);
        dropped.accept(entry);
    }

    /** The latest clock of the entries of a partition; 0 if there are none. */
    long latest(int part) {
        if (latest[part] == UNKNOWN) {
            latest[part] = parts.get(part).values().stream()
                    .mapToLong(entry -> entry.version().clock())
                    .max()
                    .orElse(0);
        }
        return latest[part];
    }

    private void account(int part, @Nullable Entry entry, int sign) {
        if (entry == null) {
            return;
        }
        hashes[part] ^= hash(entry);
        long clock = entry.version().clock();
        if (sign > 0 && latest[part] != UNKNOWN) {
            latest[part] = Math.max(latest[part], clock);
        } else if (sign < 0 && clock == latest[part]) {
            latest[part] = UNKNOWN;
        }
        count += sign;
        refused += entry.isRefused() ? sign : 0;
        expiring += entry.expires() ? sign : 0;
        if (entry.isCleared()) {
            clearedBytes += sign * entry.bytes();
            if (sign > 0) {
                cleared.add(entry);
            } else {
                cleared.remove(entry);
            }
        }
    }

    private static long hash(Entry entry) {
        RetainedVersion version = entry.version();
        return RouteHash.of(entry.topic() + version.nodeId(), Long.hashCode(version.clock()));
    }

    /** Removes the expired messages of one partition; their versions stay. */
    void dropExpired(int part, long nowNanos) {
        if (expiring == 0) {
            return;
        }
        List<Entry> expired = new ArrayList<>();
        for (Entry entry : parts.get(part).values()) {
            if (entry.isExpired(nowNanos)) {
                expired.add(entry);
            }
        }
        expired.forEach(entry -> put(entry.expired()));
    }

    /** Drops removals before a time, in milliseconds since 1970; a limited number per call. */
    void forgetBefore(long millis, int most) {
        for (int i = 0;
                i < most && !cleared.isEmpty() && cleared.first().version().millis() < millis;
                i++) {
            drop(cleared.first());
        }
    }

    Collection<Entry> part(int number) {
        return parts.get(number).values();
    }

    long hash(int part) {
        return hashes[part];
    }

    long[] hashes() {
        return hashes.clone();
    }

    boolean isEmpty() {
        return count == 0;
    }

    int cleared() {
        return cleared.size();
    }

    long clearedBytes() {
        return clearedBytes;
    }

    int refused() {
        return refused;
    }

    /** Removals that were dropped early, because there were too many. */
    long forgotten() {
        return forgotten;
    }
}
