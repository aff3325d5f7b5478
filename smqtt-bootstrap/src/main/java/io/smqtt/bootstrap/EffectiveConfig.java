// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.StorageConfig;
import io.smqtt.config.TlsConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a program runs with.
 *
 * @param broker the broker's part
 * @param program the program's part
 * @param given the keys that are not defaults, with their origins
 */
record EffectiveConfig(BrokerConfig broker, ProgramConfig program, Map<String, ConfigValue> given) {

    /** {@return all keys that there are} */
    static ConfigSchema schema() {
        return ConfigSchema.of(brokerDefaults(), ProgramConfig.defaults());
    }

    /** {@return the defaults of a broker of its own: unlike an embedded one it keeps its data on disk} */
    static BrokerConfig brokerDefaults() {
        StorageConfig onDisk =
                StorageConfig.builder().kind(StorageConfig.Kind.ROCKSDB).build();
        return BrokerConfig.builder().storage(onDisk).build();
    }

    static EffectiveConfig bind(ConfigSchema schema, Map<String, ConfigValue> given) {
        List<Record> bound = ConfigBinder.bind(schema, given);
        return new EffectiveConfig((BrokerConfig) bound.get(0), (ProgramConfig) bound.get(1), given);
    }

    /** {@return every key with the text of its value, secrets masked} */
    Map<String, String> values() {
        return ConfigSchema.values(broker, program);
    }

    /** {@return where the value of a key comes from} */
    String origin(String key) {
        ConfigValue value = given.get(key);
        return value == null || value.text() == null ? "default" : value.origin();
    }

    /**
     * Refuses what could not be done: modules that are not there, files that cannot be read.
     *
     * @param modules the modules that are there
     * @throws ConfigurationException if there is something
     */
    void requireUsable(Set<String> modules) {
        List<String> problems = new ArrayList<>();
        broker.requiredModules().forEach((key, module) -> {
            if (!modules.contains(module)) {
                problems.add(
                        origin(key) + ": " + key + " needs the module " + module + ", which this build does not have");
            }
        });
        if (program.legacy().managementPaths() && !broker.management().enabled()) {
            problems.add(origin("legacy.management-paths") + ": legacy.management-paths needs management.enabled");
        }
        if (broker.cluster().enabled()) {
            for (String problem : ClusterModule.problems(broker.cluster())) {
                problems.add(origin(problem.substring(0, problem.indexOf(':'))) + ": " + problem);
            }
            ConfigValue name = given.get("cluster.node-id");
            if (name != null && "".equals(name.text())) { // as from a variable that is not set
                problems.add(name.origin()
                        + ": cluster.node-id: must not be empty; without the key the name is made from cluster.bind");
            }
        }
        requireDifferentPorts(problems);
        requireReadable("access.password-file", broker.access().passwordFile(), problems);
        requireReadable("access.acl-file", broker.access().aclFile(), problems);
        requireReadable("management.token-file", broker.management().tokenFile(), problems);
        ManagementTlsConfig management = broker.management().tls();
        if (management != null) {
            requireReadable("management.tls.certificate", management.certificate(), problems);
            requireReadable("management.tls.key", management.key(), problems);
        }
        ClusterTlsConfig nodes = broker.cluster().tls();
        if (nodes != null) {
            requireReadable("cluster.tls", nodes.certificate(), nodes.key(), nodes.clientCa(), problems);
        }
        for (Map.Entry<String, ListenerConfig> listener : broker.listeners().entrySet()) {
            TlsConfig tls = listener.getValue().tls();
            if (tls != null) {
                String block = "listeners." + listener.getKey() + ".tls";
                requireReadable(block, tls.certificate(), tls.key(), tls.clientCa(), problems);
            }
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
    }

    private void requireDifferentPorts(List<String> problems) {
        List<Bound> all = new ArrayList<>();
        broker.listeners()
                .forEach((name, listener) ->
                        all.add(new Bound("listeners." + name + ".port", listener.host(), listener.port())));
        if (broker.management().enabled()) {
            all.add(new Bound(
                    "management.port",
                    broker.management().host(),
                    broker.management().port()));
        }
        for (int i = 0; i < all.size(); i++) {
            for (int j = 0; j < i; j++) {
                Bound later = all.get(i);
                if (later.meets(all.get(j))) {
                    problems.add(origin(later.key) + ": " + later.key + " is " + later.port + ", and " + all.get(j).key
                            + " too, at the same address");
                }
            }
        }
    }

    /**
     * What will be bound.
     *
     * @param key of the port
     * @param host the address
     * @param port 0 for any
     */
    private record Bound(String key, String host, int port) {

        /** Whether both are sure not to be bound at the same time. */
        boolean meets(Bound other) {
            return port != 0
                    && port == other.port
                    && (host.equalsIgnoreCase(other.host) || covers(other) || other.covers(this));
        }

        private boolean covers(Bound other) {
            return host.equals("0.0.0.0") && !other.host.contains(":");
        }
    }

    private void requireReadable(
            String block, Path certificate, Path key, @Nullable Path authorities, List<String> problems) {
        requireReadable(block + ".certificate", certificate, problems);
        requireReadable(block + ".key", key, problems);
        requireReadable(block + ".client-ca", authorities, problems);
    }

    private void requireReadable(String key, @Nullable Path file, List<String> problems) {
        if (file != null && !(Files.isRegularFile(file) && Files.isReadable(file))) {
            problems.add(origin(key) + ": " + key + " names a file that cannot be read: " + file);
        }
    }
}
