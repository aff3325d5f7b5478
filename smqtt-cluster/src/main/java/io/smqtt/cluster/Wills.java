// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.Will;
import io.smqtt.spi.ClusterStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Wills of this node's clients on other nodes, and theirs here. Each is kept by two nodes, which follow from the client
 * identifier; when its node is gone the first of them that is there publishes it in its time, unless the client is
 * somewhere else by then, and tells the node when it is back. What is said is said again until it is acknowledged.
 */
@OnClusterLoop
final class Wills {

    /** How many nodes keep a will. */
    static final int COPIES = 2;

    /** How many wills of one node are kept elsewhere, and how many bytes of messages. */
    static final int MAXIMUM_WILLS = 20_000;

    static final long MAXIMUM_BYTES = 32L * 1024 * 1024;

    /** At least so long a node is away before wills of its clients are published: its clients have the time to come back. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final int SAID_AGAIN_AT_ONCE = 500;
    private static final long TOMBSTONE_NANOS = Duration.ofMinutes(2).toNanos();

    /** How long it counts that a client was said to be elsewhere. */
    private static final long ELSEWHERE_NANOS = Duration.ofMinutes(1).toNanos();

    /** How many nodes are told what became of their wills when they are back. */
    private static final int MAXIMUM_DONE_NODES = 64;

    private final ClientWire wire;
    private final LocalClients local;
    private final Runnable refused;
    private final long retryNanos;

    // wills of this node's clients
    private final Map<String, Own> own = new HashMap<>();
    private final Set<String> unheard = new LinkedHashSet<>();
    private int inForce;
    private long ownBytes;
    private long versions;
    private long refusals;
    private long saidAtNanos;

    // wills of other nodes' clients
    private final Map<String, Map<String, Held>> held = new LinkedHashMap<>();
    private int heldWills;
    private long heldBytes;
    private final Map<String, Map<String, Done>> done = new LinkedHashMap<>();

    /**
     * Creates an empty book.
     *
     * @param refused is told of each will that no other node keeps since there are too many
     */
    Wills(ClientWire wire, LocalClients local, Duration retry, Runnable refused) {
        this.wire = wire;
        this.local = local;
        this.retryNanos = retry.toNanos();
        this.refused = refused;
    }

    private static final class Own {
        private Frame.@Nullable HeldWill will;

        /** As the session has it. */
        private @Nullable Will source;

        private long version;
        private long since;
        private List<String> holders = List.of();

        /** Who may have heard of it. */
        private final Set<String> told = new LinkedHashSet<>();

        private final Set<String> pending = new HashSet<>();

        /** Those of them that are away, and are told when they are back. */
        private final Set<String> away = new HashSet<>();
    }

    private static final class Held {
        private long epoch;
        private Frame.@Nullable WillCopy copy;
        private long version;
        private long since;
        private long dueNanos;
        private boolean due;
        private long goneAtNanos;

        /** When its node has claimed the client, as far as is known, and when another one has; by the cluster's clock. */
        private long claimedAt;

        private long elsewhereAt;
        private long elsewhereNanos;
    }

    private record Done(long epoch, long since) {}

    // --- wills of this node's clients

    /** A client of this node has a will. */
    void inForce(String clientId, @Nullable String userName, Will will, long expirySeconds) {
        Own entry = own.get(clientId);
        int bytes = will.message().footprintBytes();
        if (entry != null) {
            forget(entry);
        }
        if (inForce >= MAXIMUM_WILLS || ownBytes + bytes > MAXIMUM_BYTES) {
            refusals++;
            refused.run();
            if (entry != null) {
                say(clientId, entry);
            }
            return;
        }
        if (entry == null) {
            entry = new Own();
            own.put(clientId, entry);
        }
        ownBytes += bytes;
        inForce++;
        entry.source = will;
        entry.will = new Frame.HeldWill(
                userName, expirySeconds, will.delaySeconds(), new ForwardedMessage(will.message(), true, List.of()));
        entry.since = versions + 1;
        say(clientId, entry);
    }

    /** It has none any more. */
    void gone(String clientId) {
        Own entry = own.get(clientId);
        if (entry != null && entry.will != null) {
            forget(entry);
            say(clientId, entry);
        }
    }

