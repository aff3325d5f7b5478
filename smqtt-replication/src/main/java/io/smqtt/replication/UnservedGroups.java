// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.log.LogLimiter;
import io.smqtt.session.UnservedStores;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The stores that no node serves, as one node with replicas sees them. A stored session begins on the side of a partition that reaches more than half of
 * {@code cluster.nodes} only, and not for a client that has a session in the rows of such a store.
 */
@AnyThread
final class UnservedGroups implements UnservedStores {

    private static final Logger LOG = LoggerFactory.getLogger(UnservedGroups.class);

    /** Clients do not wait longer for a store that no node serves. */
    private static final long AWAITED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);
    private final ReplicaPlan plan;
    private final SortedMap<String, ReplicatedStore> replicas;
    private final Predicate<String> adopted;
    private final Map<String, Long> awaitedSince = new ConcurrentHashMap<>();
    private final Map<String, StoredClients> clients = new ConcurrentHashMap<>();
    private final AtomicLong unknown = new AtomicLong();

    /**
     * Creates it.
     *
     * @param replicas the replicas on this node, its own included
     * @param adopted whether this node has adopted the store of a place
     * @param names the node that holds a place
     */
    UnservedGroups(
            ReplicaPlan plan,
            SortedMap<String, ReplicatedStore> replicas,
            Predicate<String> adopted,
            UnaryOperator<String> names) {
        this.plan = plan;
        this.replicas = Collections.unmodifiableSortedMap(new TreeMap<>(replicas));
        this.adopted = adopted;
        replicas.forEach((home, replica) -> clients.put(
                home,
                new StoredClients(
                        () -> names.apply(home),
                        visitor -> replica.state().rows().visitClients(visitor),
                        replica.state()::applied)));
    }

    @Override
    public boolean isGuarded() {
        return true;
    }

    @Override
    public boolean isOwnServed() {
        ReplicatedStore own = replicas.get(plan.self());
        return own == null || !own.isCutOff();
    }

    /**
     * Whether a store is about to be served that no node serves now: the node that has begun its last reign is not reached, or is this one and has not
     * finished, and there is a majority. After 30 s it is not expected any more.
     */
    @Override
    public boolean isAwaited(Collection<String> nodes) {
        boolean any = false;
        for (Map.Entry<String, ReplicatedStore> next : replicas.entrySet()) {
            String home = next.getKey();
            if (!home.equals(plan.self())) {
                any |= state(home, next.getValue(), nodes) == State.AWAITED;
            }
        }
        return any;
    }

    @Override
    public @Nullable String refusal(Collection<String> nodes) {
        Set<String> reached = new HashSet<>(nodes);
        reached.add(plan.self());
        reached.retainAll(plan.addresses().keySet());
        int all = plan.addresses().size();
        if (2 * reached.size() <= all) {
            return "this node reaches " + reached.size() + " of the " + all
                    + " nodes of cluster.nodes: new sessions are stored on the side with more than half of them only";
        }
        List<String> hidden = new ArrayList<>();
        for (String home : plan.addresses().keySet()) {
            if (Collections.disjoint(plan.membersOf(home), reached)) {
                hidden.add(home);
            }
        }
        if (!hidden.isEmpty()) {
            long begun = unknown.incrementAndGet();
            if (lines.allows("hidden")) {
                LOG.warn(
                        "no node with a replica of {} is reached: clients whose sessions are there begin new ones, which are merged later; {} claims so far",
                        hidden,
                        begun);
            }
        }
        return null;
    }

    @Override
    public Lookup find(String clientId, Collection<String> nodes) {
        Lookup result = Lookup.NOTHING;
        for (Map.Entry<String, ReplicatedStore> next : replicas.entrySet()) {
            String home = next.getKey();
            ReplicatedStore replica = next.getValue();
            StoredClients inRows = clients.get(home);
            if (inRows == null || isServedHere(home, replica) || replica.failure() != null) {
                continue;
            }
            switch (state(home, replica, nodes)) {
                case SERVED -> inRows.forget();
                case UNSERVED -> {
                    Lookup found = inRows.find(clientId);
                    if (found.home() != null) {
                        return found;
                    }
                    result = found.isComplete() ? result : found;
                }
                case AWAITED -> { // the claim of a client that resumes waits
                }
            }
        }
        return result;
    }

    /** The sessions of the own store are in memory, until another node has served it. */
    private boolean isServedHere(String home, ReplicatedStore replica) {
        return home.equals(plan.self()) && replica.reign().ended() == null;
    }

    private enum State {
        SERVED,
        AWAITED,
        UNSERVED
    }

    private State state(String home, ReplicatedStore replica, Collection<String> nodes) {
        if (!replica.hasBeenServed()) {
            return State.SERVED; // it has no sessions
        }
        if (!replica.group().hasMajority()) {
            awaitedSince.remove(home);
            return State.UNSERVED; // not before other nodes are back
        }
        if (isServed(home, replica, nodes)) {
            awaitedSince.remove(home);
            return State.SERVED;
        }
        long now = System.nanoTime();
        Long since = awaitedSince.putIfAbsent(home, now);
        return since == null || now - since < AWAITED_NANOS ? State.AWAITED : State.UNSERVED;
    }

    private boolean isServed(String home, ReplicatedStore replica, Collection<String> nodes) {
        String last = replica.server();
        String server = last == null ? replica.group().leader() : last; // a leader serves, or is about to
        if (server == null) {
            return false;
        }
        if (server.equals(plan.self())) {
            return adopted.test(home);
        }
        return nodes.contains(server)
                && replica.group().present().contains(server); // one channel may notice its end before the other
    }
}
