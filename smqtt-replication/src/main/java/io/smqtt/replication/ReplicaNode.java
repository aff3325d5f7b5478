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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
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
 * DIRECTORY/replicas/PLACES {@link Places}
 * DIRECTORY/store/          a store with one replica, which the own store takes over if it is empty
 * </pre>
 */
final class ReplicaNode implements ReplicaLink, Replicas {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaNode.class);
    private static final String CHANNEL = "smqtt-replicas";
    private static final Duration LINE_EVERY = Duration.ofSeconds(5);
    private static final Duration PROBE_EVERY = Duration.ofSeconds(5);
    private static final long JOIN_MILLIS = 60_000;

    /** The time for other nodes to admit this one again, which has left them before. */
    private static final long REJOIN_MILLIS = 10_000;

    private static final int MAX_ENTRIES = 16;

    private static final long MAX_BYTES = 64L << 20;

    private final ReplicaPlan plan;
    private final DiskWatch disk;
    private final SortedMap<String, ReplicatedStore> replicas = new TreeMap<>();
    private final Map<String, Adopter> adopters = new ConcurrentHashMap<>();
    private @Nullable UnservedGroups unserved; // set before the node is used
    private final Callable<List<Protocol>> reliable;
    private final Object reopening = new Object();
    private final Places places;
    private final PlaceChanges changes;

    /** Why this node has no part with the others any more; it stays so. */
    private volatile @Nullable String replaced;

    private volatile @Nullable GroupChannel channel;
    private volatile boolean serves;
    private volatile boolean closing;

    private ReplicaNode(ReplicaPlan plan, Path data, Callable<List<Protocol>> reliable, DiskWatch.Probe probe) {
        this.plan = plan;
        this.reliable = reliable;
        places = Places.of(data);
        changes = new PlaceChanges(plan, places, home -> replicas.get(home), this::replaced);
        disk = new DiskWatch(data, PROBE_EVERY, probe, new FullDisk());
    }

    /**
     * Opens all replicas of this node, and joins the other nodes. Blocks.
     *
     * @param data the data directory
     * @param limits limits and memory of each replica
     * @param reliable makes the protocols of a channel, see {@link GroupChannel#create}
     * @throws io.smqtt.config.ConfigurationException if the directory is another node's
     * @throws io.smqtt.spi.StoreDamagedException if a log or the rows are damaged
     */
    static ReplicaNode open(ReplicaPlan plan, Path data, StoreSettings limits, Callable<List<Protocol>> reliable)
            throws Exception {
        return open(plan, data, limits, reliable, DiskProbe::write);
    }

    /** The same with another check whether the disk takes writes. */
    static ReplicaNode open(
            ReplicaPlan plan, Path data, StoreSettings limits, Callable<List<Protocol>> reliable, DiskWatch.Probe probe)
            throws Exception {
        ReplicaIdentity.require(data, plan);
        ReplicaNode node = new ReplicaNode(plan, data, reliable, probe);
        try {
            node.openReplicas(data.resolve(ReplicaIdentity.DIRECTORY), limits);
            Path former = data.resolve("store");
            if (RocksBrokerStore.exists(former)) {
                node.store().takeOver(former);
            }
            ReplicaIdentity.write(data, plan);
            node.join(JOIN_MILLIS);
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
        unserved = new UnservedGroups(plan, replicas, this::hasAdopted, places::nodeOf);
    }

    private boolean hasAdopted(String home) {
        Adopter adopter = adopters.get(home);
        return adopter != null && adopter.hasAdopted();
    }

    private void join(long patienceMillis) throws Exception {
        List<RaftGroup> groups =
                replicas.values().stream().map(ReplicatedStore::group).toList();
        GroupChannel made = GroupChannel.create(reliable.call(), plan.self(), plan.agreement(), groups, changes);
        channel = made;
        try {
            ReplicaProtocols.connect(() -> {
                made.connect(CHANNEL, patienceMillis);
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

    /** The lookup of sessions in groups of this node that no node serves. */
    UnservedGroups unserved() {
        return Objects.requireNonNull(unserved);
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
        serves = true;
        return own;
    }

    /** Grows while other nodes bring the own replica up to date. */
    private long received() {
        GroupFigures figures = store().figures();
        return figures.lastIndex() + figures.receivedCheckpointBytes();
    }

    /** Another node, or another disk, is in the place of this one. */
    private void replaced(String reason) {
        if (replaced == null) {
            replaced = reason;
            LOG.error("this node has no part with the others any more: {}", reason);
            if (serves) {
                ConfigurationException cause = new ConfigurationException(reason);
                replicas.values().forEach(replica -> replica.group().failed(cause));
            }
        }
    }

    /** Fails if this node is replaced, or most of the other nodes belong to another cluster. A single one is excluded, and does not stop the others. */
    private void requireAgreement() {
        String lasting = replaced;
        if (lasting != null) {
            throw new ConfigurationException(lasting);
        }
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
        Set<String> members = plan.membersOf(home);
        return new ReplicaStatus(
                home,
                members.stream().map(places::nodeOf).toList(),
                members.stream().filter(present::contains).map(places::nodeOf).toList(),
                nameOf(figures.leader()),
                replica.leads() && replica.reigns(),
                nameOf(replica.server()),
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
                figures.lags().entrySet().stream()
                        .collect(Collectors.toMap(lag -> places.nodeOf(lag.getKey()), Map.Entry::getValue)),
                failureOf(replica));
    }

    private @Nullable String nameOf(@Nullable String place) {
        return place == null ? null : places.nodeOf(place);
    }

    @Override
    public Map<String, String> holders() {
        Map<String, String> holders = new TreeMap<>();
        for (String place : plan.addresses().keySet()) {
            if (!places.nodeOf(place).equals(place)) {
                holders.put(place, places.nodeOf(place));
            }
        }
        return holders;
    }

    @Override
    public CompletionStage<String> replace(String lost, String by) {
        return changes.replace(lost, by);
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

    /**
     * A node that was replaced says why at its start, and ends. Damage stays; all other failures are over when the disk takes writes and the replicas were opened again. If that is not possible, and for a store that
     * another node has served, it takes a restart.
     */
    @Override
    public boolean needsRestart() {
        return replaced != null || (disk.isWritable() || store().reign().ended() != null) && !isDamaged();
    }

    private boolean isDamaged() {
        return replicas.values().stream()
                .map(ReplicatedStore::failure)
                .anyMatch(failure ->
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
        changes.close();
        closing = true;
        stopAdopting();
        synchronized (reopening) { // not while they are being opened
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
    }

    /** Ends all, the own store included. Blocks. */
    void closeAll() {
        changes.close();
        ReplicatedStore own = replicas.get(plan.self());
        if (own != null) {
            own.close();
        } else {
            replicas.values().forEach(ReplicatedStore::close);
        }
    }

    /** Opens all replicas again, over which the store stays open, and joins the other nodes. Blocks. */
    private DiskWatch.Result reopen() throws Exception {
        GroupChannel former = channel;
        if (former != null) {
            former.end();
        }
        for (ReplicatedStore replica : replicas.values()) {
            if (!replica.reopen()) {
                return DiskWatch.Result.NEVER;
            }
        }
        join(REJOIN_MILLIS);
        return DiskWatch.Result.DONE;
    }

    /** Opens the replicas when the disk takes writes again. */
    private final class FullDisk implements DiskWatch.Recovery {

        @Override
        public DiskWatch.Result recover() {
            synchronized (reopening) {
                if (closing) {
                    return DiskWatch.Result.LATER;
                }
                if (!serves || isDamaged() || replaced != null) {
                    return DiskWatch.Result.NEVER;
                }
                try {
                    return reopen();
                } catch (StoreDamagedException | ConfigurationException e) {
                    LOG.error("the replicas of this node cannot be opened again: {}", e.getMessage());
                    return DiskWatch.Result.NEVER;
                } catch (Exception e) { // declared by the channel
                    LOG.warn("the replicas of this node cannot be opened again yet: {}", e.toString());
                    return DiskWatch.Result.LATER;
                }
            }
        }

        @Override
        public boolean isNeeded() {
            return replicas.values().stream().anyMatch(replica -> replica.failure() != null);
        }
    }

    /** The channel as the replica of another node's store sees it. */
    private final class Shared implements ReplicaLink {

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
