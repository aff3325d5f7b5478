// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The configuration of a broker: {@code smqtt.*}. Immutable; {@link #toBuilder()} makes a changed copy:
 *
 * <pre>{@code
 * import io.smqtt.config.BrokerConfig;
 * import io.smqtt.config.LimitsConfig;
 * import io.smqtt.config.ListenerConfig;
 * import java.util.Map;
 *
 * BrokerConfig config = BrokerConfig.builder()
 *         .listeners(Map.of("tcp", ListenerConfig.tcp(0)))
 *         .limits(LimitsConfig.builder().maxInFlight(100).build())
 *         .build();
 * }</pre>
 *
 * @param listeners by name, in the order in which they are bound
 * @param limits what peers can make grow
 * @param session how sessions live on
 * @param mqtt what the broker offers of the protocol
 * @param access who may do what
 * @param autoSubscriptions subscriptions that every client gets when it connects, by name, in the order in which they are
 *     made
 * @param topicRewrites rules that give topics of clients another name, by name; the last one that fits decides
 * @param retainedPolicies rules for retained messages of some topics, by name; the first one that fits decides
 * @param validations checks of payloads, by name; a message is checked by all that fit, in their order
 * @param delayed messages that are published later
 * @param bridges connections that this broker opens to other brokers, by name
 * @param rules statements that select messages, and what is done with them, by name
 * @param sources places from which messages come into this broker, by name
 * @param ruleEngine what rules may use
 * @param overload how the broker protects itself while it is overloaded
 * @param storage where sessions and retained messages are kept
 * @param management the port for metrics, health and control
 * @param eventLoops number of event loop threads; 0 for one per core
 * @param nativeTransport whether epoll is used if it is available
 * @param cluster how nodes find each other and share their work
 */
