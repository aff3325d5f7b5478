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
 * Replicates the retained messages: each change has a version, and the latest one wins on all nodes. Nodes exchange digests periodically,
 * and then the differences.
 *
 * <p>A local publisher and a change of another node may write the broker's tree at the same time. The tree reports stored messages to this
 * class, in its order. If that is not the latest version, the latest is stored again.
 *
 * <p>The topic and version of a removed or expired message are kept, so that an older message does not reappear from a node that was
 * unreachable. The removal of an unknown message is kept for a minute only: a message that it has overtaken has an older version, and is
 * removed on arrival. While a known node is unreachable, such a removal is kept like others, because that node may have the message.
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

    /** A clock before those of all changes, and after those of messages that were found at earlier starts. */
    private final long recoveredClock;

    /**
     * Creates a replica without messages.
     *
     * @param nodeId the name of this node
     * @param settings limits and sizes
     * @param wallClockMillis milliseconds since 1970
     * @param nanoTime the broker's monotonic clock
     * @param store stores a message in the broker's tree, which calls {@link #stored} or {@link #refused}
     * @param broadcast sends a frame to all reachable nodes
     * @param send sends a frame to one node; false if the transport does not accept it now
     * @param soon runs a task on the loop after other tasks
     * @param isSomebodyAway whether a known node is unreachable
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

    /** The tree had this message before the start of this node: versions of other nodes are newer. */
    void recovered(ApplicationMessage message) {
        entries.put(Entry.of(new RetainedVersion(recoveredClock, nodeId), message));
    }

    /** The tree has stored this message; called in that order. */
    void stored(ApplicationMessage message) {
        String topic = message.topic().value();
        Entry latest = entries.get(topic);
        if (!storing.remove(message)) {
            changedHere(topic, message, latest);
        } else if (latest == null) {
            if (!message.payload().isEmpty()) { // removed meanwhile, and the removal was dropped
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

    /** Announces a change to all nodes, a little later and together with others. */
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

    /** Whether all changes were announced. */
    boolean hasNothingToSay() {
        return unsaid.isEmpty();
    }

    /** The tree has refused this message because of its limits: only its version is kept. */
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
            return; // the frame is full
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

    /** Handles a row for an unknown topic. */
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

    /** The digest of this node; null while other nodes should not compare with it. */
    Frame.@Nullable RetainedDigest digest() {
        return entries.isEmpty() || exchange.due() > 0 ? null : new Frame.RetainedDigest(entries.hashes());
    }

    void gone(Peer peer) {
        exchange.gone(peer);
    }

    /** Continues pending work, and drops a part of the old entries. Called periodically. */
    void tick() {
        long now = nanoTime.getAsLong();
        exchange.tick(now);
        recent.tick(now);
        entries.dropExpired(ticked++ % RetainedEntries.PARTS, now);
        entries.forgetBefore(wallClockMillis.getAsLong() - TOMBSTONE_MILLIS, FORGOTTEN_PER_TICK);
    }

    /** Returns the status. */
    ClusterStatus.Retained status() {
        return new ClusterStatus.Retained(
                entries.cleared(),
                entries.clearedBytes(),
                entries.forgotten(),
                entries.refused(),
                exchange.due(),
                exchange.compared());
    }

    /** The entries, for tests. */
    RetainedEntries entries() {
        return entries;
    }

    /** Removals of unknown topics, for tests. */
    RecentClears recent() {
        return recent;
    }
}
