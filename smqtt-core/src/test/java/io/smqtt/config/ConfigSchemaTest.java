// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ConfigSchemaTest {

    private static final Path BASE = Path.of("");

    static Stream<ConfigKey> keysWithRange() {
        return ConfigSchema.of(BrokerConfig.defaults()).describe().stream()
                .filter(key -> !key.range().isEmpty());
    }

    @ParameterizedTest
    @MethodSource("keysWithRange")
    void documentedRangeIsTheOneThatIsChecked(ConfigKey key) {
        String[] ends = key.range().split(" to ");
        String name = key.name().replace("<name>", "tcp");

        bind(name, ends[0]);
        bind(name, ends[1]);
        assertRefused(name, moved(key, ends[0], -1));
        assertRefused(name, moved(key, ends[1], 1));
    }

    @ParameterizedTest
    @MethodSource("keysWithRange")
    void documentedDefaultIsTheDefault(ConfigKey key) {
        String name = key.name().replace("<name>", "tcp");
        String text = key.name().endsWith(".port") && name.startsWith("listeners") ? "1883" : key.defaultText();

        assertThat(bind(name, text)).isEqualTo(ConfigBinder.bind(BrokerConfig.defaults(), needed(name)));
    }

    @Test
    void fixedKeysExist() {
        assertThat(ConfigSchema.of(BrokerConfig.defaults()).describe())
                .extracting(ConfigKey::name)
                .contains(
                        "listeners.<name>.type",
                        "listeners.<name>.host",
                        "listeners.<name>.port",
                        "listeners.<name>.path",
                        "listeners.<name>.max-connections",
                        "listeners.<name>.connect-timeout",
                        "listeners.<name>.tls.certificate",
                        "listeners.<name>.tls.key",
                        "listeners.<name>.tls.client-ca",
                        "listeners.<name>.tls.client-auth",
                        "listeners.<name>.tls.user-name",
                        "listeners.<name>.proxy-protocol",
                        "listeners.<name>.trusted-proxies",
                        "access.allow-anonymous",
                        "access.password-file",
                        "access.acl-file",
                        "storage.kind",
                        "storage.dir",
                        "storage.sync",
                        "storage.max-bytes",
                        "storage.cache-bytes",
                        "storage.write-buffer-bytes",
                        "storage.replicas",
                        "storage.adoption",
                        "cluster.enabled",
                        "cluster.node-id",
                        "cluster.bind",
                        "cluster.seeds",
                        "cluster.discovery",
                        "cluster.tls.certificate",
                        "cluster.secret",
                        "cluster.publish-ack",
                        "cluster.subscribe-sync",
                        "cluster.role",
                        "cluster.relay.bind",
                        "management.host",
                        "management.port",
                        "management.token-file",
                        "management.enabled",
                        "management.sys-interval")
                .doesNotHaveDuplicates();
    }

    @Test
    void secretsAreMasked() {
        BrokerConfig config = BrokerConfig.builder()
                .cluster(ClusterConfig.builder().secret("0123456789abcdef").build())
                .build();

        assertThat(ConfigSchema.values(config)).containsEntry("cluster.secret", "***");
        assertThat(config.toString()).doesNotContain("0123456789abcdef");
    }

    @Test
    void modulesThatAreNeededAreNamed() {
        BrokerConfig config = BrokerConfig.builder()
                .storage(
                        StorageConfig.builder().kind(StorageConfig.Kind.ROCKSDB).build())
                .cluster(ClusterConfig.builder().enabled(true).build())
                .build();

        assertThat(BrokerConfig.defaults().requiredModules()).isEmpty();
        assertThat(config.requiredModules())
                .isEqualTo(Map.of("storage.kind", "smqtt-persistence", "cluster.enabled", "smqtt-cluster"));
    }

    @Test
    void shorterMaximumExpiryShortensTheDefaultExpiry() {
        SessionConfig config =
                SessionConfig.builder().maxExpiry(Duration.ofHours(1)).build();

        assertThat(config.defaultExpiry()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void proxyProtocolWithoutTrustedNetworksIsRefused() {
        assertThatThrownBy(() ->
                        ListenerConfig.tcp(0).toBuilder().proxyProtocol(true).build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("trusted-proxies");
    }

    @Test
    void valuesAreReadBackFromTheirText() {
        BrokerConfig config = BrokerConfig.builder()
                .listeners(Map.of(
                        "secure",
                        ListenerConfig.tcp(8883).toBuilder()
                                .tls(TlsConfig.builder(Path.of("/a"), Path.of("/b"))
                                        .build())
                                .trustedProxies(List.of("10.0.0.0/8", "::1"))
                                .build()))
                .limits(LimitsConfig.builder()
                        .slowConsumerTimeout(Duration.ofMillis(1_500))
                        .maxQueuedBytes(1_500)
                        .build())
                .eventLoops(3)
                .build();
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        ConfigSchema.values(config).forEach((key, text) -> values.put(key, new ConfigValue(text, "printed", BASE)));
        values.put("listeners.tcp.enabled", new ConfigValue("false", "printed", BASE));
        values.put("listeners.ws.enabled", new ConfigValue("false", "printed", BASE));

        assertThat(ConfigBinder.bind(BrokerConfig.defaults(), values)).isEqualTo(config);
    }

    private static String moved(ConfigKey key, String end, int by) {
        ConfigText.Kind kind = key.type().contains("a duration") ? ConfigText.Kind.DURATION : ConfigText.Kind.SIZE;
        if (kind == ConfigText.Kind.DURATION) {
            Duration duration = (Duration) ConfigText.parse(kind, Duration.class, end, BASE);
            return duration.plusMillis(by).toString();
        }
        if (key.type().startsWith("a number")) {
            return Double.toString(Double.parseDouble(end) + by);
        }
        return Long.toString((Long) ConfigText.parse(kind, long.class, end, BASE) + by);
    }

    private static void assertRefused(String name, String text) {
        assertThatThrownBy(() -> bind(name, text))
                .as(name + "=" + text)
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("test: " + name + " must be");
    }

    private static BrokerConfig bind(String name, String text) {
        Map<String, ConfigValue> values = needed(name);
        values.put(name, new ConfigValue(text, "test", BASE));
        return ConfigBinder.bind(BrokerConfig.defaults(), values);
    }

    /** What has to be there for a key to be allowed. */
    private static Map<String, ConfigValue> needed(String name) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        if (name.startsWith("management.tls.")) {
            values.put("management.tls.certificate", new ConfigValue("server.crt", "needed", BASE));
            values.put("management.tls.key", new ConfigValue("server.key", "needed", BASE));
        }
        if (name.startsWith("auto-subscriptions.") && !name.endsWith(".topic")) {
            values.put("auto-subscriptions.tcp.topic", new ConfigValue("a", "needed", BASE));
        }
        if (name.startsWith("retained-policies.") && !name.endsWith(".topic")) {
            values.put("retained-policies.tcp.topic", new ConfigValue("a", "needed", BASE));
        }
        if (name.startsWith("validations.")) {
            values.put("validations.tcp.topics", new ConfigValue("a", "needed", BASE));
            values.put("validations.tcp.folder", new ConfigValue("schemas", "needed", BASE));
            values.put("validations.tcp.schemas", new ConfigValue("a.json", "needed", BASE));
        }
        if (name.equals("storage.replicas")) {
            values.put("storage.kind", new ConfigValue("rocksdb", "needed", BASE));
            values.put("cluster.enabled", new ConfigValue("true", "needed", BASE));
            values.put("cluster.node-id", new ConfigValue("a", "needed", BASE));
            values.put("cluster.secret", new ConfigValue("0123456789abcdef", "needed", BASE));
            values.put("cluster.nodes", new ConfigValue("a=h:1,b=h:2,c=h:3,d=h:4,e=h:5", "needed", BASE));
        }
        if (name.equals("cluster.role") || name.equals("cluster.relay.bind")) {
            values.put("cluster.enabled", new ConfigValue("true", "needed", BASE));
            values.put("cluster.secret", new ConfigValue("0123456789abcdef", "needed", BASE));
        }
        if (name.startsWith("sources.")) {
            values.put("sources.tcp.type", new ConfigValue("http", "needed", BASE));
            values.put("sources.tcp.topic", new ConfigValue("a", "needed", BASE));
        }
        if (name.equals("sources.tcp.min-delay")) { // not more than the other one
            values.put("sources.tcp.max-delay", new ConfigValue("1d", "needed", BASE));
        }
        if (name.equals("sources.tcp.max-delay")) {
            values.put("sources.tcp.min-delay", new ConfigValue("1ms", "needed", BASE));
        }
        if (name.startsWith("rules.") && !name.endsWith(".sql")) {
            values.put("rules.tcp.sql", new ConfigValue("SELECT * FROM \"a\"", "needed", BASE));
        }
        if (name.startsWith("rules.tcp.actions.") && !name.endsWith(".type")) {
            values.put("rules.tcp.actions.tcp.type", new ConfigValue("console", "needed", BASE));
        }
        if (name.equals("rules.tcp.actions.tcp.min-delay")) { // not more than the other one
            values.put("rules.tcp.actions.tcp.max-delay", new ConfigValue("1d", "needed", BASE));
        }
        if (name.equals("rules.tcp.actions.tcp.max-delay")) {
            values.put("rules.tcp.actions.tcp.min-delay", new ConfigValue("1ms", "needed", BASE));
        }
        if (name.startsWith("access.backends.")) {
            values.put("access.backends.tcp.type", new ConfigValue("http", "needed", BASE));
            values.put("access.chain", new ConfigValue("tcp", "needed", BASE));
        }
        if (name.startsWith("bridges.")) {
            values.put("bridges.tcp.addresses", new ConfigValue("127.0.0.1:1", "needed", BASE));
            values.put("bridges.tcp.topics", new ConfigValue("a out", "needed", BASE));
        }
        if (name.equals("bridges.tcp.min-delay")) { // not more than the other one
            values.put("bridges.tcp.max-delay", new ConfigValue("1d", "needed", BASE));
        }
        if (name.equals("bridges.tcp.max-delay")) {
            values.put("bridges.tcp.min-delay", new ConfigValue("10ms", "needed", BASE));
        }
        for (String block : List.of("management.otlp.", "management.influx.", "management.tracing.")) {
            if (name.startsWith(block)) {
                values.put(block + "url", new ConfigValue("http://127.0.0.1:1", "needed", BASE));
            }
        }
        return values;
    }
}
