// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigBinder;
import io.smqtt.config.ConfigSchema;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementTlsConfig;
import io.smqtt.config.SecretMask;
import io.smqtt.config.StorageConfig;
import io.smqtt.config.TlsConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The configuration that a program runs with.
 *
 * @param broker the broker's part
 * @param program the program's part
 * @param given the keys that are not defaults, with their origins
 * @param problems what is wrong with keys and values, one sentence each; defaults stand in the place of what was refused
 * @param refused the keys whose values are not among those above
 */
record EffectiveConfig(
        BrokerConfig broker,
        ProgramConfig program,
        Map<String, ConfigValue> given,
        List<String> problems,
        Set<String> refused) {

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
        return tryBind(schema, given, List.of()).requireBound();
    }

    /** Binds what can be bound, for a look at all problems; those that were found while the values were read come first. */
    static EffectiveConfig tryBind(ConfigSchema schema, Map<String, ConfigValue> given, List<String> earlier) {
        ConfigBinder.Bound bound = ConfigBinder.tryBind(schema, withDefaults(given));
        List<String> problems = new ArrayList<>(earlier);
        problems.addAll(bound.problems());
        return new EffectiveConfig(
                (BrokerConfig) bound.records().get(0),
                (ProgramConfig) bound.records().get(1),
                given,
                problems,
                bound.refused());
    }

    /** Adds the default of a front node, which stores nothing. */
    private static Map<String, ConfigValue> withDefaults(Map<String, ConfigValue> given) {
        ConfigValue role = given.get("cluster.role");
        if (role == null || !"front".equalsIgnoreCase(role.text()) || given.containsKey("storage.kind")) {
            return given;
        }
        Map<String, ConfigValue> all = new LinkedHashMap<>(given);
        all.put("storage.kind", new ConfigValue("memory", "default", role.base()));
        return all;
    }

    /** {@return this, whose keys and values are all right} */
    EffectiveConfig requireBound() {
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        return this;
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
     * Refuses what could not be done: wrong values, modules that are not there, ports that meet, files that cannot be read.
     *
     * @param modules the modules that are there
     * @throws ConfigurationException if there is something; then with all that {@link #requireChecked} finds
     */
    void requireUsable(Set<String> modules) {
        Faults faults = faults(modules);
        if (!faults.all().isEmpty()) {
            throw new ConfigurationException(withFiles(faults));
        }
    }

    /**
     * Refuses what a start would refuse, and looks into all files for it. Blocks.
     *
     * @param modules the modules that are there
     * @throws ConfigurationException with all problems that were found
     */
    void requireChecked(Set<String> modules) {
        List<String> all = withFiles(faults(modules));
        if (!all.isEmpty()) {
            throw new ConfigurationException(all);
        }
    }

    /** What a start said, and all else that is wrong, with the places that values come from. */
    ConfigurationException explained(ConfigurationException start, Set<String> modules) {
        Set<String> all = new LinkedHashSet<>();
        start.problems().forEach(problem -> all.add(located(problem)));
        all.addAll(withFiles(faults(modules)));
        return new ConfigurationException(List.copyOf(all));
    }

    /**
     * Problems found without reading any of the files that the configuration names.
     *
     * @param all one sentence each
     * @param files the keys, and the files that they name, that cannot be read
     */
    private record Faults(List<String> all, Set<String> files) {}

    private List<String> withFiles(Faults faults) {
        Set<String> all = new LinkedHashSet<>(faults.all());
        try {
            BrokerStarter.composition(broker).check();
        } catch (ConfigurationException e) {
            e.problems().stream()
                    .filter(problem -> faults.files().stream().noneMatch(problem::contains))
                    .map(this::located)
                    .forEach(all::add);
        }
        return List.copyOf(all);
    }

    /** Puts the place in front that the value of the key comes from that a problem begins with. */
    private String located(String problem) {
        return given.entrySet().stream()
                .filter(entry -> problem.startsWith(entry.getKey())
                        && problem.length() > entry.getKey().length()
                        && ": ".indexOf(problem.charAt(entry.getKey().length())) >= 0
                        && entry.getValue().text() != null)
                .map(entry -> entry.getValue().origin() + ": " + problem)
                .findFirst()
                .orElse(problem);
    }

    private Faults faults(Set<String> modules) {
        List<String> all = new ArrayList<>(problems);
        Set<String> files = new HashSet<>();
        requireModules(modules, all);
        requireCluster(all);
        requireDifferentPorts(all);
        requireHosts(all);
        requireFiles(new Faults(all, files));
        return new Faults(all, files);
    }

    private void requireModules(Set<String> modules, List<String> problems) {
        broker.requiredModules().forEach((key, module) -> {
            if (!modules.contains(module)) {
                problems.add(
                        origin(key) + ": " + key + " needs the module " + module + ", which this build does not have");
            }
        });
        if (program.legacy().managementPaths() && !broker.management().enabled()) {
            problems.add(origin("legacy.management-paths") + ": legacy.management-paths needs management.enabled");
        }
    }

    private void requireCluster(List<String> problems) {
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
    }

    private void requireFiles(Faults problems) {
        requireDirectory(problems);
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
    }

    /** All that will be bound; without what was refused, for nothing is known of it. */
    private List<Bound> bound() {
        List<Bound> all = new ArrayList<>();
        broker.listeners().forEach((name, listener) -> {
            String key = "listeners." + name + ".";
            all.add(new Bound(key + "port", key + "port", key + "host", listener.host(), listener.port()));
        });
        if (broker.management().enabled()) {
            ManagementConfig management = broker.management();
            all.add(new Bound(
                    "management.port", "management.port", "management.host", management.host(), management.port()));
        }
        ClusterConfig cluster = broker.cluster();
        if (cluster.enabled()) {
            String bind = "cluster.bind";
            String host =
                    cluster.bind().substring(0, cluster.bind().lastIndexOf(':')).replaceAll("[\\[\\]]", "");
            int port = Integer.parseInt(cluster.bind().substring(cluster.bind().lastIndexOf(':') + 1));
            all.add(new Bound(bind, "the port of cluster.bind", bind, host, port));
        }
        all.removeIf(one -> refused.contains(one.key) || refused.contains(one.hostKey));
        return all;
    }

    /** The names are looked up, as a start would. */
    private void requireHosts(List<String> problems) {
        for (Bound one : bound()) {
            if (!one.key.equals("cluster.bind")) { // which has been looked up
                try {
                    InetAddress.getByName(one.host);
                } catch (UnknownHostException e) {
                    problems.add(origin(one.hostKey) + ": " + one.hostKey + ": there is no host " + one.host);
                }
            }
        }
    }

    private void requireDifferentPorts(List<String> problems) {
        List<Bound> all = bound();
        for (int i = 0; i < all.size(); i++) {
            for (int j = 0; j < i; j++) {
                Bound later = all.get(i);
                if (later.meets(all.get(j))) {
                    problems.add(origin(later.key) + ": " + later.what + " is " + later.port + ", and "
                            + all.get(j).what + " too, at the same address");
                }
            }
        }
    }

    /**
     * An address that will be bound.
     *
     * @param key of the port
     * @param what the port, for people
     * @param hostKey of the address
     * @param host the address
     * @param port 0 for any
     */
    private record Bound(String key, String what, String hostKey, String host, int port) {

        /** Whether both are sure not to be bound at the same time. */
        boolean meets(Bound other) {
            return port != 0
                    && port == other.port
                    && !(key.equals(other.key))
                    && (host.equalsIgnoreCase(other.host) || covers(other) || other.covers(this));
        }

        private boolean covers(Bound other) {
            return host.equals("::") || (host.equals("0.0.0.0") && !other.host.contains(":"));
        }
    }

    /** The data directory need not exist, but nothing else may stand in its place. */
    private void requireDirectory(Faults problems) {
        Path directory = broker.storage().dir();
        if (broker.storage().kind() == StorageConfig.Kind.ROCKSDB
                && Files.exists(directory)
                && !Files.isDirectory(directory)) {
            problems.all()
                    .add(origin("storage.dir") + ": storage.dir: " + SecretMask.path(directory)
                            + " is a file, but must be a directory");
        }
    }

    private void requireReadable(String block, Path certificate, Path key, @Nullable Path authorities, Faults faults) {
        requireReadable(block + ".certificate", certificate, faults);
        requireReadable(block + ".key", key, faults);
        requireReadable(block + ".client-ca", authorities, faults);
    }

    private void requireReadable(String key, @Nullable Path file, Faults faults) {
        String problem = file == null ? null : FileProblem.of(file);
        if (file != null && problem != null) {
            faults.all().add(origin(key) + ": " + key + ": the file " + SecretMask.path(file) + " " + problem);
            faults.files().add(key);
            faults.files().add(file.toString());
        }
    }
}
