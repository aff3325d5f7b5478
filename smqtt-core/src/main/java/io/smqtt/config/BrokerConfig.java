// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The whole configuration of a broker: {@code smqtt.*}. Immutable; {@link #toBuilder()} makes a changed copy:
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
 * @param storage where sessions and retained messages are kept
 * @param management the port for metrics, health and control
 * @param eventLoops threads that carry connections; 0 for one per core
 * @param nativeTransport whether epoll is used where it is available
 * @param cluster how nodes find each other and share their work
 */
public record BrokerConfig(
        @ConfigDoc("by name, in the order in which they are bound")
        Map<String, ListenerConfig> listeners,

        @ConfigDoc("what peers can make grow") LimitsConfig limits,
        @ConfigDoc("how sessions live on") SessionConfig session,
        @ConfigDoc("what the broker offers of the protocol") MqttConfig mqtt,
        @ConfigDoc("who may do what") AccessConfig access,

        @ConfigDoc("where sessions and retained messages are kept")
        StorageConfig storage,

        @ConfigDoc("the port for metrics, health and control")
        ManagementConfig management,

        @ConfigDoc(value = "number of event loop threads; 0 for one per core", min = "0", max = "1024")
        int eventLoops,

        @ConfigDoc("whether epoll is used if it is available")
        boolean nativeTransport,

        @ConfigDoc("how nodes find each other and share their work")
        ClusterConfig cluster) {

    /**
     * Checks the values.
     *
     * @throws ConfigurationException if one is missing or out of its range
     */
    public BrokerConfig {
        Check.present("listeners", listeners);
        Check.present("limits", limits);
        Check.present("session", session);
        Check.present("mqtt", mqtt);
        Check.present("access", access);
        Check.present("storage", storage);
        Check.present("management", management);
        Check.range("event-loops", eventLoops, 0, 1_024);
        Check.present("cluster", cluster);
        listeners = Collections.unmodifiableMap(new LinkedHashMap<>(listeners));
        Check.listeners(listeners);
    }

    /**
     * A configuration with the default {@link ClusterConfig}, which is off.
     *
     * @param listeners by name, in the order in which they are bound
     * @param limits what peers can make grow
     * @param session how sessions live on
     * @param mqtt what the broker offers of the protocol
     * @param access who may do what
     * @param storage where sessions and retained messages are kept
     * @param management the port for metrics, health and control
     * @param eventLoops threads that carry connections; 0 for one per core
     * @param nativeTransport whether epoll is used where it is available
     * @throws ConfigurationException if one is missing or out of its range
     */
    public BrokerConfig(
            Map<String, ListenerConfig> listeners,
            LimitsConfig limits,
            SessionConfig session,
            MqttConfig mqtt,
            AccessConfig access,
            StorageConfig storage,
            ManagementConfig management,
            int eventLoops,
            boolean nativeTransport) {
        this(
                listeners,
                limits,
                session,
                mqtt,
                access,
                storage,
                management,
                eventLoops,
                nativeTransport,
                ClusterConfig.defaults());
    }

    /**
     * The modules that this configuration needs beyond the core. Who starts a broker refuses a configuration whose
     * modules are not there, so that a key is never silently ignored.
     *
     * @return key to name of the module, for instance {@code storage.kind} to {@code smqtt-persistence}
     */
    public Map<String, String> requiredModules() {
        Map<String, String> modules = new LinkedHashMap<>();
        if (storage.kind() == StorageConfig.Kind.ROCKSDB) {
            modules.put("storage.kind", "smqtt-persistence");
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
        Map<String, ListenerConfig> listeners = new LinkedHashMap<>();
        listeners.put("tcp", ListenerConfig.of(ListenerConfig.Type.TCP));
        listeners.put("ws", ListenerConfig.of(ListenerConfig.Type.WS));
        return new BrokerConfig(
                listeners,
                LimitsConfig.defaults(),
                SessionConfig.defaults(),
                MqttConfig.defaults(),
                AccessConfig.defaults(),
                StorageConfig.defaults(),
                ManagementConfig.defaults(),
                0,
                true,
                ClusterConfig.defaults());
    }

    /**
     * Begins with the defaults.
     *
     * @return a builder, for one thread
     */
    public static Builder builder() {
        return defaults().toBuilder();
    }

    /**
     * Begins with these values.
     *
     * @return a builder, for one thread
     */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** Collects values for a new {@link BrokerConfig}. Not safe for several threads. */
    public static final class Builder {

        private Map<String, ListenerConfig> listeners;
        private LimitsConfig limits;
        private SessionConfig session;
        private MqttConfig mqtt;
        private AccessConfig access;
        private StorageConfig storage;
        private ManagementConfig management;
        private int eventLoops;
        private boolean nativeTransport;
        private ClusterConfig cluster;

        private Builder(BrokerConfig from) {
            listeners = from.listeners;
            limits = from.limits;
            session = from.session;
            mqtt = from.mqtt;
            access = from.access;
            storage = from.storage;
            management = from.management;
            eventLoops = from.eventLoops;
            nativeTransport = from.nativeTransport;
            cluster = from.cluster;
        }

        /** {@return this, with {@link BrokerConfig#listeners()} set to the argument} */
        public Builder listeners(Map<String, ListenerConfig> value) {
            listeners = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#limits()} set to the argument} */
        public Builder limits(LimitsConfig value) {
            limits = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#session()} set to the argument} */
        public Builder session(SessionConfig value) {
            session = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#mqtt()} set to the argument} */
        public Builder mqtt(MqttConfig value) {
            mqtt = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#access()} set to the argument} */
        public Builder access(AccessConfig value) {
            access = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#storage()} set to the argument} */
        public Builder storage(StorageConfig value) {
            storage = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#management()} set to the argument} */
        public Builder management(ManagementConfig value) {
            management = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#eventLoops()} set to the argument} */
        public Builder eventLoops(int value) {
            eventLoops = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#nativeTransport()} set to the argument} */
        public Builder nativeTransport(boolean value) {
            nativeTransport = value;
            return this;
        }

        /** {@return this, with {@link BrokerConfig#cluster()} set to the argument} */
        public Builder cluster(ClusterConfig value) {
            cluster = value;
            return this;
        }

        /**
         * Adds or replaces one listener.
         *
         * @param name letters a to z, digits and hyphens
         * @param listener its options
         * @return this
         */
        public Builder listener(String name, ListenerConfig listener) {
            Map<String, ListenerConfig> changed = new LinkedHashMap<>(listeners);
            changed.put(name, listener);
            return listeners(changed);
        }

        /**
         * Makes the configuration.
         *
         * @return a new one
         * @throws ConfigurationException if a value is out of its range
         */
        public BrokerConfig build() {
            return new BrokerConfig(
                    listeners,
                    limits,
                    session,
                    mqtt,
                    access,
                    storage,
                    management,
                    eventLoops,
                    nativeTransport,
                    cluster);
        }
    }
}
