// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.cluster.RetainedEntries.Entry;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p>The version of a change of this node is made while the tree stores the message, on any thread, so that both can be stored together.
 *
 * <p>The topic and version of a removed or expired message are kept, so that an older message does not reappear from a node that was
 * unreachable; {@link RetainedHorizon} does the same for removals that were forgotten. The removal of an unknown message is kept for a minute only: a message that it has overtaken has an older version, and is
 * removed on arrival. While a known node is unreachable, such a removal is kept like others, because that node may have the message.
 */
@OnClusterLoop
final class RetainedReplica {

    private static final long TOMBSTONE_MILLIS = TimeUnit.HOURS.toMillis(24);
    private static final int FORGOTTEN_PER_TICK = 1_000;
    private static final long NOTE_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LongSupplier nanoTime;
    private final int rowsPerFrame;
    private final int frameBytes;
    private final LocalPart local;
    private final Consumer<Runnable> execute;
    private final Consumer<Frame> broadcast;
    private final Consumer<Runnable> soon;
    private final BooleanSupplier isSomebodyAway;
    private final RetainedEntries entries;
    private final RetainedExchange exchange;
    private final RecentClears recent = new RecentClears();
    private final RetainedHorizon horizon = new RetainedHorizon();

    /** Messages of other nodes that the tree is to store. */
    private final Set<ApplicationMessage> storing = ConcurrentHashMap.newKeySet();

    /** Changes of this node that the tree has and the loop has not seen. */
    private final Map<String, Change> changing = new ConcurrentHashMap<>();

    private final Map<String, RetainedRow> unsaid = new LinkedHashMap<>();
    private int unsaidBytes;
    private boolean flushDue;
    private int ticked;
    private long earliestMillis;
    private long notedAtNanos;

    /** Topics whose removals were forgotten, and are still in the store. */
    private List<String> forgotten = new ArrayList<>();

    private final RetainedClock clock;

    /** A version before those of all changes, and after those of messages that were found at earlier starts. */
    private final RetainedVersion unversioned;

    /**
     * Creates a replica without messages.
     *
     * @param self this run of this node
     * @param settings limits and sizes
     * @param wallClockMillis milliseconds since 1970
     * @param nanoTime the broker's monotonic clock
     * @param local the broker, which calls {@link #stored} or {@link #refused}
     * @param execute runs a task on the loop, from any thread
     * @param broadcast sends a frame to all reachable nodes
     * @param send sends a frame to one node; false if the transport does not accept it now
     * @param soon runs a task on the loop after other tasks
     * @param isSomebodyAway whether a known node is unreachable
     */
    RetainedReplica(
            NodeIdentity self,
            ClusterSettings settings,
            LongSupplier wallClockMillis,
            LongSupplier nanoTime,
            LocalPart local,
            Consumer<Runnable> execute,
            Consumer<Frame> broadcast,
            BiPredicate<Peer, Frame> send,
            Consumer<Runnable> soon,
            BooleanSupplier isSomebodyAway) {
        this.rowsPerFrame = settings.rowsPerFrame();
        this.frameBytes = settings.frameBytes();
        this.clock = new RetainedClock(self, wallClockMillis);
        this.nanoTime = nanoTime;
        this.local = local;
        this.execute = execute;
        this.broadcast = broadcast;
        this.soon = soon;
        this.isSomebodyAway = isSomebodyAway;
        this.unversioned = new RetainedVersion(wallClockMillis.getAsLong(), self.nodeId());
        this.entries = new RetainedEntries(settings.clearedTopics(), settings.clearedBytes(), this::forget);
        this.exchange = new RetainedExchange(entries, nanoTime, settings.frameBytes(), send, soon);
    }

    /** A change of this node. */
    private record Change(ApplicationMessage message, RetainedVersion version) {}

    /**
     * The tree had this message before the start of this node.
     *
     * @param version its version; null if it has none: then versions of other nodes are newer
     */
    void recovered(ApplicationMessage message, @Nullable RetainedVersion version) {
        if (version != null) {
            observe(version);
        }
        entries.put(Entry.of(version == null ? unversioned : version, message));
    }

