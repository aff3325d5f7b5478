// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Membership and work of a cluster node: {@code smqtt.cluster.*}.
 *
 * @param enabled whether this broker joins others; needs the module smqtt-cluster
 * @param nodeId the name of this node, unique and kept over restarts; without one the name is made from the bound
 *     address
 * @param bind host:port on which other nodes reach this one
 * @param seeds host:port of nodes to join, for static discovery; for dns the host name that stands for all nodes, for kubernetes that of the headless service
 * @param discovery how other nodes are found: by the list of seeds, by the addresses of a host name, or by those of a headless service of Kubernetes
 * @param tls mutual TLS between nodes: each shows its certificate and accepts those that `client-ca` has signed; required where bind is not a loopback or private address; read again on SIGHUP
 * @param secret what nodes prove to each other before they talk, at least 16 characters; also
 *     SMQTT_CLUSTER__SECRET_FILE
 * @param publishAck what the publisher's acknowledgement waits for: the nodes that have matching subscribers, or this
 *     node alone
 * @param subscribeSync what SUBACK waits for: this node alone, or the live nodes that have learnt the subscription
 * @param minMembers nodes, this one included, below which this node says that it is not ready; 0 for none
 * @param weight how many clients this node is to get in proportion to others; shown to the others
 * @param drain how long a stop takes to send its clients away, spread evenly; 0 for all at once
 */
public record ClusterConfig(
        @ConfigDoc("whether this broker forms a cluster with others; needs the module smqtt-cluster")
        boolean enabled,

        @ConfigDoc("the name of this node: unique, and the same after a restart. By default it is made from the bound "
                + "address")
        @Nullable
        String nodeId,

        @ConfigDoc("host:port at which other nodes reach this node")
        String bind,

        @ConfigDoc("for static discovery host:port of nodes to join; for dns a host name with the addresses of all "
                + "nodes; for kubernetes the name of the headless service")
        List<String> seeds,

        @ConfigDoc("how other nodes are found: by the list of seeds, by DNS, or by a headless service of Kubernetes")
        Discovery discovery,

        @ConfigDoc("mutual TLS between nodes: each has a certificate and accepts certificates that `client-ca` has "
                + "signed. Required if bind is neither a loopback nor a private address; read again on SIGHUP")
        @Nullable
        ClusterTlsConfig tls,

        @ConfigDoc(
                value =
                        "shared secret that authenticates nodes, at least 16 characters; also SMQTT_CLUSTER__SECRET_FILE",
                secret = true)
        @Nullable
        String secret,

        @ConfigDoc(
                "what the acknowledgement to a publisher waits for: all nodes with matching subscribers, or this node "
                        + "only")
        PublishAck publishAck,

        @ConfigDoc("what SUBACK waits for: this node only, or all live nodes")
        SubscribeSync subscribeSync,

        @ConfigDoc(
                value =
                        "minimum number of nodes, this one included. With fewer `/health/ready` answers 503, so that a load "
                                + "balancer sends clients to the larger part of a partitioned cluster; 0 for never",
                min = "0",
                max = "1000")
        int minMembers,

        @ConfigDoc(
                value = "share of clients for this node in relation to the others. The broker only reports it, for the "
                        + "configuration of a load balancer",
                min = "1",
                max = "1000")
        int weight,

        @ConfigDoc(
                value =
                        "time over which a stop spreads the disconnects of clients; 0s for all at once, at most half of the "
                                + "time of a graceful stop",
                min = "0s",
                max = "1h")
        Duration drain) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public ClusterConfig {
        Check.present("cluster.bind", bind);
        Check.present("cluster.seeds", seeds);
        Check.present("cluster.discovery", discovery);
        Check.present("cluster.publish-ack", publishAck);
        Check.present("cluster.subscribe-sync", subscribeSync);
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
        Check.range("cluster.min-members", minMembers, 0, 1_000);
        Check.range("cluster.weight", weight, 1, 1_000);
        Check.range("cluster.drain", drain, Duration.ZERO, Duration.ofHours(1));
        Check.that(secret == null || secret.length() >= 16, "cluster.secret", "must have at least 16 characters");
    }

    /**
     * The defaults.
     *
     * @return a configuration that is safe to run
     */
    public static ClusterConfig defaults() {
        return new ClusterConfig(
                false,
                null,
                "127.0.0.1:7800",
                List.of(),
                Discovery.STATIC,
                null,
                null,
                PublishAck.PEERS,
                SubscribeSync.LOCAL,
                0,
                1,
                Duration.ZERO);
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /** {@return every value except the secret} */
    @Override
    public String toString() {
        return "ClusterConfig[enabled=" + enabled + ", nodeId=" + nodeId + ", bind=" + bind + ", seeds=" + seeds
                + ", discovery=" + discovery + ", tls=" + tls + ", publishAck=" + publishAck + ", subscribeSync="
                + subscribeSync + ", minMembers=" + minMembers + ", weight=" + weight + ", drain=" + drain + "]";
    }

    /** The method by which other nodes are found. */
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
        /** This node has the message. */
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
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link ClusterConfig}. Not safe for several threads. */
    public static final class Builder {

        private boolean enabled;
        private @Nullable String nodeId;
        private String bind;
        private List<String> seeds;
        private Discovery discovery;
        private @Nullable ClusterTlsConfig tls;
        private @Nullable String secret;
        private PublishAck publishAck;
        private SubscribeSync subscribeSync;
        private int minMembers;
        private int weight;
        private Duration drain;

        private Builder(ClusterConfig from) {
            enabled = from.enabled;
            nodeId = from.nodeId;
            bind = from.bind;
            seeds = from.seeds;
            discovery = from.discovery;
            tls = from.tls;
            secret = from.secret;
            publishAck = from.publishAck;
            subscribeSync = from.subscribeSync;
            minMembers = from.minMembers;
            weight = from.weight;
            drain = from.drain;
        }

        /** {@return this, with {@link ClusterConfig#enabled()} set to the argument} */
        public Builder enabled(boolean value) {
            enabled = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#nodeId()} set to the argument} */
        public Builder nodeId(@Nullable String value) {
            nodeId = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#bind()} set to the argument} */
        public Builder bind(String value) {
            bind = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#seeds()} set to the argument} */
        public Builder seeds(List<String> value) {
            seeds = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#discovery()} set to the argument} */
        public Builder discovery(Discovery value) {
            discovery = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#tls()} set to the argument} */
        public Builder tls(@Nullable ClusterTlsConfig value) {
            tls = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#secret()} set to the argument} */
        public Builder secret(@Nullable String value) {
            secret = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#publishAck()} set to the argument} */
        public Builder publishAck(PublishAck value) {
            publishAck = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#subscribeSync()} set to the argument} */
        public Builder subscribeSync(SubscribeSync value) {
            subscribeSync = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#minMembers()} set to the argument} */
        public Builder minMembers(int value) {
            minMembers = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#weight()} set to the argument} */
        public Builder weight(int value) {
            weight = value;
            return this;
        }

        /** {@return this, with {@link ClusterConfig#drain()} set to the argument} */
        public Builder drain(Duration value) {
            drain = value;
            return this;
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public ClusterConfig build() {
            return new ClusterConfig(
                    enabled,
                    nodeId,
                    bind,
                    seeds,
                    discovery,
                    tls,
                    secret,
                    publishAck,
                    subscribeSync,
                    minMembers,
                    weight,
                    drain);
        }
    }
}
