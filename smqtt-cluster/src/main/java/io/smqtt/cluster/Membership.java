// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The other nodes of the cluster. Decides which process runs a node, rejects frames of other processes and of earlier runs, and
 * notices when a node becomes reachable, becomes unreachable or is to be forgotten.
 */
@OnClusterLoop
final class Membership {

    private static final List<String> EVERYTHING = List.of("#");

    private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
    private static final int MAXIMUM_MEMBERS = 1_000;
    private static final int TICKS_PER_DIGEST = ClusterNode.TICKS_PER_DIGEST;

    /** The number of digests of this node that may be lost or late before the answers of other nodes count as outdated. */
    private static final int DIGESTS_REMEMBERED = 3;

    /**
     * The number of missing digests after which a node counts as failed: longer than the transport needs, shorter than the timeout of a
     * claim.
     */
    private static final int SILENT_TICKS = 15 * TICKS_PER_DIGEST;

    /** The same if the transport has received nothing either, so that the node is not just busy. */
    private static final int MUTE_TICKS = 7 * TICKS_PER_DIGEST;

    /** A process that has not introduced itself for so long is not awaited any more. */
    private static final long STRANGER_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final FrameSender frames;
    private final NodeMetadata metadata;
    private final ClusterSettings settings;
    private final Duration forgetAfter;
    private final Ticker ticker;
    private final PeerWarnings warnings;
    private final Listener listener;
    private final DuplicateNodeIds duplicates;
    private final Map<String, Member> members = new HashMap<>();
    private final Set<Peer> present = new LinkedHashSet<>(); // ordered, so that simulations are repeatable

    /** The processes that are present and have not introduced themselves, and since when. */
    private final Map<Peer, Long> strangers = new HashMap<>();

    /**
     * Creates a membership of this node alone.
     *
     * @param frames sends frames of this node
     * @param metadata sent to the other nodes
     * @param settings intervals
     * @param forgetAfter time for which an unreachable node with durable sessions is remembered
     * @param ticker a monotonic clock
     * @param warnings logs rejected peers
     * @param listener follows the changes
     */
    Membership(
            FrameSender frames,
            NodeMetadata metadata,
            ClusterSettings settings,
            Duration forgetAfter,
            Ticker ticker,
            PeerWarnings warnings,
            Listener listener) {
        this.frames = frames;
        this.metadata = metadata;
        this.settings = settings;
        this.forgetAfter = forgetAfter;
        this.ticker = ticker;
        this.warnings = warnings;
        this.listener = listener;
        this.duplicates = new DuplicateNodeIds(
                metadata.name(), metadata.address(), settings.digestInterval().toNanos() * DIGESTS_REMEMBERED);
    }

    /** Follows the changes of the membership, on the cluster's loop. */
    interface Listener {

        /**
         * Creates the state of a node that is seen for the first time.
         *
         * @param nodeId its name
         * @return the member, unreachable
         */
        Member joins(String nodeId);

        /** A process is connected and has been sent a Hello; the digests of this node follow. */
        void connected(Peer peer);

        /** A member has become reachable. */
        void arrived(Member member);

        /** A member has become unreachable, or runs anew. */
        void gone(Member member);

        /** A member has been unreachable for too long and is no longer one. */
        void removed(Member member);

        /**
         * This process leaves, because another one has its node-id. Called once, after {@link Membership#joined}.
         *
         * @param address the address of the other process
         */
        void superseded(String address);
    }

    /** Whether this node is a front node. */
    boolean isFront() {
        return metadata.front();
    }

    /** The reachable and the unreachable nodes. */
    Collection<Member> all() {
        return members.values();
    }

    /** A node by its name; null if it is not a member. */
    @Nullable
    Member find(String nodeId) {
        return members.get(nodeId);
    }

    /** A node by the name that is displayed; null if it is not a member. */
    @Nullable
    Member named(String name) {
        Member member = members.get(name);
        if (member != null && member.name().equals(name)) {
            return member;
        }
        for (Member other : members.values()) {
            if (other.name().equals(name)) {
                return other;
            }
        }
        return null;
    }

    /** The queue of messages for a node; null if it is not a member. */
    @Nullable
    PeerOutbox outboxOf(String nodeId) {
        Member member = members.get(nodeId);
        return member == null ? null : member.outbox();
    }

