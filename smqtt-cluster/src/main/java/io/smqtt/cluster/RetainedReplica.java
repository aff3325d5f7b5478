// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.cluster.RetainedEntries.Entry;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Peer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Makes the retained messages of all nodes the same: each change carries a version, and the latest one stays everywhere.
 * Peers tell each other now and then what theirs come to and exchange what differs.
 *
 * <p>The broker's own tree may be written at the same time by a local publisher and by a change from elsewhere. It tells this
 * class what it has stored, in the order in which it did; whenever that is not the latest version, the latest is stored again.
 *
 * <p>What is removed or has expired leaves its topic and version behind, so that an older message does not come back from a node
 * that was away. The removal of what nobody knows leaves nothing, except for a minute: a message that it has
 * overtaken on its way is older by its version, and is removed when it comes. While a node that is known cannot be reached, it counts as
 * the removal of something that this node may have.
 */
@OnClusterLoop
final class RetainedReplica {

    private static final long TOMBSTONE_MILLIS = TimeUnit.HOURS.toMillis(24);
    private static final long FURTHEST_CLOCK_MILLIS = TimeUnit.DAYS.toMillis(1);
    private static final int FORGOTTEN_PER_TICK = 10_000;

    private final String nodeId;
    private final LongSupplier wallClockMillis;
    private final LongSupplier nanoTime;
    private final int rowsPerFrame;
    private final int frameBytes;
    private final Consumer<ApplicationMessage> store;
    private final Consumer<Frame> broadcast;
    private final Consumer<Runnable> soon;
    private final BooleanSupplier isSomebodyAway;
    private final RetainedEntries entries;
    private final RetainedExchange exchange;
    private final RecentClears recent = new RecentClears();
    private final Set<ApplicationMessage> storing = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Map<String, RetainedRow> unsaid = new LinkedHashMap<>();
    private int unsaidBytes;
    private boolean flushDue;
    private int ticked;
    private long clock;

    /** Before all clocks of changes, and after those of what was found at earlier starts. */
    private final long recoveredClock;

    /**
     * Creates a replica without messages.
     *
     * @param nodeId the name of this node
     * @param settings bounds and sizes
     * @param wallClockMillis milliseconds since 1970
     * @param nanoTime the broker's monotonic clock
     * @param store stores a message in the broker's tree; it is told back by {@link #stored}, or by {@link #refused}
     * @param broadcast sends a frame to all nodes that can be reached
     * @param send sends a frame to one; false if the transport does not take it now
     * @param soon runs something on the loop after others had their turn
     * @param isSomebodyAway whether a node is known that cannot be reached
     */
    RetainedReplica(
            String nodeId,
            ClusterSettings settings,
            LongSupplier wallClockMillis,
            LongSupplier nanoTime,
            Consumer<ApplicationMessage> store,
            Consumer<Frame> broadcast,
            BiPredicate<Peer, Frame> send,
            Consumer<Runnable> soon,
            BooleanSupplier isSomebodyAway) {
        this.nodeId = nodeId;
        this.rowsPerFrame = settings.rowsPerFrame();
        this.frameBytes = settings.frameBytes();
        this.wallClockMillis = wallClockMillis;
        this.nanoTime = nanoTime;
        this.store = store;
        this.broadcast = broadcast;
        this.soon = soon;
        this.isSomebodyAway = isSomebodyAway;
        this.recoveredClock = wallClockMillis.getAsLong();
        this.entries = new RetainedEntries(settings.clearedTopics(), settings.clearedBytes());
        this.exchange = new RetainedExchange(entries, nanoTime, settings.frameBytes(), send, soon);
    }

    /** The tree holds this message since before this node was started: whatever others know is newer. */
    void recovered(ApplicationMessage message) {
        entries.put(Entry.of(new RetainedVersion(recoveredClock, nodeId), message));
    }

    /** The tree has stored this message; told in the order in which it does. */
    void stored(ApplicationMessage message) {
        String topic = message.topic().value();
        Entry latest = entries.get(topic);
        if (!storing.remove(message)) {
            changedHere(topic, message, latest);
        } else if (latest == null) {
            if (!message.payload().isEmpty()) { // removed meanwhile, and even that is forgotten
                clear(topic);
            }
        } else if (latest.isCleared() ? !message.payload().isEmpty() : latest.message() != message) {
            store(latest);
        }
    }

    private void changedHere(String topic, ApplicationMessage message, @Nullable Entry known) {
        clock = Math.max(RetainedVersion.clockOf(wallClockMillis.getAsLong()), clock + 1);
        RetainedVersion version = new RetainedVersion(clock, nodeId);
        if (!message.payload().isEmpty()) {
            recent.take(topic);
            entries.put(Entry.of(version, message));
            say(RetainedRow.of(version, message));
        } else if (known != null || isSomebodyAway.getAsBoolean()) {
            entries.put(Entry.cleared(topic, version));
            say(new RetainedRow(RetainedRow.Kind.CLEARED, topic, version, null));
        } else {
            recent.add(topic, version, nanoTime.getAsLong());
            say(new RetainedRow(RetainedRow.Kind.CLEAR, topic, version, null));
        }
    }

