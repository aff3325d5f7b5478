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
 * Replicates wills. Each will is kept by two nodes, which are selected by the client identifier. When its node fails, the first live one
 * of them publishes it after its delay, unless the client has connected to another node, and notifies the failed node when it returns.
 * Frames are repeated until they are acknowledged.
 */
@OnClusterLoop
final class Wills {

    /** The number of nodes that keep a will. */
    static final int COPIES = 2;

    /** Limits of the replicated wills of one node: number, and bytes of messages. */
    static final int MAXIMUM_WILLS = 20_000;

    static final long MAXIMUM_BYTES = 32L * 1024 * 1024;

    /** The minimum time between the failure of a node and the publication of its wills, in which its clients can reconnect. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final int SAID_AGAIN_AT_ONCE = 500;
    private static final long TOMBSTONE_NANOS = Duration.ofMinutes(2).toNanos();

    /** The validity of the information that a client is on another node. */
    private static final long ELSEWHERE_NANOS = Duration.ofMinutes(1).toNanos();

    /** The maximum number of failed nodes to which results are sent on their return. */
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
    private Set<String> keepers = Set.of();

    // wills of other nodes' clients
    private final Map<String, Map<String, Held>> held = new LinkedHashMap<>();
    private final Map<String, String> servers = new HashMap<>();

    /** Results of wills of failed nodes that the servers of these nodes have not acknowledged, by node and client. */
    private final Map<String, Map<String, Done>> unheardByServers = new HashMap<>();

    private int heldWills;
    private long heldBytes;
    private final Map<String, Map<String, Done>> done = new LinkedHashMap<>();

    /**
     * Creates it without wills.
     *
     * @param refused called for each will that no other node keeps because there are too many
     */
    Wills(ClientWire wire, LocalClients local, Duration retry, Runnable refused) {
        this.wire = wire;
        this.local = local;
        this.retryNanos = retry.toNanos();
        this.refused = refused;
    }

    private static final class Own {
        private Frame.@Nullable HeldWill will;

        /** The will object of the session. */
        private @Nullable Will source;

        private long version;
        private long since;
        private List<String> holders = List.of();

        /** The nodes that may know of it. */
        private final Set<String> informed = new LinkedHashSet<>();

        private final Set<String> pending = new HashSet<>();

        /** Those of them that are unreachable, and are notified on their return. */
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

        /** The clocks of the known claims of the client by its node and by another one. */
        private long claimedAt;

        private long elsewhereAt;
        private long elsewhereNanos;
    }

    private record Done(long epoch, long since) {}

    // --- wills of this node's clients

    /** Sets the will of a client of this node. */
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

    /** Removes the will of a client of this node. */
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

    /** The number of wills that were not replicated because there are too many. */
    long refusals() {
        return refusals;
    }

    /** Returns the current values. */
    ClusterStatus.Wills status() {
        return new ClusterStatus.Wills(inForce, heldWills, heldBytes, refusals);
    }

    /** The number of clients of this node with a will, or with a removal that is not yet acknowledged. */
    int known() {
        return own.size();
    }

    private static int bytesOf(Frame.@Nullable HeldWill will) {
        return will == null ? 0 : will.message().message().footprintBytes();
    }

    /** The nodes that keep a will of this node: no front nodes. */
    private List<String> holdersOf(String clientId) {
        return holdersOf(clientId, keepers);
    }