    /** The store had the record of this removal. */
    void recoveredRemoval(String topic, RetainedVersion version) {
        observe(version);
        entries.put(Entry.cleared(topic, version));
    }

    /**
     * The store had this note.
     *
     * @throws MalformedBytesException if it is not a note
     */
    void recoveredNote(byte[] note) {
        horizon.found(note);
        clock.observe(horizon.latest());
    }

    private void observe(RetainedVersion version) {
        clock.observe(version.clock());
    }

    /** The clock of the changes of this node. */
    @AnyThread
    RetainedClock clock() {
        return clock;
    }

    /**
     * The tree stores this message now. Called in the order of the changes of a topic.
     *
     * @return the version of a change of this node; null if the message came from another node
     */
    @AnyThread
    @Nullable
    RetainedVersion changing(ApplicationMessage message) {
        if (storing.contains(message)) {
            return null;
        }
        RetainedVersion version = clock.next();
        changing.put(message.topic().value(), new Change(message, version));
        return version;
    }

    /** The version to be stored for a topic; null if there is none. */
    @AnyThread
    @Nullable
    RetainedVersion versionOf(String topic, @Nullable ApplicationMessage current) {
        Change change = changing.get(topic);
        Entry entry = entries.get(topic);
        if (current == null) {
            if (change != null && change.message().payload().isEmpty()) {
                return entry == null ? null : change.version();
            }
            return entry != null && entry.isRemoved() ? entry.version() : null;
        }
        if (change != null && change.message() == current) {
            return change.version();
        }
        return entry != null && entry.message() == current ? entry.version() : null;
    }

    /**
     * The tree has stored this message; called in that order.
     *
     * @param version what {@link #changing} returned
     */
    void stored(ApplicationMessage message, @Nullable RetainedVersion version) {
        String topic = message.topic().value();
        Entry latest = entries.get(topic);
        if (version != null) {
            changedHere(topic, message, version, latest);
            changing.remove(topic, new Change(message, version));
            return;
        }
        storing.remove(message);
        if (latest == null) {
            if (!message.payload().isEmpty()) { // removed meanwhile, and the removal was dropped
                clear(topic);
            }
        } else if (latest.isCleared() ? !message.payload().isEmpty() : latest.message() != message) {
            store(latest);
        }
    }

    private void changedHere(String topic, ApplicationMessage message, RetainedVersion version, @Nullable Entry known) {
        if (known != null && known.version().isAfter(version)) { // it came from another node at the same time
            store(known);
        } else if (!message.payload().isEmpty()) {
            recent.take(topic);
            entries.put(Entry.of(version, message));
            say(RetainedRow.of(version, message));
        } else if (known != null || isSomebodyAway.getAsBoolean()) {
            entries.put(Entry.cleared(topic, version));
            say(new RetainedRow(RetainedRow.Kind.CLEARED, topic, version, null));
            if (known == null) {
                local.rewriteRetained(topic);
            }
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
            storeInTree(message);
        } else if (entry.isCleared()) {
            clear(entry.topic());
        }
    }

    private void clear(String topic) {
        ApplicationMessage nothing = ApplicationMessage.builder(topic)
                .retain(true)
                .build()
                .accepted(ApplicationMessage.NO_ID, nanoTime.getAsLong(), null);
        storeInTree(nothing);
    }

    private void storeInTree(ApplicationMessage message) {
        storing.add(message);
        local.retain(message, () -> execute.accept(() -> refused(message)));
    }

    /**
     * A frame of another node.
     *
     * @param from the node
     * @param sender its name
     */
    void accept(Peer from, String sender, Frame frame) {
        if (frame instanceof Frame.RetainedUpdate update) {
            if (!update.rows().isEmpty()) {
                exchange.heard(from, update.rows().get(0).topic());
            }
            update.rows().forEach(row -> updated(row, sender));
        } else if (frame instanceof Frame.RetainedDigest digest) {
            exchange.digest(from, digest.hashes());
            horizon.compare(sender, digest.hashes(), entries);
        } else if (frame instanceof Frame.RetainedVersions versions) {
            exchange.versions(from, versions);
        } else if (frame instanceof Frame.RetainedPull pull) {
            exchange.pull(from, pull.topics());
        } else if (frame instanceof Frame.RetainedCompared compared) {
            exchange.compared(from, compared);
        }
    }

