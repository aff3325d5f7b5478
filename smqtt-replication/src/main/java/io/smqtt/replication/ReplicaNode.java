// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.cluster.jgroups.ReplicaProtocols;
import io.smqtt.config.ConfigurationException;
import io.smqtt.persistence.DiskProbe;
import io.smqtt.persistence.RocksBrokerStore;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.StoreDamagedException;
import io.smqtt.spi.StoreUnavailableException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All replicas on this node: that of its own store, at home, and those of other nodes' stores. They share one channel. Thread-safe.
 *
 * <pre>
 * DIRECTORY/replicas/NODE/  the replica of a node's store ({@link ReplicatedStore})
 * DIRECTORY/replicas/OWNER  {@link ReplicaIdentity}
 * DIRECTORY/store/          a store with one replica, which the own store takes over if it is empty
 * </pre>
 */
final class ReplicaNode implements ReplicatedStore.Link, Replicas {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaNode.class);
    private static final String CHANNEL = "smqtt-replicas";
    private static final Duration LINE_EVERY = Duration.ofSeconds(5);
    private static final Duration PROBE_EVERY = Duration.ofSeconds(5);
    private static final long JOIN_MILLIS = 60_000;
    private static final int MAX_ENTRIES = 16;

    /** Clients do not wait longer for a store that no node serves. */
    private static final long AWAITED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final long MAX_BYTES = 64L << 20;

    private final ReplicaPlan plan;
    private final DiskWatch disk;
    private final SortedMap<String, ReplicatedStore> replicas = new TreeMap<>();
    private final Map<String, Adopter> adopters = new ConcurrentHashMap<>();
    private final Map<String, Long> awaitedSince = new ConcurrentHashMap<>();
    private volatile @Nullable GroupChannel channel;

    private ReplicaNode(ReplicaPlan plan, Path data) {
        this.plan = plan;
        disk = new DiskWatch(data, PROBE_EVERY, DiskProbe::write);
    }

    /**
     * Opens all replicas of this node, and joins the other nodes. Blocks.
     *
     * @param data the data directory
     * @param limits limits and memory of each replica
     * @param reliable the protocols of the channel, see {@link GroupChannel#create}
     * @throws io.smqtt.config.ConfigurationException if the directory is another node's
     * @throws io.smqtt.spi.StoreDamagedException if a log or the rows are damaged
     */
    static ReplicaNode open(ReplicaPlan plan, Path data, StoreSettings limits, List<Protocol> reliable)
            throws Exception {
        ReplicaIdentity.require(data, plan);
        ReplicaNode node = new ReplicaNode(plan, data);
        try {
            node.openReplicas(data.resolve(ReplicaIdentity.DIRECTORY), limits);
            Path former = data.resolve("store");
            if (RocksBrokerStore.exists(former)) {
                node.store().takeOver(former);
            }
            ReplicaIdentity.write(data, plan);
            node.join(reliable);
            return node;
        } catch (Exception | Error e) { // declared by the channel
            node.closeAll();
            throw e;
        }
    }

    private void openReplicas(Path directory, StoreSettings limits) {
        for (String home : plan.homes()) {
            GroupSettings settings = new GroupSettings(
                    home,
                    plan.numberOf(home),
                    plan.self(),
                    plan.membersOf(home),
                    home,
                    directory.resolve(home),
                    MAX_ENTRIES,
                    MAX_BYTES,
                    LogLimits.defaults());
            boolean isOwn = home.equals(plan.self());
            replicas.put(home, ReplicatedStore.member(settings, limits, isOwn ? this : new Shared()));
        }
    }

    private void join(List<Protocol> reliable) throws Exception {
        List<RaftGroup> groups =
                replicas.values().stream().map(ReplicatedStore::group).toList();
        GroupChannel made = GroupChannel.create(reliable, plan.self(), plan.agreement(), groups);
        channel = made;
        try {
            ReplicaProtocols.connect(() -> {
                made.connect(CHANNEL, JOIN_MILLIS);
                return null;
            });
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) { // of the channel
            throw new StoreUnavailableException(
                    "nodes with replicas cannot be reached from " + plan.address() + ": " + e.getMessage(), e);
        }
    }

    // --- stores of other nodes

    /** From now on this node adopts stores of other nodes. */
    void adoptInto(SessionRegistry sessions) {
        store().adopts();
        replicas.forEach((home, replica) -> {
            if (!home.equals(plan.self())) {
                Adopter adopter = new Adopter(home, replica, sessions);
                adopters.put(home, adopter);
                adopter.start();
            }
        });
    }

    /** Gives up all adopted stores, within 4 s. Blocks. */
    void stopAdopting() {
        adopters.values().forEach(Adopter::stop);
        long endNanos = System.nanoTime() + Adopter.STOP_ALL_WITHIN.toNanos();
        adopters.values().forEach(adopter -> adopter.awaitEnd(endNanos));
        adopters.clear();
    }

    /**
     * Whether a store is about to be served that no node serves now: the node that has begun its last reign is not reached, or is this one and has not
     * finished, and there is a majority. After 30 s it is not expected any more.
     *
     * @param nodes the nodes that are reached, this one included
     */
    boolean isAwaited(Collection<String> nodes) {
        boolean any = false;
        for (Map.Entry<String, ReplicatedStore> next : replicas.entrySet()) {
            String home = next.getKey();
            if (home.equals(plan.self()) || isServed(home, next.getValue(), nodes)) {
                awaitedSince.remove(home);
            } else {
                long now = System.nanoTime();
                Long since = awaitedSince.putIfAbsent(home, now);
                any |= since == null || now - since < AWAITED_NANOS;
            }
        }
        return any;
    }

    private boolean isServed(String home, ReplicatedStore replica, Collection<String> nodes) {
        if (!replica.hasBeenServed() || !replica.group().hasMajority()) {
            return true; // it has no sessions, or is not served before other nodes are back
        }
        String last = replica.server();
        String server = last == null ? replica.group().leader() : last; // a leader serves, or is about to
        if (server == null) {
            return false;
        }
        if (server.equals(plan.self())) {
            Adopter adopter = adopters.get(home);
            return adopter != null && adopter.hasAdopted();
        }
        return nodes.contains(server);
    }

    private ReplicatedStore store() {
        return replica(plan.self());
    }

    /** The replica of a node's store. */
    ReplicatedStore replica(String home) {
        return Objects.requireNonNull(replicas.get(home));
    }

    /**
     * Waits until this node leads the group of its own store, and opens that. Blocks. The log says every few seconds what it waits for.
     *
     * @param patience the maximum time without progress
     * @return the store, whose end is the end of all replicas; null after that time
     * @throws io.smqtt.persistence.StoreUnusableException if the disk of a replica has failed
     * @throws StoreDamagedException if a replica is damaged
     */
    @Nullable
    BrokerStore awaitStore(Duration patience) throws InterruptedException {
        long sinceNanos = System.nanoTime();
        long seen = received();
        ReplicatedStore own = store();
        while (!own.awaitLeading(LINE_EVERY)) {
            requireAgreement();
            replicas.values().forEach(ReplicatedStore::requireUsable);
            if (received() != seen) {
                seen = received();
                sinceNanos = System.nanoTime();
            } else if (System.nanoTime() - sinceNanos > patience.toNanos()) {
                return null;
            }
            LOG.info("{}", progress());
        }
        return own;
    }

    /** Grows while other nodes bring the own replica up to date. */
    private long received() {
        GroupFigures figures = store().figures();
        return figures.lastIndex() + figures.receivedCheckpointBytes();
    }

    /** Fails if most of the other nodes belong to another cluster. A single one is excluded, and does not stop the others. */
    private void requireAgreement() {
        GroupChannel open = channel;
        if (open != null && open.isOutnumbered()) {
            throw new ConfigurationException("most nodes with replicas differ from this one, which has "
                    + plan.agreement() + "; " + open.leftOut());
        }
    }

    /** Tells what a start waits for. */
    String progress() {
        GroupChannel open = channel;
        String other = open == null ? null : open.leftOut();
        return awaited() + (other == null ? "" : ". Excluded node: " + other);
    }

    private String awaited() {
        ReplicaStatus own = own();
        if (!own.hasMajority()) {
            List<String> missing = new ArrayList<>(own.members());
            missing.removeAll(own.connected());
            return "waiting for a majority of the nodes with this node's replicas: "
                    + own.connected().size() + " of " + own.members().size() + " are connected, "
                    + String.join(", ", missing) + " not";
        }
        if (own.leader() == null) {
            return "waiting for a leader among the nodes with this node's replicas: "
                    + String.join(", ", own.connected());
        }
        return "waiting until node " + own.leader() + " has brought this node's replica up to date: it has entry "
                + own.lastEntry() + (own.voter() ? "" : ", and is new");
    }

    @Override
    public ReplicaStatus own() {
        return status(plan.self(), store());
    }

    @Override
    public List<ReplicaStatus> status() {
        List<ReplicaStatus> all = new ArrayList<>();
        replicas.forEach((home, replica) -> all.add(status(home, replica)));
        return all;
    }

    private ReplicaStatus status(String home, ReplicatedStore replica) {
        GroupFigures figures = replica.figures();
        Set<String> present = replica.group().present();
        List<String> members = List.copyOf(plan.membersOf(home));
        return new ReplicaStatus(
                home,
                members,
                members.stream().filter(present::contains).toList(),
                figures.leader(),
                replica.leads() && replica.reigns(),
                replica.server(),
                figures.isVoter(),
                figures.term(),
                figures.lastIndex(),
                figures.commitIndex(),
                figures.logBytes(),
                figures.waitingEntries(),
                figures.committedMillis(),
                figures.sentCheckpointBytes(),
                figures.receivedCheckpointBytes(),
                figures.refusedMessages(),
                figures.lags(),
                failureOf(replica));
    }

    /** The reason why a replica has ended; one that fails ends all of its node. */
    private @Nullable String failureOf(ReplicatedStore replica) {
        Throwable own = replica.failure();
        if (own != null) {
            return text(own);
        }
        String notServed = replica == store() ? replica.reign().ended() : null;
        if (notServed != null) {
            return notServed;
        }
        for (Map.Entry<String, ReplicatedStore> other : replicas.entrySet()) {
            Throwable failure = other.getValue().failure();
            if (failure != null) {
                return "the replica of node " + other.getKey() + "'s store has ended: " + text(failure);
            }
        }
        return null;
    }

    private static String text(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.toString() : message;
    }

    /** Damage stays; all other failures are over when the disk takes writes. A store that another node has served is opened anew by a restart. */
    @Override
    public boolean needsRestart() {
        return (disk.isWritable() || store().reign().ended() != null)
                && replicas.values().stream()
                        .map(ReplicatedStore::failure)
                        .noneMatch(failure ->
                                failure instanceof StoreDamagedException || failure instanceof MalformedBytesException);
    }

    /** Sets what is called when this node does not serve its own store any more, because another one has. Must not block. */
    void whenNotServed(Runnable task) {
        store().whenNotServed(task);
    }

    /** Another node says that it serves the store of this one: that ends an earlier reign of this one, which may be cut off from the others. */
    void servedElsewhere(String server, long reign) {
        store().reign().servedBy(server, reign);
    }

    /** Leaves the other nodes, because a replica has failed: all replicas of this node stop. */
    @Override
    public void leave() {
        disk.begin();
        GroupChannel open = channel;
        if (open != null) {
            open.leave();
        }
    }

    /** Ends the channel and the replicas of other nodes, when the own store has ended. */
    @Override
    public void close() throws IOException {
        disk.close();
        stopAdopting();
        GroupChannel open = channel;
        try {
            if (open != null) {
                open.close();
            }
        } finally {
            replicas.forEach((home, replica) -> {
                if (!home.equals(plan.self())) {
                    replica.close();
                }
            });
        }
    }

    /** Ends all, the own store included. Blocks. */
    void closeAll() {
        ReplicatedStore own = replicas.get(plan.self());
        if (own != null) {
            own.close();
        } else {
            replicas.values().forEach(ReplicatedStore::close);
        }
    }

    /** The channel as the replica of another node's store sees it. */
    private final class Shared implements ReplicatedStore.Link {

        @Override
        public void leave() {
            ReplicaNode.this.leave();
        }

        @Override
        public void close() {
            // closed with the own store
        }
    }
}