    /** The processes that the transport is connected to, in the order of their connection. */
    Set<Peer> present() {
        return Collections.unmodifiableSet(present);
    }

    /** Other processes with the node-id of this node. */
    DuplicateNodeIds duplicates() {
        return duplicates;
    }

    /** Clients may connect from now on; a later process with the same node-id must leave. */
    void joined() {
        duplicates.joined();
        byte[] hello = frames.encode(hello(false));
        present.forEach(peer -> frames.send(peer, hello));
    }

    /**
     * Introduces this node to a process.
     *
     * @param reply whether the process is to introduce itself, too
     */
    void sendHello(Peer peer, boolean reply) {
        frames.send(peer, hello(reply));
    }

    private Frame hello(boolean reply) {
        return metadata.hello(reply, duplicates.hasJoined());
    }

    /** The transport is connected to a process; the member that it is known to run is reachable. */
    void up(Peer peer) {
        present.add(peer);
        strangers.put(peer, ticker.nanoTime());
        sendHello(peer, true);
        listener.connected(peer);
        for (Member member : members.values()) {
            if (peer.equals(member.peer())) {
                strangers.remove(peer);
                arrived(member);
            }
        }
    }

    /** Whether all processes of the view have introduced themselves, so that all sessions of reachable nodes can be asked for. */
    boolean knowsAllPresent() {
        return strangers.isEmpty();
    }

    /** The transport has lost a process. */
    void down(Peer peer) {
        present.remove(peer);
        strangers.remove(peer);
        duplicates.gone(peer);
        for (Member member : members.values()) {
            if (peer.equals(member.peer()) && member.isReachable()) {
                LOG.warn("node {} is unreachable", member.identity());
                gone(member);
            }
        }
    }

    /**
     * Judges the sender of a frame.
     *
     * @param from the process
     * @param sender the node that it says to run
     * @param frame the frame; null if its kind is not known
     * @return the member that sent it; null if the frame must be ignored or has been handled
     */
    @Nullable
    Member accept(Peer from, NodeIdentity sender, @Nullable Frame frame) {
        if (frame instanceof Frame.Stale stale) {
            becomeNewerThan(stale.knownEpoch());
            return null;
        }
        if (sender.nodeId().equals(frames.self().nodeId())) {
            if (present.contains(from)) {
                duplicateNodeId(from, sender.epoch(), frame);
            }
            return null;
        }
        if (frame instanceof Frame.Taken taken) {
            if (present.contains(from)) {
                duplicates.reported(from, taken, ticker.nanoTime());
                warnings.warn("node {} reports another process with this node-id at {}", sender, taken.address());
            }
            return null;
        }
        Member member = memberOf(sender, from, frame);
        if (member != null) {
            heard(member, from, frame);
        }
        return member;
    }

    private void heard(Member member, Peer from, @Nullable Frame frame) {
        member.heard(
                frame instanceof Frame.Hello hello ? hello : null,
                frame instanceof Frame.Digest digest ? digest.sequence() : Frame.NOTHING,
                ticker.nanoTime());
        if (!member.isReachable() && from.equals(member.peer()) && present.contains(from)) {
            arrived(member); // it was unresponsive
        }
        if (frame instanceof Frame.Hello) {
            duplicates.acceptedBy(from);
        }
    }

    /** Another process has the node-id of this one: one of the two must leave. */
    private void duplicateNodeId(Peer from, long epoch, @Nullable Frame frame) {
        strangers.remove(from);
        Frame.Hello hello = frame instanceof Frame.Hello introduced ? introduced : null;
        if (hello != null && hello.reply()) {
            sendHello(from, false);
        }
        boolean first = duplicates.ahead() == null;
        NodeIdentity self = frames.self();
        switch (duplicates.seen(from, epoch, hello, self.epoch())) {
            case ASK -> sendHello(from, true);
            case STAY ->
                warnings.warn(
                        "rejected a process with the node-id of this node, {}: {}",
                        self.nodeId(),
                        hello == null ? from : hello.address());
            case GIVE_WAY -> {
                String ahead = duplicates.ahead();
                if (first && duplicates.hasJoined() && ahead != null) {
                    listener.superseded(ahead);
                }
            }
        }
    }