    /**
     * Whether a row would change something here, or may do so. Any thread: the answer may be out of date.
     *
     * @param topic its topic
     * @param version its version
     */
    @AnyThread
    boolean isNewer(String topic, RetainedVersion version) {
        Entry known = entries.get(topic);
        return known == null || version.isAfter(known.version());
    }

    /**
     * A row in the store of another node, which this one serves.
     *
     * @param home the other node
     */
    void found(RetainedRow row, String home) {
        updated(row, home);
    }

    private void updated(RetainedRow row, String sender) {
        RetainedVersion version = row.version();
        ApplicationMessage message = row.message();
        if (message != null && (message.payload().isEmpty() || message.isExpired(nanoTime.getAsLong()))) {
            message = null;
        }
        Entry known = entries.get(row.topic());
        if (known == null) {
            isNew(row, message, sender);
        } else if (version.isAfter(known.version())) {
            observe(version);
            if (message != null) {
                keep(Entry.of(version, message));
            } else {
                entries.put(Entry.cleared(row.topic(), version));
                if (!known.isCleared()) {
                    clear(row.topic());
                }
                local.rewriteRetained(row.topic());
            }
        }
    }

    /** Handles a row for an unknown topic. */
    private void isNew(RetainedRow row, @Nullable ApplicationMessage message, String sender) {
        String topic = row.topic();
        RetainedVersion version = row.version();
        if (row.kind() == RetainedRow.Kind.CLEAR) {
            observe(version);
            recent.add(topic, version, nanoTime.getAsLong());
            return;
        }
        if (message == null && isLongAgo(version)) {
            return;
        }
        observe(version);
        RetainedVersion cleared = recent.take(topic);
        if (cleared != null && cleared.isAfter(version)) { // it was overtaken
            remove(topic, cleared);
        } else if (message == null) {
            remove(topic, version);
        } else if (horizon.isForgotten(topic, version, sender)) {
            RetainedVersion removal = RetainedHorizon.removalOf(version);
            remove(topic, removal);
            say(new RetainedRow(RetainedRow.Kind.CLEARED, topic, removal, null));
        } else {
            keep(Entry.of(version, message));
        }
    }

    private void remove(String topic, RetainedVersion version) {
        entries.put(Entry.cleared(topic, version));
        local.rewriteRetained(topic);
    }

    private void keep(Entry entry) {
        entries.put(entry);
        store(entry);
    }

    private boolean isLongAgo(RetainedVersion version) {
        return version.millis() < earliestMillis - TOMBSTONE_MILLIS;
    }

    /** The digest of this node; null while other nodes should not compare with it. */
    Frame.@Nullable RetainedDigest digest() {
        return entries.isEmpty() || exchange.due() > 0 ? null : new Frame.RetainedDigest(entries.hashes());
    }

    void gone(Peer peer) {
        exchange.gone(peer);
    }

    /**
     * Continues pending work, and drops a part of the old entries. Called periodically.
     *
     * @param earliest the earliest wall clock of the reachable nodes, in milliseconds since 1970
     */
    void tick(long earliest) {
        earliestMillis = earliest;
        long now = nanoTime.getAsLong();
        exchange.tick(now);
        recent.tick(now);
        entries.dropExpired(ticked++ % RetainedEntries.PARTS, now);
        entries.forgetBefore(earliestMillis - TOMBSTONE_MILLIS, FORGOTTEN_PER_TICK);
        note(now);
    }

    /** The entry of a topic without a message was dropped: from now on the horizon stands for it. */
    private void forget(Entry entry) {
        if (entry.isRemoved()) {
            horizon.forgot(entry.version());
        }
        forgotten.add(entry.topic());
    }

    /** Stores what is known of forgotten removals, and then removes their records. */
    private void note(long nowNanos) {
        if (!forgotten.isEmpty() || (horizon.isChanged() && nowNanos - notedAtNanos >= NOTE_NANOS)) {
            notedAtNanos = nowNanos;
            local.noteRetained(horizon.toNote(), forgotten);
            forgotten = new ArrayList<>();
        }
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
