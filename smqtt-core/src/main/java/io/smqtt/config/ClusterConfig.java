// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A cluster node: {@code smqtt.cluster.*}.
 *
 * @param enabled whether this broker forms a cluster with others; needs the module smqtt-cluster
 * @param nodeId the name of this node: unique, and the same after a restart. By default it is made from the bound
 *     address
 * @param bind host:port at which other nodes reach this node
 * @param seeds for static discovery host:port of nodes to join; for dns a host name with the addresses of all
 *     nodes; for kubernetes the name of the headless service
 * @param discovery how other nodes are found: by the list of seeds, by DNS, or by a headless service of Kubernetes
 * @param tls mutual TLS between nodes: each has a certificate and accepts certificates that {@code client-ca} has
 *     signed. Required if bind is neither a loopback nor a private address; read again on SIGHUP
 * @param secret shared secret that authenticates nodes, at least 16 characters; also SMQTT_CLUSTER__SECRET_FILE
 * @param publishAck what the acknowledgement to a publisher waits for: all nodes with matching subscribers, or this
 *     node only
 * @param subscribeSync what SUBACK waits for: this node only, or all live nodes
 * @param minMembers minimum number of nodes, this one included and front nodes not counted. With fewer {@code /health/ready} answers 503, so
 *     that a load balancer sends clients to the larger part of a partitioned cluster; 0 for never
 * @param weight share of clients for this node in relation to the others. The broker only reports it, for the
 *     configuration of a load balancer
 * @param drain time over which a stop spreads the disconnects of clients; 0s for all at once, at most half of the
 *     time of a graceful stop
 * @param forgetAfter time after which a node that cannot be reached is forgotten, with its routes and the messages that
 *     are kept for it; never, or 0s, to keep them until it returns
 * @param park what is kept for nodes that cannot be reached
 * @param nodes the nodes that hold replicas, this one included, each as {@code node-id=host:port}: the address at which it reaches the others
 *     for that, with a port other than that of {@code bind}. The same on all nodes, for good; not used with one replica. A node that has taken the
 *     place of a lost one with another name is {@code lost/node-id=host:port}
 * @param role full for a node that keeps sessions; front for one that stores nothing, and relays clients with a stored session to the full
 *     nodes that have {@code cluster.relay.bind}
 * @param relay the clients of front nodes
 */