    private void becomeNewerThan(long known) {
        if (known >= frames.self().epoch()) {
            LOG.warn("the clock went backwards: other nodes know a later epoch of this node");
            frames.epoch(known + 1);
            present.forEach(peer -> sendHello(peer, true));
        }
    }

    /** The member that sent a frame; null if the frame must be ignored. */
    private @Nullable Member memberOf(NodeIdentity sender, Peer from, @Nullable Frame frame) {
        Member member = members.get(sender.nodeId());
        if (member == null) {
            member = admit(sender.nodeId(), from);
        }
        if (member == null || !isSentBy(member, sender, from, frame)) {
            return null;
        }
        if (sender.epoch() > member.epoch() || !from.equals(member.peer())) {
            if (member.isReachable()) {
                gone(member);
            }
            member.runs(sender.epoch(), from);
            strangers.remove(from);
            if (present.contains(from)) {
                arrived(member);
            } else {
                member.gone(ticker.nanoTime());
            }
            if (!(frame instanceof Frame.Hello)) {
                sendHello(from, true); // its Hello was refused
            }
        }
        return member;
    }

    /** Makes a node a member; null if it is rejected. */
    private @Nullable Member admit(String nodeId, Peer from) {
        if (!present.contains(from)) {
            return null; // it sends Hello when it is seen
        }
        for (Member other : members.values()) {
            if (from.equals(other.peer()) && other.isReachable()) {
                warnings.warn("rejected {}: its node-id has changed to {}", from, nodeId);
                return null;
            }
        }
        if (members.size() >= MAXIMUM_MEMBERS) {
            warnings.warn("rejected {}: too many nodes, no room for {}", from, nodeId);
            return null;
        }
        Member member = listener.joins(nodeId);
        members.put(nodeId, member);
        return member;
    }

    /** Whether a frame comes from the process that runs a member, in its current or a later run. */
    private boolean isSentBy(Member member, NodeIdentity sender, Peer from, @Nullable Frame frame) {
        Peer before = member.peer();
        boolean moved = !from.equals(before);
        if (moved
                && before != null
                && present.contains(before)
                && member.isReachable()
                && !member.isReplacedBy(frame)) {
            warnings.warn("rejected {}: another process with its node-id is connected at {}", sender, member.address());
            if (frame instanceof Frame.Hello || frame instanceof Frame.Digest) {
                frames.send(from, new Frame.Taken(member.epoch(), member.address()));
            }
            return false;
        }
        if (sender.epoch() < member.epoch()) {
            if (before != null && moved) {
                frames.send(from, new Frame.Stale(member.epoch()));
            }
            return false;
        }
        if (moved && before != null && present.contains(before) && !present.contains(from)) {
            warnings.warn("rejected {}: it repeats frames of {}, which is connected", from, before);
            return false;
        }
        return true;
    }

    private void arrived(Member member) {
        LOG.info("node {} is reachable at {}", member.identity(), member.peer());
        member.reachable(ticker.nanoTime());
        listener.arrived(member);
    }

    private void gone(Member member) {
        member.gone(ticker.nanoTime());
        listener.gone(member);
    }

    /** Checks all members, {@link #TICKS_PER_DIGEST} times in the interval of a digest. */
    void tick(long now) {
        strangers.values().removeIf(since -> now - since >= STRANGER_NANOS);
        Iterator<Member> all = members.values().iterator();
        while (all.hasNext()) {
            Member member = all.next();
            member.outbox().tick(now);
            if (member.isSilentFor(SILENT_TICKS)
                    || isMuteFor(member)) { // it may not receive our frames, and has continued without this node
                LOG.warn(
                        "node {} is unresponsive: connected, but no frame for {} s",
                        member.identity(),
                        member.silentMillis(now) / 1_000);
                gone(member);
            }
            if (member.purgeIfGone(
                    now, forgetAfter.toNanos(), settings.routeTtl().toNanos())) {
                LOG.info(
                        "node {} removed: unreachable for {} s",
                        member.identity(),
                        TimeUnit.NANOSECONDS.toSeconds(now - member.goneSinceNanos()));
                member.left();
                all.remove();
                listener.removed(member);
            }
        }
    }

    /** Call after {@link Member#isSilentFor}, which counts. */
    private boolean isMuteFor(Member member) {
        Peer peer = member.peer();
        return peer != null && member.hasBeenSilentFor(MUTE_TICKS) && frames.isSilent(peer);
    }