@ConfigBlock("")
public record BrokerConfig(
        @Setting(by = "defaultListeners") Map<String, ListenerConfig> listeners,
        LimitsConfig limits,
        SessionConfig session,
        MqttConfig mqtt,
        AccessConfig access,
        Map<String, AutoSubscriptionConfig> autoSubscriptions,
        Map<String, TopicRewriteConfig> topicRewrites,
        Map<String, RetainedPolicyConfig> retainedPolicies,
        Map<String, ValidationConfig> validations,
        DelayedConfig delayed,
        Map<String, BridgeConfig> bridges,
        Map<String, RuleConfig> rules,
        Map<String, SourceConfig> sources,
        RuleEngineConfig ruleEngine,
        OverloadConfig overload,
        StorageConfig storage,
        ManagementConfig management,
        @Setting(value = "0", min = "0", max = "1024") int eventLoops,
        @Setting("true") boolean nativeTransport,
        ClusterConfig cluster) {

    /** Maximum number of automatic subscriptions, of rewrite rules, of rules for retained messages, of rules, of sources and of bridges. */
    private static final int MAX_ENTRIES = 100;

    /**
     * Checks all values, including those of the blocks.
     *
     * @throws ConfigurationException if one is missing or wrong
     */
    public BrokerConfig {
        BlockValues.check(
                BrokerConfig.class,
                listeners,
                limits,
                session,
                mqtt,
                access,
                autoSubscriptions,
                topicRewrites,
                retainedPolicies,
                validations,
                delayed,
                bridges,
                rules,
                sources,
                ruleEngine,
                overload,
                storage,
                management,
                eventLoops,
                nativeTransport,
                cluster);
        listeners = Collections.unmodifiableMap(new LinkedHashMap<>(listeners));
        checkListeners(listeners);
        autoSubscriptions = Collections.unmodifiableMap(new LinkedHashMap<>(autoSubscriptions));
        checkNames("auto-subscriptions", autoSubscriptions);
        topicRewrites = Collections.unmodifiableMap(new LinkedHashMap<>(topicRewrites));
        checkNames("topic-rewrites", topicRewrites);
        retainedPolicies = Collections.unmodifiableMap(new LinkedHashMap<>(retainedPolicies));
        checkNames("retained-policies", retainedPolicies);
        validations = Collections.unmodifiableMap(new LinkedHashMap<>(validations));
        checkNames("validations", validations);
        bridges = Collections.unmodifiableMap(new LinkedHashMap<>(bridges));
        checkNames("bridges", bridges);
        rules = Collections.unmodifiableMap(new LinkedHashMap<>(rules));
        checkNames("rules", rules);
        sources = Collections.unmodifiableMap(new LinkedHashMap<>(sources));
        checkNames("sources", sources);
        if (cluster.role() == ClusterConfig.Role.FRONT) {
            checkFront(storage);
        }
        if (storage.replicas() > 1) {
            checkReplicas(storage.replicas(), cluster);
        }
    }

    /** Rejects a front node that stores something. */
    private static void checkFront(StorageConfig storage) {
        String text =
                ", but cluster.role is front: a front node stores nothing, and relays clients with stored sessions to other nodes";
        Check.that(storage.replicas() == 1, "storage.replicas", "is " + storage.replicas() + text);
        Check.that(storage.kind() == StorageConfig.Kind.MEMORY, "storage.kind", "is rocksdb" + text);
    }

    /** Rejects replicas without the nodes that could hold them. */
    private static void checkReplicas(int replicas, ClusterConfig cluster) {
        String key = "storage.replicas";
        Check.that(cluster.enabled(), key, "needs cluster.enabled true");
        Check.that(cluster.nodeId() != null, key, "needs cluster.node-id, the same after each restart");
        Check.that(!cluster.nodes().isEmpty(), key, "needs cluster.nodes, with all nodes that hold replicas");
        List<String> nodes = cluster.replicaNames();
        Check.that(
                nodes.size() >= replicas,
                key,
                "is " + replicas + ", but cluster.nodes has only " + nodes.size() + ": " + String.join(", ", nodes));
        Check.that(
                cluster.isReplicaNode(),
                "cluster.node-id",
                "is " + cluster.nodeId() + ", which is not in cluster.nodes: " + String.join(", ", nodes));
        Check.that(
                cluster.secret() != null || cluster.tls() != null,
                key,
                "needs cluster.secret or cluster.tls: nodes send each other all that is stored");
    }

    /** Rejects invalid names, and more entries than a client should cost. */
    private static void checkNames(String block, Map<String, ?> entries) {
        entries.forEach((name, entry) -> {
            Check.name(block + "." + name, name);
            Check.present(block + "." + name, entry);
        });
        Check.that(entries.size() <= MAX_ENTRIES, block, "has more than " + MAX_ENTRIES + " entries");
    }

    /** Rejects invalid names, and two listeners that would bind the same address. */
    private static void checkListeners(Map<String, ListenerConfig> listeners) {
        Map<String, String> bound = new HashMap<>();
        for (Map.Entry<String, ListenerConfig> entry : listeners.entrySet()) {
            String name = entry.getKey();
            ListenerConfig listener = entry.getValue();
            Check.present("listeners." + name, listener);
            Check.name("listeners." + name, name);
            String address = listener.host() + ":" + listener.port();
            String other = listener.port() == 0 ? null : bound.put(address, name);
            Check.that(
                    other == null,
                    "listeners." + name + ".port",
                    "is already taken by listener " + other + ": " + address);
        }
    }

    /**
     * The modules that this configuration requires beyond the core. A start is rejected if one of them is missing, so that no key is
     * silently ignored.
     *
     * @return key to name of the module, for instance {@code storage.kind} to {@code smqtt-persistence}
     */
    public Map<String, String> requiredModules() {
        Map<String, String> modules = new LinkedHashMap<>();
        if (storage.kind() == StorageConfig.Kind.ROCKSDB) {
            modules.put("storage.kind", "smqtt-persistence");
        }
        if (storage.replicas() > 1) {
            modules.put("storage.replicas", "smqtt-replication");
        }
        if (!access.chain().isEmpty()) {
            modules.put("access.chain", "smqtt-access");
        }
        if (!bridges.isEmpty()) {
            modules.put("bridges", "smqtt-bridge");
        }
        if (!validations.isEmpty()) {
            modules.put("validations", "smqtt-rules");
        }
        if (!rules.isEmpty()) {
            modules.put("rules", "smqtt-rules");
        }
        if (!sources.isEmpty()) {
            modules.put("sources", "smqtt-rules");
        }
        if (cluster.enabled()) {
            modules.put("cluster.enabled", "smqtt-cluster");
        }
        return modules;
    }

    /**
     * The defaults: TCP on 1883 and WebSocket on 8083.
     *
     * @return a configuration that is safe to run
     */
    public static BrokerConfig defaults() {
        return builder().build();
    }

    static Map<String, ListenerConfig> defaultListeners() {
        Map<String, ListenerConfig> listeners = new LinkedHashMap<>();
        listeners.put("tcp", ListenerConfig.of(ListenerConfig.Type.TCP));
        listeners.put("ws", ListenerConfig.of(ListenerConfig.Type.WS));
        return listeners;
    }

    /**
     * Creates a builder with the defaults.
     *
     * @return a builder, for one thread
     */
    public static BrokerConfigBuilder builder() {
        return new BrokerConfigBuilder();
    }

    /**
     * Creates a builder with these values.
     *
     * @return a builder, for one thread
     */
    public BrokerConfigBuilder toBuilder() {
        return new BrokerConfigBuilder(this);
    }
}