@ConfigBlock("cluster")
public record ClusterConfig(
        @Setting("false") boolean enabled,
        @Nullable String nodeId,
        @Setting("127.0.0.1:7800") String bind,
        List<String> seeds,
        @Setting("static") Discovery discovery,
        @Nullable ClusterTlsConfig tls,
        @Setting(secret = true) @Nullable String secret,
        @Setting("peers") PublishAck publishAck,
        @Setting("local") SubscribeSync subscribeSync,
        @Setting(value = "0", min = "0", max = "1000") int minMembers,
        @Setting(value = "1", min = "1", max = "1000") int weight,
        @Setting(value = "0s", min = "0s", max = "1h") Duration drain,

        @Setting(value = "24h", min = "0s", max = "36500d", zero = "never")
        Duration forgetAfter,

        ParkConfig park,
        List<String> nodes,
        @Setting("full") Role role,
        RelayConfig relay) {

    /** The maximum number of nodes that hold replicas. */
    public static final int MAX_REPLICA_NODES = 32;

    /**
     * Checks rules between values.
     *
     * @throws ConfigurationException if a value is wrong, or contradicts another value
     */
    public ClusterConfig {
        Check.hostAndPort("cluster.bind", bind, 1);
        seeds = List.copyOf(seeds);
        for (String seed : seeds) {
            if (discovery == Discovery.STATIC) {
                Check.hostAndPort("cluster.seeds", seed, 1);
            } else {
                Check.host("cluster.seeds", seed);
            }
        }
        if (nodeId != null) {
            Check.name("cluster.node-id", nodeId);
        }
        Check.that(secret == null || secret.length() >= 16, "cluster.secret", "must have at least 16 characters");
        nodes = List.copyOf(nodes);
        checkNodes(nodes, nodeId, bind);
        checkRelay(nodes, nodeId, bind, relay, secret != null || tls != null);
        if (role == Role.FRONT) {
            checkFront(nodes, nodeId, enabled, relay, secret != null || tls != null);
        }
    }

    private static void checkRelay(
            List<String> nodes, @Nullable String self, String bind, RelayConfig relay, boolean protects) {
        String address = relay.bind();
        if (address == null) {
            return;
        }
        String key = "cluster.relay.bind";
        Check.that(!portOf(address).equals(portOf(bind)), key, "has the port of cluster.bind: " + address);
        for (String node : nodes) {
            boolean isOwn = nodeIn(node).equals(self);
            Check.that(
                    !isOwn || !portOf(node).equals(portOf(address)),
                    key,
                    "has the port of this node in cluster.nodes: " + address);
        }
        Check.that(
                protects,
                key,
                "needs cluster.secret or cluster.tls: front nodes send it what clients send, with their passwords");
    }

    private static void checkFront(
            List<String> nodes, @Nullable String self, boolean enabled, RelayConfig relay, boolean protects) {
        String key = "cluster.role";
        Check.that(enabled, key, "is front, which needs cluster.enabled true");
        Check.that(
                protects,
                key,
                "is front, which needs cluster.secret or cluster.tls: it sends other nodes what clients send");
        Check.that(
                relay.bind() == null,
                "cluster.relay.bind",
                "is for full nodes; a front node takes no clients of others");
        for (String node : nodes) {
            String name = nodeIn(node);
            Check.that(
                    !name.equals(self),
                    "cluster.nodes",
                    "has this node, " + name + ", whose cluster.role is front: it holds no replicas");
        }
    }

    private static void checkNodes(List<String> nodes, @Nullable String self, String bind) {
        String key = "cluster.nodes";
        Set<String> names = new HashSet<>();
        Set<String> addresses = new HashSet<>();
        for (String node : nodes) {
            int equals = node.indexOf('=');
            Check.that(equals > 0, key, "must have entries such as a=10.0.0.1:7801, not " + node);
            String address = node.substring(equals + 1);
            String place = placeIn(node);
            String name = nodeIn(node);
            Check.name(key, place);
            Check.name(key, name);
            Check.hostAndPort(key, address, 1);
            Check.that(names.add(place), key, "has the node " + place + " twice");
            Check.that(name.equals(place) || names.add(name), key, "has the node " + name + " twice");
            Check.that(addresses.add(address), key, "has the address " + address + " twice");
            boolean isOwn = name.equals(self);
            Check.that(
                    !address.equals(bind) && !(isOwn && portOf(address).equals(portOf(bind))),
                    key,
                    "has the port of cluster.bind: " + address);
        }
        Check.that(nodes.size() <= MAX_REPLICA_NODES, key, "has more than " + MAX_REPLICA_NODES + " entries");
    }

    /** The place of an entry of cluster.nodes: the name of the node that has held it first. */
    private static String placeIn(String entry) {
        String names = entry.substring(0, entry.indexOf('='));
        int slash = names.indexOf('/');
        return slash < 0 ? names : names.substring(0, slash);
    }

    /** The node of an entry of cluster.nodes. */
    private static String nodeIn(String entry) {
        String names = entry.substring(0, entry.indexOf('='));
        return names.substring(names.indexOf('/') + 1);
    }

    private static String portOf(String address) {
        return address.substring(address.lastIndexOf(':'));
    }

    /**
     * The nodes that hold replicas, by their places. The place of a node is its name, unless it has replaced another one: then that one's.
     *
     * @return address by place, in alphabetical order
     */
    public SortedMap<String, String> replicaNodes() {
        SortedMap<String, String> byPlace = new TreeMap<>();
        for (String node : nodes) {
            byPlace.put(placeIn(node), node.substring(node.indexOf('=') + 1));
        }
        return byPlace;
    }

    /**
     * The names of the nodes that hold replicas.
     *
     * @return in alphabetical order; {@code lost/node-id} for one that has taken the place of another one
     */
    public List<String> replicaNames() {
        return nodes.stream()
                .map(node -> node.substring(0, node.indexOf('=')))
                .sorted()
                .toList();
    }

    /**
     * Whether this node is one of those that hold replicas.
     *
     * @return false if its name is none of {@code nodes}, or only that of a place that another node holds
     */
    public boolean isReplicaNode() {
        return nodes.stream().anyMatch(node -> nodeIn(node).equals(nodeId));
    }

    /**
     * The place of this node among those that hold replicas. It stays when another node takes it over; what nodes keep for each other is for a place.
     *
     * @return the place; the name of the node if it is not in {@code nodes}; null without a name
     */
    public @Nullable String place() {
        for (String node : nodes) {
            if (nodeIn(node).equals(nodeId)) {
                return placeIn(node);
            }
        }
        return nodeId;
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ClusterConfig defaults() {
        return builder().build();
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static ClusterConfigBuilder builder() {
        return new ClusterConfigBuilder();
    }

    /** {@return every value except the secret} */
    @Override
    public String toString() {
        return "ClusterConfig[enabled=" + enabled + ", nodeId=" + nodeId + ", bind=" + bind + ", seeds=" + seeds
                + ", discovery=" + discovery + ", tls=" + tls + ", publishAck=" + publishAck + ", subscribeSync="
                + subscribeSync + ", minMembers=" + minMembers + ", weight=" + weight + ", drain=" + drain
                + ", forgetAfter=" + forgetAfter
                + ", park=" + park + ", nodes=" + nodes + ", role=" + role + ", relay=" + relay + "]";
    }

    /** The role of a node towards clients. */
    public enum Role {
        /** It serves all of them. */
        FULL,
        /** It serves those without a stored session, and relays the others. */
        FRONT
    }

    /** The method of finding other nodes. */
    public enum Discovery {
        /** By the list of seeds. */
        STATIC,
        /** By the addresses of a host name. */
        DNS,
        /** By the addresses of a headless service of Kubernetes: the same as {@link #DNS}. */
        KUBERNETES
    }

    /** The condition for the publisher's acknowledgement. */
    public enum PublishAck {
        /** The nodes that have matching subscribers have the message. */
        PEERS,
        /** Only this node has the message. */
        LOCAL
    }

    /** The condition for a SUBACK. */
    public enum SubscribeSync {
        /** This node knows the subscription. */
        LOCAL,
        /** The live nodes know it too. */
        ACKED
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public ClusterConfigBuilder toBuilder() {
        return new ClusterConfigBuilder(this);
    }
}
