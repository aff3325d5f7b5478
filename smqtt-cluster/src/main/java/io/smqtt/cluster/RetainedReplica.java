// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.ClusterTransport.Peer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the retained messages of all nodes the same: each change carries a version, and the latest one stays everywhere. Peers
 * tell each other now and then what theirs come to and exchange what differs. On the cluster's loop.
 *
 * <p>The broker's own tree may be written at the same time by a local publisher and by a change from elsewhere. It tells this
 * class what it has stored, in the order in which it did; whenever that is not the latest version, the latest is stored again.
 */
final class RetainedReplica {

    /** Into how many parts topics are divided for comparison. */
    static final int PARTS = 256;

    private static final long TOMBSTONE_MILLIS = TimeUnit.HOURS.toMillis(24);
    private static final long FURTHEST_CLOCK_MILLIS = TimeUnit.DAYS.toMillis(1);
    private static final long RECOVERED = 1;

    private final String nodeId;
    private final LongSupplier wallClockMillis;
    private final LongSupplier nanoTime;
    private final Consumer<ApplicationMessage> store;
    private final Consumer<Frame> broadcast;
    private final BiConsumer<Peer, Frame> send;
    private final Map<String, Entry> entries = new HashMap<>();
    private final List<Set<String>> parts = new ArrayList<>();
    private final long[] hashes = new long[PARTS];
    private final Set<ApplicationMessage> storing = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Map<Peer, long[]> lastDigests = new HashMap<>();
    private long clock;
    private long repairs;

    private record Entry(RetainedVersion version, ApplicationMessage message) {}

    /**
     * Creates a replica without messages.
     *
     * @param nodeId the name of this node
     * @param wallClockMillis milliseconds since 1970
     * @param nanoTime the broker's monotonic clock
     * @param store stores a message in the broker's tree; it is told back by {@link #stored}, or by {@link #refused}
     * @param broadcast sends a frame to all nodes that can be reached
     * @param send sends a frame to one
     */
    RetainedReplica(
            String nodeId,
            LongSupplier wallClockMillis,
            LongSupplier nanoTime,
            Consumer<ApplicationMessage> store,
            Consumer<Frame> broadcast,
            BiConsumer<Peer, Frame> send) {
        this.nodeId = nodeId;
        this.wallClockMillis = wallClockMillis;
        this.nanoTime = nanoTime;
        this.store = store;
        this.broadcast = broadcast;
        this.send = send;
        for (int i = 0; i < PARTS; i++) {
            parts.add(new HashSet<>());
        }
    }

    /** The tree holds this message since before this node was started: whatever others know is newer. */
    void recovered(ApplicationMessage message) {
        put(message.topic().value(), new Entry(new RetainedVersion(RECOVERED, nodeId), message));
    }

    /** The tree has stored this message; told in the order in which it does. */
    void stored(ApplicationMessage message) {
        String topic = message.topic().value();
        if (!storing.remove(message)) {
            clock = Math.max(RetainedVersion.clockOf(wallClockMillis.getAsLong()), clock + 1);
            Entry entry = new Entry(new RetainedVersion(clock, nodeId), message);
            put(topic, entry);
            broadcast.accept(update(entry));
            return;
        }
        Entry latest = entries.get(topic);
        if (latest != null && latest.message() != message) {
            store(latest);
        }
    }

    /** The tree has not stored this message, because of its limits. */
    void refused(ApplicationMessage message) {
        storing.remove(message);
    }

    private void store(Entry entry) {
        storing.add(entry.message());
        store.accept(entry.message());
    }

    void accept(Peer from, Frame frame) {
        if (frame instanceof Frame.RetainedUpdate update) {
            updated(update);
        } else if (frame instanceof Frame.RetainedDigest digest) {
            compare(from, digest.hashes());
        } else if (frame instanceof Frame.RetainedVersions versions) {
            compare(from, versions);
        } else if (frame instanceof Frame.RetainedPull pull) {
            for (String topic : pull.topics()) {
                Entry entry = entries.get(topic);
                if (entry != null) {
                    send.accept(from, update(entry));
                }
            }
        }
    }

