// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.cluster.RetainedEntries.Entry;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
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
    private final LocalPart local;
    private final Executor loop;
    private final RetainedWire wire;
    private final RetainedEntries entries;
    private final RetainedExchange exchange;
    private final RetainedAnnouncer announcer;
    private final RetainedWrites writes = new RetainedWrites();
    private final RetainedCatchUp catchUp;
    private final RecentClears recent = new RecentClears();
    private final RetainedHorizon horizon = new RetainedHorizon();

    /** Changes of this node that the tree has and the loop has not seen. */
    private final Map<String, Change> changing = new ConcurrentHashMap<>();

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
     * @param loop runs a task on the loop, from any thread
     * @param wire carries frames
     * @param soon runs a task on the loop after other tasks
     * @param pauses notices that this process has not run
     */
    RetainedReplica(
            NodeIdentity self,
            ClusterSettings settings,
            LongSupplier wallClockMillis,
            LongSupplier nanoTime,
            LocalPart local,
            Executor loop,
            RetainedWire wire,
            Consumer<Runnable> soon,
            Pauses pauses) {
        this.clock = new RetainedClock(self, wallClockMillis);
        this.nanoTime = nanoTime;
        this.local = local;
        this.loop = loop;
        this.wire = wire;
        this.unversioned = new RetainedVersion(wallClockMillis.getAsLong(), self.nodeId());
        this.entries = new RetainedEntries(settings.clearedTopics(), settings.clearedBytes(), this::forget);
        this.exchange = new RetainedExchange(entries, nanoTime, settings.frameBytes(), wire::send, soon);
        this.announcer = new RetainedAnnouncer(settings, nanoTime, loop, soon, wire);
        this.catchUp = new RetainedCatchUp(entries, writes, wire, nanoTime, pauses);
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
        if (writes.contains(message)) {
            return null;
        }
        RetainedVersion version = clock.next();
        changing.put(message.topic().value(), new Change(message, version));
        return version;
    }

    /** Whether a message may be stored now: it is a change of this node, or no later one is known. Called under the lock of the tree. */
    @AnyThread
    boolean isLatest(ApplicationMessage message) {
        if (!writes.contains(message)) {
            return true;
        }
        String topic = message.topic().value();
        Change change = changing.get(topic); // before the entry, which takes its place
        Entry entry = entries.get(topic);
        boolean current = message.payload().isEmpty()
                ? entry == null || entry.isCleared()
                : entry != null && entry.message() == message;
        return current && (change == null || (entry != null && !change.version().isAfter(entry.version())));
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
        if (latest == null) {
            if (!message.payload().isEmpty()) { // removed meanwhile, and the removal was dropped
                clear(topic);
            }
        } else if (latest.isCleared() ? !message.payload().isEmpty() : latest.message() != message) {
            store(latest);
        }
        writes.end(message);
    }

    private void changedHere(String topic, ApplicationMessage message, RetainedVersion version, @Nullable Entry known) {
        if (known != null && known.version().isAfter(version)) { // it came from another node at the same time
            store(known);
            RetainedRow row = known.row();
            if (row != null) { // who waits for this change waits until all nodes have the later one
                announcer.say(row);
            }
        } else if (!message.payload().isEmpty()) {
            recent.take(topic);
            entries.put(Entry.of(version, message));
            announcer.say(RetainedRow.of(version, message));
        } else if (known != null || wire.isAnyAway()) {
            entries.put(Entry.cleared(topic, version));
            announcer.say(new RetainedRow(RetainedRow.Kind.CLEARED, topic, version, null));
            if (known == null) {
                local.rewriteRetained(topic);
            }
        } else {
            recent.add(topic, version, nanoTime.getAsLong());
            announcer.say(new RetainedRow(RetainedRow.Kind.CLEAR, topic, version, null));
        }
    }

    /**
     * Releases a ticket when all reachable nodes have the changes up to now.
     *
     * @param ticket held for that
     */
    void await(RouteTicket ticket) {
        announcer.await(ticket);
    }

    /** A publisher is about to wait. */
    @AnyThread
    void expect() {
        announcer.expect();
    }

    /** The announcements, for tests. */
    RetainedAnnouncer announcer() {
        return announcer;
    }

    /** What other nodes have acknowledged without this one. */
    @AnyThread
    RetainedCatchUp catchUp() {
        return catchUp;
    }

    /** Whether all changes were announced. */
    boolean hasNothingToSay() {
        return announcer.hasNothingToSay();
    }

    /** The tree has not stored this message: if that was because of its limits, only its version is kept. */
    void refused(ApplicationMessage message) {
        Entry latest = entries.get(message.topic().value());
        if (latest != null && latest.message() == message) {
            entries.put(latest.refused());
        }
        writes.end(message);
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
        writes.begin(message);
        local.retain(message, () -> loop.execute(() -> refused(message)));
    }

    /**
     * A frame of another node.
     *
     * @param from the process
     * @param member the node
     */
    void accept(Peer from, NodeIdentity member, Frame frame) {
        if (frame instanceof Frame.RetainedUpdate update) {
            if (!update.rows().isEmpty()) {
                exchange.heard(from, update.rows().get(0).topic());
            }
            update.rows().forEach(row -> updated(row, member.nodeId()));
            if (update.number() != 0) {
                Frame known = new Frame.RetainedKnown(member.epoch(), update.number());
                List<String> topics =
                        update.rows().stream().map(RetainedRow::topic).toList();
                writes.whenWritten(topics, () -> wire.sendFirst(from, known));
            }
        } else if (frame instanceof Frame.RetainedDigest digest) {
            exchange.digest(from, digest.hashes(), catchUp.heard(from, digest.hashes(), digest.answers()));
            horizon.compare(member.nodeId(), digest.hashes(), entries);
        } else if (frame instanceof Frame.RetainedKnown known) {
            announcer.known(from, known.number());
        } else if (frame instanceof Frame.RetainedAsk ask) {
            wire.send(from, new Frame.RetainedDigest(entries.hashes(), ask.number()));
        } else if (frame instanceof Frame.RetainedVersions versions) {
            exchange.versions(from, versions);
        } else if (frame instanceof Frame.RetainedPull pull) {
            exchange.pull(from, pull.topics());
        } else if (frame instanceof Frame.RetainedCompared compared) {
            exchange.compared(from, compared);
            catchUp.compared(from, compared.part());
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
            announcer.say(new RetainedRow(RetainedRow.Kind.CLEARED, topic, removal, null));
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
        announcer.gone(peer);
        catchUp.gone(peer);
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
        announcer.tick();
        catchUp.tick();
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
                exchange.compared(),
                announcer.unawaited());
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