    /** Whether a node that may return has missed changes. */
    boolean isAnyAbsent() {
        for (Member member : members.values()) {
            if (!member.isReachable()) {
                return true;
            }
        }
        return false;
    }

    /**
     * A node that an earlier run of this node has known, and that has not been reached since.
     *
     * @param nodeId its name
     * @param sinceNanos since when
     * @param filters the routes of its durable sessions
     */
    void absent(String nodeId, long sinceNanos, Collection<String> filters) {
        Member member = listener.joins(nodeId);
        member.absent(sinceNanos, filters);
        members.put(nodeId, member);
    }

    /**
     * A node whose routes are not known here, or have changed while this node was away: if it is unreachable it may have any subscription. What matches none
     * of its later routes is kept in vain.
     *
     * @param nodeId its name
     * @param nowNanos the present time
     */
    void mayWantAll(String nodeId, long nowNanos) {
        Member member = members.get(nodeId);
        if (member == null) {
            absent(nodeId, nowNanos, EVERYTHING);
        } else if (!member.isReachable()) {
            member.routes().recovered(EVERYTHING);
        }
    }

    /** The names of the members that are reachable, and keep sessions. */
    List<String> keepers() {
        return members.values().stream()
                .filter(member -> member.isReachable() && !member.isFront())
                .map(Member::nodeId)
                .toList();
    }

    /** The identities of the members that are reachable. */
    List<NodeIdentity> reachable() {
        List<NodeIdentity> all = new ArrayList<>();
        for (Member member : members.values()) {
            if (member.isReachable()) {
                all.add(member.identity());
            }
        }
        return all;
    }

    /** The processes that acknowledge changes of retained messages, and those of which that is not known yet. */
    Set<Peer> retainers() {
        Set<Peer> all = new LinkedHashSet<>(strangers.keySet());
        for (Member member : members.values()) {
            Peer peer = member.peer();
            if (peer != null && member.isReachable() && !member.ignoresRetained()) {
                all.add(peer);
            }
        }
        return all;
    }

    /** Whether this node reaches so few of the nodes that it knows that the others may be more than a half. */
    boolean isSmallerSide() {
        int others = 0;
        int reached = 0;
        for (Member member : members.values()) {
            others += member.isFront() ? 0 : 1;
            reached += member.isReachable() && !member.isFront() ? 1 : 0;
        }
        return 2 * (reached + 1) <= others + 1 && others > 0;
    }

    /** Whether the routes of all reachable nodes are known. */
    boolean knowsAllRoutes() {
        Set<Peer> unknown = new HashSet<>(present);
        unknown.removeIf(duplicates::contains);
        for (Member member : members.values()) {
            Peer peer = member.peer();
            if (peer != null && member.routes().sequenceOf(member.epoch()) != Frame.NOTHING) {
                unknown.remove(peer);
            }
        }
        return unknown.isEmpty();
    }

    /** Whether nodes with these names are reachable. */
    boolean reachesAll(Set<String> names) {
        Set<String> missing = new HashSet<>(names);
        for (Member member : members.values()) {
            if (member.isReachable()) {
                missing.remove(member.name());
            }
        }
        return missing.isEmpty();
    }

    /** The reachable nodes whose routes are not known. */
    List<NodeIdentity> withoutRoutes() {
        return members.values().stream()
                .filter(member -> member.isReachable() && member.routes().sequenceOf(member.epoch()) == Frame.NOTHING)
                .map(Member::identity)
                .toList();
    }

    /** Whether no message waits for a reachable node. */
    boolean hasNothingToSend() {
        for (Member member : members.values()) {
            boolean waits = member.outbox().size() > 0
                    || (member.outbox().park().size() > 0
                            && !member.outbox().park().isStored());
            if (member.isReachable() && waits) {
                return false;
            }
        }
        return true;
    }

    /** The members as this node sees them, by name. A front node that is unreachable is none of them: it holds nothing that is missed. */
    List<ClusterStatus.PeerStatus> status(long now) {
        return members.values().stream()
                .filter(member -> member.isReachable()
                        || !member.isFront()
                        || member.outbox().park().size() > 0)
                .sorted(Comparator.comparing(Member::name))
                .map(member -> member.status(now))
                .toList();
    }
}