    /** Tells all others, a little later and with what else there is to tell. */
    private void say(RetainedRow row) {
        unsaid.put(row.topic(), row);
        unsaidBytes += row.bytes();
        if (unsaid.size() >= rowsPerFrame || unsaidBytes >= frameBytes) {
            flush();
        } else if (!flushDue) {
            flushDue = true;
            soon.accept(() -> {
                flushDue = false;
                flush();
            });
        }
    }

    private void flush() {
        if (!unsaid.isEmpty()) {
            broadcast.accept(new Frame.RetainedUpdate(new ArrayList<>(unsaid.values())));
            unsaid.clear();
            unsaidBytes = 0;
        }
    }

    /** Tells whether all others were told of all changes. */
    boolean hasNothingToSay() {
        return unsaid.isEmpty();
    }

    /** The tree has not stored this message, because of its limits: only its version is kept. */
    void refused(ApplicationMessage message) {
        storing.remove(message);
        Entry latest = entries.get(message.topic().value());
        if (latest != null && latest.message() == message) {
            entries.put(latest.refused());
        }
    }

    private void store(Entry entry) {
        ApplicationMessage message = entry.message();
        if (message != null) {
            storing.add(message);
            store.accept(message);
        } else if (entry.isCleared()) {
            clear(entry.topic());
        }
    }

    private void clear(String topic) {
        ApplicationMessage nothing =
                ApplicationMessage.builder(topic).retain(true).build().accepted(nanoTime.getAsLong(), null);
        storing.add(nothing);
        store.accept(nothing);
    }

    void accept(Peer from, Frame frame) {
        if (frame instanceof Frame.RetainedUpdate update) {
            if (!update.rows().isEmpty()) {
                exchange.heard(from, update.rows().get(0).topic());
            }
            update.rows().forEach(this::updated);
        } else if (frame instanceof Frame.RetainedDigest digest) {
            exchange.digest(from, digest.hashes());
        } else if (frame instanceof Frame.RetainedVersions versions) {
            exchange.versions(from, versions);
        } else if (frame instanceof Frame.RetainedPull pull) {
            exchange.pull(from, pull.topics());
        } else if (frame instanceof Frame.RetainedCompared compared) {
            exchange.compared(from, compared);
        }
    }

    private void updated(RetainedRow row) {
        RetainedVersion version = row.version();
        if (version.clock() > RetainedVersion.clockOf(wallClockMillis.getAsLong() + FURTHEST_CLOCK_MILLIS)) {
            return; // nothing could be written after it
        }
        ApplicationMessage message = row.message();
        if (message != null && (message.payload().isEmpty() || message.isExpired(nanoTime.getAsLong()))) {
            message = null;
        }
        Entry known = entries.get(row.topic());
        if (known == null) {
            isNew(row, message);
        } else if (version.isAfter(known.version())) {
            clock = Math.max(clock, version.clock());
            if (message != null) {
                keep(Entry.of(version, message));
            } else {
                entries.put(Entry.cleared(row.topic(), version));
                if (!known.isCleared()) {
                    clear(row.topic());
                }
            }
        }
    }

    /** Nothing is known of the topic here. */
    private void isNew(RetainedRow row, @Nullable ApplicationMessage message) {
        String topic = row.topic();
        RetainedVersion version = row.version();
        if (row.kind() == RetainedRow.Kind.CLEAR) {
            clock = Math.max(clock, version.clock());
            recent.add(topic, version, nanoTime.getAsLong());
            return;
        }
        if (message == null && isLongAgo(version)) {
            return;
        }
        clock = Math.max(clock, version.clock());
        RetainedVersion cleared = recent.take(topic);
        if (cleared != null && cleared.isAfter(version)) { // it was overtaken
            entries.put(Entry.cleared(topic, cleared));
        } else if (message == null) {
            entries.put(Entry.cleared(topic, version));
        } else {
            keep(Entry.of(version, message));
        }
    }

    private void keep(Entry entry) {
        entries.put(entry);
        store(entry);
    }

    private boolean isLongAgo(RetainedVersion version) {
        return version.millis() < wallClockMillis.getAsLong() - TOMBSTONE_MILLIS;
    }

    /** What others are told of the messages here; null while there is nothing that they should compare theirs with. */
    Frame.@Nullable RetainedDigest digest() {
        return entries.isEmpty() || exchange.due() > 0 ? null : new Frame.RetainedDigest(entries.hashes());
    }

    void gone(Peer peer) {
        exchange.gone(peer);
    }

    /** Goes on with what was left, and forgets a part of what is old. Called now and then. */
    void tick() {
        long now = nanoTime.getAsLong();
        exchange.tick(now);
        recent.tick(now);
        entries.dropExpired(ticked++ % RetainedEntries.PARTS, now);
        entries.forgetBefore(wallClockMillis.getAsLong() - TOMBSTONE_MILLIS, FORGOTTEN_PER_TICK);
    }

    /** How it looks now. */
    ClusterStatus.Retained status() {
        return new ClusterStatus.Retained(
                entries.cleared(),
                entries.clearedBytes(),
                entries.forgotten(),
                entries.refused(),
                exchange.due(),
                exchange.compared());
    }

    /** What is known, for tests. */
    RetainedEntries entries() {
        return entries;
    }

    /** Clears of topics that nobody knows, for tests. */
    RecentClears recent() {
        return recent;
    }
}