    private void forget(Own entry) {
        if (entry.will != null) {
            inForce--;
            ownBytes -= bytesOf(entry.will);
            entry.will = null;
            entry.source = null;
        }
    }

    /** How many wills were not given to others since there are too many. */
    long refusals() {
        return refusals;
    }

    /** All of it at this moment. */
    ClusterStatus.Wills status() {
        return new ClusterStatus.Wills(inForce, heldWills, heldBytes, refusals);
    }

    /** How many clients of this node have a will, or had one that somebody is still to be told of. */
    int known() {
        return own.size();
    }

    private static int bytesOf(Frame.@Nullable HeldWill will) {
        return will == null ? 0 : will.message().message().footprintBytes();
    }

    private void say(String clientId, Own entry) {
        Collection<String> others = wire.others();
        entry.version = ++versions;
        entry.holders = entry.will == null ? List.of() : holdersOf(clientId, others);
        entry.told.addAll(entry.holders);
        entry.away.clear();
        entry.pending.clear();
        entry.pending.addAll(entry.told);
        for (String node : entry.told) {
            if (others.contains(node)) {
                wire.send(node, copy(clientId, entry));
            }
        }
        settle(clientId, entry);
    }

    private static Frame.WillCopy copy(String clientId, Own entry) {
        return new Frame.WillCopy(entry.version, entry.since, clientId, entry.holders, entry.will);
    }

    private void settle(String clientId, Own entry) {
        if (!entry.pending.isEmpty()) {
            unheard.add(clientId);
            return;
        }
        unheard.remove(clientId);
        entry.told.removeIf(node -> !entry.holders.contains(node) && !entry.away.contains(node));
        if (entry.will == null && entry.away.isEmpty()) {
            own.remove(clientId);
        }
    }