    private void updated(Frame.RetainedUpdate update) {
        if (update.version().clock() > RetainedVersion.clockOf(wallClockMillis.getAsLong() + FURTHEST_CLOCK_MILLIS)) {
            return; // nothing could be written after it
        }
        ApplicationMessage message = update.message().message();
        String topic = message.topic().value();
        Entry known = entries.get(topic);
        Entry entry = new Entry(update.version(), message);
        boolean isNews =
                known == null ? !isForgettable(entry) : update.version().isAfter(known.version());
        if (!isNews) {
            return;
        }
        clock = Math.max(clock, update.version().clock());
        put(topic, entry);
        store(entry);
    }

    /** Compares; after the first time, twice before anything is done: what is just on its way is no difference. */
    private void compare(Peer from, long[] theirs) {
        if (theirs.length != PARTS) {
            return;
        }
        long[] before = lastDigests.put(from, theirs);
        for (int part = 0; part < PARTS; part++) {
            if (theirs[part] != hashes[part] && (before == null || theirs[part] == before[part])) {
                repairs++;
                send.accept(from, versions(part));
            }
        }
    }

    private Frame versions(int part) {
        List<String> topics = new ArrayList<>(parts.get(part));
        List<RetainedVersion> versions = new ArrayList<>(topics.size());
        topics.forEach(topic -> versions.add(entryOf(topic).version()));
        return new Frame.RetainedVersions(part, topics, versions);
    }

    private Entry entryOf(String topic) {
        Entry entry = entries.get(topic);
        if (entry == null) {
            throw new IllegalStateException("a part names a topic that is not there");
        }
        return entry;
    }

    private void compare(Peer from, Frame.RetainedVersions theirs) {
        Map<String, RetainedVersion> versions = new HashMap<>();
        for (int i = 0; i < theirs.topics().size(); i++) {
            versions.put(theirs.topics().get(i), theirs.versions().get(i));
        }
        List<String> wanted = new ArrayList<>();
        versions.forEach((topic, version) -> {
            Entry mine = entries.get(topic);
            if (mine == null || version.isAfter(mine.version())) {
                wanted.add(topic);
            }
        });
        if (!wanted.isEmpty()) {
            send.accept(from, new Frame.RetainedPull(wanted));
        }
        for (String topic : parts.get(theirs.part())) {
            RetainedVersion other = versions.get(topic);
            Entry mine = entryOf(topic);
            if (other == null || mine.version().isAfter(other)) {
                send.accept(from, update(mine));
            }
        }
    }

    private static Frame update(Entry entry) {
        return new Frame.RetainedUpdate(entry.version(), new ForwardedMessage(entry.message(), false, List.of()));
    }

    Frame.RetainedDigest digest() {
        return new Frame.RetainedDigest(hashes.clone());
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    void gone(Peer peer) {
        lastDigests.remove(peer);
    }

    long repairs() {
        return repairs;
    }

    /** Forgets what has been removed or has expired long ago. Called now and then. */
    void sweep() {
        List<String> forgotten = new ArrayList<>();
        entries.forEach((topic, entry) -> {
            if (isForgettable(entry)) {
                forgotten.add(topic);
            }
        });
        forgotten.forEach(topic -> put(topic, null));
    }

    private boolean isForgettable(Entry entry) {
        boolean dead = entry.message().payload().isEmpty() || entry.message().isExpired(nanoTime.getAsLong());
        return dead && wallClockMillis.getAsLong() - entry.version().millis() > TOMBSTONE_MILLIS;
    }

    private void put(String topic, @Nullable Entry entry) {
        int part = (int) (RouteHash.of(topic, 0) & PARTS - 1);
        Entry before = entry == null ? entries.remove(topic) : entries.put(topic, entry);
        if (before != null) {
            hashes[part] ^= hash(topic, before.version());
        }
        if (entry == null) {
            parts.get(part).remove(topic);
        } else {
            hashes[part] ^= hash(topic, entry.version());
            parts.get(part).add(topic);
        }
    }

    private static long hash(String topic, RetainedVersion version) {
        return RouteHash.of(topic + version.nodeId(), Long.hashCode(version.clock()));
    }
}
