// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import io.smqtt.config.BrokerConfig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The assignment of replicas to nodes. All nodes compute the same from the same configuration: the replicas of a node are on itself and on the
 * others with the highest scores for it (rendezvous hashing), so that no node has to know which the others hold, and an added node would move few
 * of them.
 *
 * <p>It is a plan of places ({@link Places}): a node that takes the place of another one changes nothing here.
 *
 * @param self the place of this node
 * @param node the name of this node
 * @param addresses the address of each node with replicas, by its place
 * @param replicas the number of replicas, at most that of the nodes
 */
record ReplicaPlan(String self, String node, SortedMap<String, String> addresses, int replicas) {

    ReplicaPlan {
        addresses = new TreeMap<>(addresses);
    }

    /** The plan of a node that holds the place with its name. */
    ReplicaPlan(String self, SortedMap<String, String> addresses, int replicas) {
        this(self, self, addresses, replicas);
    }

    /** The plan of a configuration, which has replicas. */
    static ReplicaPlan of(BrokerConfig config) {
        return new ReplicaPlan(
                Objects.requireNonNull(config.cluster().place()),
                Objects.requireNonNull(config.cluster().nodeId()),
                config.cluster().replicaNodes(),
                config.storage().replicas());
    }

    /** The address of this node for replicas. */
    String address() {
        return Objects.requireNonNull(addresses.get(self));
    }

    /** The nodes whose replicas this node holds, its own included. */
    SortedSet<String> homes() {
        SortedSet<String> homes = new TreeSet<>();
        for (String home : addresses.keySet()) {
            if (membersOf(home).contains(self)) {
                homes.add(home);
            }
        }
        return homes;
    }

    /** The nodes that hold the replicas of a node. */
    SortedSet<String> membersOf(String home) {
        List<String> others = new ArrayList<>(addresses.keySet());
        others.remove(home);
        others.sort(Comparator.<String>comparingLong(other -> score(home, other))
                .reversed()
                .thenComparing(Comparator.naturalOrder()));
        SortedSet<String> members = new TreeSet<>(others.subList(0, replicas - 1));
        members.add(home);
        return members;
    }

    /** The number of a node's group in messages. */
    int numberOf(String home) {
        return addresses.headMap(home).size();
    }

    /** All nodes and the number of replicas, as they must be equal on all nodes. */
    String agreement() {
        return replicas + " of " + String.join(", ", addresses.keySet());
    }

    /** Must never change: nodes of different versions would disagree. FNV-1a, mixed so that names which differ in one letter are far apart. */
    private static long score(String home, String other) {
        long hash = 0xCBF29CE484222325L;
        for (byte next : (home + '/' + other).getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (next & 0xFF)) * 0x100000001B3L;
        }
        hash = (hash ^ (hash >>> 33)) * 0xFF51AFD7ED558CCDL;
        hash = (hash ^ (hash >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return hash ^ (hash >>> 33);
    }
}