    /** Those who keep the wills of a client, in the order in which they publish. */
    static List<String> holdersOf(String clientId, Collection<String> others) {
        return others.stream()
                .sorted(Comparator.<String>comparingLong(node -> RouteHash.of(node + '/' + clientId, 2))
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .limit(COPIES)
                .toList();
    }

    // --- what nodes say

    void accept(NodeIdentity from, Frame.Client frame) {
        if (frame instanceof Frame.WillCopy copy) {
            keep(from, copy);
        } else if (frame instanceof Frame.WillDone told) {
            Own entry = own.get(told.clientId());
            if (told.ofEpoch() != wire.self().epoch()) {
                local.willSettledElsewhere(told.clientId(), null);
            } else if (entry != null && entry.source != null && entry.since == told.since()) {
                local.willSettledElsewhere(told.clientId(), entry.source);
            }
            wire.send(from.nodeId(), new Frame.WillAck(told.since(), told.clientId(), told.ofEpoch(), true));
        } else if (frame instanceof Frame.WillAck ack && ack.done()) {
            Map<String, Done> ofNode = done.getOrDefault(from.nodeId(), Map.of());
            if (new Done(ack.ofEpoch(), ack.version()).equals(ofNode.get(ack.clientId()))) {
                ofNode.remove(ack.clientId());
            }
        } else if (frame instanceof Frame.WillAck ack
                && ack.ofEpoch() == wire.self().epoch()) {
            Own entry = own.get(ack.clientId());
            if (entry != null && entry.version == ack.version()) {
                entry.pending.remove(from.nodeId());
                entry.away.remove(from.nodeId());
                settle(ack.clientId(), entry);
            }
        }
    }

    private void keep(NodeIdentity from, Frame.WillCopy copy) {
        Map<String, Held> ofNode = held.computeIfAbsent(from.nodeId(), node -> new HashMap<>());
        Held known = ofNode.get(copy.clientId());
        boolean news = known == null
                || from.epoch() > known.epoch
                || (from.epoch() == known.epoch && copy.version() > known.version);
        if (news && known != null && known.due && from.epoch() > known.epoch) {
            settled(from.nodeId(), copy.clientId(), known); // the client is back on its node
        }
        if (news) {
            boolean mine =
                    copy.will() != null && copy.holders().contains(wire.self().nodeId());
            if (mine && known == null && ofNode.size() >= 2 * MAXIMUM_WILLS) {
                return; // not acknowledged
            }
            Held next = new Held();
            next.epoch = from.epoch();
            next.version = copy.version();
            next.since = copy.since();
            if (known != null) {
                drop(known);
            }
            hold(next, mine ? copy : null);
            next.goneAtNanos = wire.nanoTime();
            next.claimedAt = known == null ? 0 : known.claimedAt;
            ofNode.put(copy.clientId(), next);
        }
        wire.send(from.nodeId(), new Frame.WillAck(copy.version(), copy.clientId(), from.epoch(), false));
    }

    private void hold(Held will, Frame.@Nullable WillCopy copy) {
        will.copy = copy;
        if (copy != null) {
            heldWills++;
            heldBytes += bytesOf(copy.will());
        }
    }

    private void drop(Held will) {
        Frame.WillCopy copy = will.copy;
        will.copy = null;
        if (copy != null) {
            heldWills--;
            heldBytes -= bytesOf(copy.will());
        }
    }

    // --- nodes and clients that come and go

    /** The other nodes are others now: wills go to who keeps them from now on. */
    void viewChanged() {
        Collection<String> others = wire.others();
        for (Map.Entry<String, Own> next : new ArrayList<>(own.entrySet())) {
            Own entry = next.getValue();
            if (entry.will != null && !holdersOf(next.getKey(), others).equals(entry.holders)) {
                say(next.getKey(), entry);
            }
        }
    }

    /** A node is gone: wills of its clients are due in their time. */
    void down(String nodeId) {
        for (Held will : held.getOrDefault(nodeId, Map.of()).values()) {
            Frame.WillCopy copy = will.copy;
            Frame.HeldWill content = copy == null ? null : copy.will();
            if (copy != null && content != null && isElsewhere(will)) {
                settled(nodeId, copy.clientId(), will);
            } else if (content != null && !will.due) {
                long delay = Math.min(content.delaySeconds(), content.expirySeconds());
                will.due = true;
                will.dueNanos = wire.nanoTime()
                        + Math.max(GRACE.toNanos(), Duration.ofSeconds(delay).toNanos());
            }
        }
        viewChanged();
    }

    /**
     * A node is here: it is told what became of its wills before anything else, and what it was told before it was away it
     * may not have heard.
     */
    void up(String nodeId) {
        for (Held will : held.getOrDefault(nodeId, Map.of()).values()) {
            if (will.due && wire.reaches(nodeId, will.epoch)) {
                will.due = false; // it was not gone, and sees to its clients itself
            } else if (will.due && mayPublish(will)) {
                Frame.WillCopy copy = will.copy;
                if (copy != null) { // seen to here, whatever becomes of it
                    done(nodeId, copy.clientId(), will);
                }
            }
        }
        done.getOrDefault(nodeId, Map.of()).forEach((clientId, what) -> wire.send(nodeId, done(clientId, what)));
        viewChanged();
        own.forEach((clientId, entry) -> {
            entry.away.remove(nodeId);
            if (entry.told.contains(nodeId) && entry.pending.add(nodeId)) { // else it was said just now
                unheard.add(clientId);
                wire.send(nodeId, copy(clientId, entry));
            }
        });
    }

    /** A node was away too long: nobody waits for it any more. */
    void forgotten(String nodeId) {
        for (Map.Entry<String, Own> next : new ArrayList<>(own.entrySet())) {
            Own entry = next.getValue();
            if (entry.told.remove(nodeId)) {
                entry.pending.remove(nodeId);
                entry.away.remove(nodeId);
                settle(next.getKey(), entry);
            }
        }
    }

    /** A client is somewhere: what it left on a node that is gone is not published. */
    void connected(String clientId) {
        held.forEach((nodeId, ofNode) -> {
            Held will = ofNode.get(clientId);
            if (will != null && will.due) {
                settled(nodeId, clientId, will);
            }
        });
    }

    /**
     * A node says that it has claimed a client: what the client left on nodes before is not published if these are gone, or
     * are found to be gone soon.
     *
     * @param clock when that was, by the cluster's clock
     */
    void ownedBy(String clientId, String owner, long clock) {
        held.forEach((nodeId, ofNode) -> {
            Held will = ofNode.get(clientId);
            if (will == null) {
                return;
            }
            if (nodeId.equals(owner)) {
                will.claimedAt = Math.max(will.claimedAt, clock);
            } else if (will.copy != null && clock > will.claimedAt && clock >= will.elsewhereAt) {
                will.elsewhereAt = clock;
                will.elsewhereNanos = wire.nanoTime();
                if (will.due) {
                    settled(nodeId, clientId, will);
                }
            }
        });
    }

    private boolean isElsewhere(Held will) {
        return will.elsewhereAt > will.claimedAt && wire.nanoTime() - will.elsewhereNanos < ELSEWHERE_NANOS;
    }

    private void settled(String nodeId, String clientId, Held will) {
        will.due = false;
        drop(will);
        will.goneAtNanos = wire.nanoTime();
        done(nodeId, clientId, will);
    }

    private void done(String nodeId, String clientId, Held will) {
        if (!done.containsKey(nodeId) && done.size() >= MAXIMUM_DONE_NODES) {
            done.remove(done.keySet().iterator().next());
        }
        Map<String, Done> ofNode = done.computeIfAbsent(nodeId, node -> new LinkedHashMap<>());
        if (ofNode.size() < MAXIMUM_WILLS) {
            ofNode.put(clientId, new Done(will.epoch, will.since));
        }
    }

    /** Whether this node is the first that keeps a will and is there. */
    private boolean mayPublish(Held will) {
        Frame.WillCopy copy = will.copy;
        Collection<String> others = wire.others();
        for (String holder : copy == null ? List.<String>of() : copy.holders()) {
            if (holder.equals(wire.self().nodeId())) {
                return true;
            }
            if (others.contains(holder)) {
                return false;
            }
        }
        return false;
    }

    void tick(long nowNanos) {
        held.forEach((nodeId, ofNode) -> {
            Iterator<Map.Entry<String, Held>> all = ofNode.entrySet().iterator();
            while (all.hasNext()) {
                Map.Entry<String, Held> next = all.next();
                Held will = next.getValue();
                if (will.due && nowNanos - will.dueNanos >= 0) {
                    publish(nodeId, next.getKey(), will);
                } else if (will.copy == null && nowNanos - will.goneAtNanos >= TOMBSTONE_NANOS) {
                    all.remove();
                }
            }
        });
        held.values().removeIf(Map::isEmpty);
        if (nowNanos - saidAtNanos >= retryNanos) {
            saidAtNanos = nowNanos;
            sayAgain();
        }
    }

    private void publish(String nodeId, String clientId, Held will) {
        Frame.WillCopy copy = will.copy;
        Frame.HeldWill content = copy == null ? null : copy.will();
        boolean mine = mayPublish(will);
        if (content != null && mine) {
            local.publishWill(
                    clientId, content.userName(), new Will(content.message().message(), content.delaySeconds()));
        }
        if (mine) {
            settled(nodeId, clientId, will);
        } else { // another one has published it
            will.due = false;
            drop(will);
            will.goneAtNanos = wire.nanoTime();
        }
    }

    private void sayAgain() {
        Collection<String> others = wire.others();
        int said = 0;
        for (String clientId : List.copyOf(unheard)) {
            Own entry = own.get(clientId);
            if (entry == null || said >= SAID_AGAIN_AT_ONCE) {
                continue;
            }
            for (String node : List.copyOf(entry.pending)) {
                if (others.contains(node)) {
                    said++;
                    wire.send(node, copy(clientId, entry));
                } else if (entry.will == null || !entry.holders.contains(node)) {
                    entry.pending.remove(node);
                    entry.away.add(node); // told when it is back
                }
            }
            settle(clientId, entry);
        }
        done.forEach((nodeId, ofNode) -> {
            if (others.contains(nodeId)) {
                ofNode.entrySet().stream()
                        .limit(SAID_AGAIN_AT_ONCE)
                        .forEach(next -> wire.send(nodeId, done(next.getKey(), next.getValue())));
            }
        });
        done.values().removeIf(Map::isEmpty);
    }

    private static Frame.WillDone done(String clientId, Done what) {
        return new Frame.WillDone(what.since(), clientId, what.epoch());
    }
}