    private void say(String clientId, Own entry) {
        Collection<String> others = wire.others();
        entry.version = ++versions;
        entry.holders = entry.will == null ? List.of() : holdersOf(clientId);
        entry.informed.addAll(entry.holders);
        entry.away.clear();
        entry.pending.clear();
        entry.pending.addAll(entry.informed);
        for (String node : entry.informed) {
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
        entry.informed.removeIf(node -> !entry.holders.contains(node) && !entry.away.contains(node));
        if (entry.will == null && entry.away.isEmpty()) {
            own.remove(clientId);
        }
    }

    /** The nodes that keep the will of a client, in the order in which they publish it. */
    static List<String> holdersOf(String clientId, Collection<String> others) {
        return others.stream()
                .sorted(Comparator.<String>comparingLong(node -> RouteHash.of(node + '/' + clientId, 2))
                        .reversed()
                        .thenComparing(Comparator.naturalOrder()))
                .limit(COPIES)
                .toList();
    }

    // --- frames

    void accept(NodeIdentity from, Frame.Client frame) {
        if (frame instanceof Frame.WillCopy copy) {
            keep(from, copy);
        } else if (frame instanceof Frame.WillDone notice) {
            Own entry = own.get(notice.clientId());
            if (notice.ofEpoch() != wire.self().epoch()) {
                local.willSettledElsewhere(notice.clientId(), null);
            } else if (entry != null && entry.source != null && entry.since == notice.since()) {
                local.willSettledElsewhere(notice.clientId(), entry.source);
            }
            wire.send(from.nodeId(), new Frame.WillAck(notice.since(), notice.clientId(), notice.ofEpoch(), true));
        } else if (frame instanceof Frame.WillAck ack && ack.done()) {
            Map<String, Done> ofNode = done.getOrDefault(from.nodeId(), Map.of());
            if (new Done(ack.ofEpoch(), ack.version()).equals(ofNode.get(ack.clientId()))) {
                ofNode.remove(ack.clientId());
            }
            unheardByServers.forEach((nodeId, unheardOf) -> {
                if (from.nodeId().equals(servers.get(nodeId))) {
                    unheardOf.remove(ack.clientId(), new Done(ack.ofEpoch(), ack.version()));
                }
            });
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
            settled(from.nodeId(), copy.clientId(), known); // the client is on its node again
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

    /** Another node, or this one, serves the sessions of a failed one: it is notified in the place of that. */
    void servedBy(String nodeId, String server) {
        servers.put(nodeId, server);
        unheardByServers.remove(nodeId);
        Map.copyOf(done.getOrDefault(nodeId, Map.of())).forEach((clientId, what) -> tell(nodeId, clientId, what));
    }

    /** Notifies the server of a failed node, if there is one. Repeated until it is acknowledged. */
    private void tell(String nodeId, String clientId, Done what) {
        String server = servers.get(nodeId);
        if (server == null) {
            return;
        }
        if (server.equals(wire.self().nodeId())) {
            local.willSettledElsewhere(clientId, null);
            return;
        }
        Map<String, Done> unheardOf = unheardByServers.computeIfAbsent(nodeId, node -> new LinkedHashMap<>());
        if (unheardOf.size() < MAXIMUM_WILLS) {
            unheardOf.put(clientId, what);
        }
        wire.send(server, done(clientId, what));
    }

    // --- changes of nodes and clients

    /** The set of other nodes has changed: sends wills to the nodes that keep them now. */
    void viewChanged() {
        keepers = Set.copyOf(wire.keepers());
        for (Map.Entry<String, Own> next : new ArrayList<>(own.entrySet())) {
            Own entry = next.getValue();
            if (entry.will != null && !holdersOf(next.getKey()).equals(entry.holders)) {
                say(next.getKey(), entry);
            }
        }
    }

    /** A node has failed: the wills of its clients become due after their delays. */
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
     * A node is reachable: it first gets the results of its wills, including those that were sent before its failure and may be lost.
     */
    void up(String nodeId) {
        servers.remove(nodeId);
        unheardByServers.remove(nodeId);
        for (Held will : held.getOrDefault(nodeId, Map.of()).values()) {
            if (will.due && wire.reaches(nodeId, will.epoch)) {
                will.due = false; // it has not failed, and handles its clients itself
            } else if (will.due && mayPublish(will)) {
                Frame.WillCopy copy = will.copy;
                if (copy != null) { // this node handles it
                    done(nodeId, copy.clientId(), will);
                }
            }
        }
        done.getOrDefault(nodeId, Map.of()).forEach((clientId, what) -> wire.send(nodeId, done(clientId, what)));
        viewChanged();
        own.forEach((clientId, entry) -> {
            entry.away.remove(nodeId);
            if (entry.informed.contains(nodeId) && entry.pending.add(nodeId)) { // otherwise it was sent just now
                unheard.add(clientId);
                wire.send(nodeId, copy(clientId, entry));
            }
        });
    }

    /** A node was unreachable for too long: its pending notifications are dropped. */
    void forgotten(String nodeId) {
        for (Map.Entry<String, Own> next : new ArrayList<>(own.entrySet())) {
            Own entry = next.getValue();
            if (entry.informed.remove(nodeId)) {
                entry.pending.remove(nodeId);
                entry.away.remove(nodeId);
                settle(next.getKey(), entry);
            }
        }
    }

    /** A client has connected: its will on a failed node is not published. */
    void connected(String clientId) {
        held.forEach((nodeId, ofNode) -> {
            Held will = ofNode.get(clientId);
            if (will != null && will.due) {
                settled(nodeId, clientId, will);
            }
        });
    }

    /**
     * A node has claimed a client: wills of the client on earlier nodes are not published if these have failed, or are soon found to have
     * failed.
     *
     * @param clock the clock of the claim
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
        tell(nodeId, clientId, new Done(will.epoch, will.since));
    }

    /** Whether this node is the first live one that keeps a will. */
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
        if (!keepers.equals(
                Set.copyOf(wire.keepers()))) { // a node says only after it is reachable that it is a front node
            viewChanged();
        }
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
                    entry.away.add(node); // notified on its return
                }
            }
            settle(clientId, entry);
        }
        done.forEach((nodeId, ofNode) -> doneAgain(nodeId, ofNode, others));
        unheardByServers.forEach((nodeId, ofNode) -> doneAgain(servers.getOrDefault(nodeId, nodeId), ofNode, others));
        done.values().removeIf(Map::isEmpty);
        unheardByServers.values().removeIf(Map::isEmpty);
    }

    private void doneAgain(String to, Map<String, Done> results, Collection<String> others) {
        if (others.contains(to)) {
            results.entrySet().stream()
                    .limit(SAID_AGAIN_AT_ONCE)
                    .forEach(next -> wire.send(to, done(next.getKey(), next.getValue())));
        }
    }

    private static Frame.WillDone done(String clientId, Done what) {
        return new Frame.WillDone(what.since(), clientId, what.epoch());
    }
}
