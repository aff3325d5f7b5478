// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigBinderTest {

    private static final Path BASE = Path.of("/etc/smqtt");

    @Test
    void noKeysGiveTheDefaults() {
        assertThat(bind()).isEqualTo(BrokerConfig.defaults());
    }

    @Test
    void oneKeyOfAListenerLeavesTheOthers() {
        BrokerConfig config = bind("listeners.tcp.port", "1884");

        assertThat(config.listeners()).containsOnlyKeys("tcp", "ws");
        assertThat(config.listeners().get("tcp")).isEqualTo(ListenerConfig.tcp(1884));
        assertThat(config.listeners().get("ws")).isEqualTo(ListenerConfig.ws(8083));
    }

    @Test
    void disabledListenerIsRemoved() {
        assertThat(bind("listeners.tcp.enabled", "false").listeners()).containsOnlyKeys("ws");
    }

    @Test
    void newListenerBeginsWithTheDefaultsOfItsType() {
        BrokerConfig config = bind("listeners.lan.type", "WS", "listeners.lan.port", "9001");

        assertThat(config.listeners()).containsOnlyKeys("tcp", "ws", "lan");
        assertThat(config.listeners().get("lan")).isEqualTo(ListenerConfig.ws(9001));
    }

    @Test
    void newListenerWithoutTypeIsRefused() {
        assertThat(problems("listeners.lan.port", "9001"))
                .containsExactly("here: listeners.lan.type must be set, to one of tcp, ws");
    }

    @Test
    void twoListenersOnOneAddressAreRefused() {
        assertThat(problems("listeners.ws.port", "1883"))
                .containsExactly("here: listeners.ws.port is already taken by listener tcp: 0.0.0.0:1883");
    }

    @Test
    void tlsBlockIsMadeOfItsKeysAndFallbacks() {
        BrokerConfig config = bind("listeners.tcp.tls.certificate", "a.pem", "listeners.tcp.tls.key", "/keys/a.key");

        assertThat(config.listeners().get("tcp").tls())
                .isEqualTo(new TlsConfig(
                        BASE.resolve("a.pem"),
                        Path.of("/keys/a.key"),
                        null,
                        TlsConfig.ClientAuth.NONE,
                        TlsConfig.CertificateUserName.NONE));
    }

    @Test
    void incompleteTlsBlockIsRefused() {
        assertThat(problems("listeners.tcp.tls.certificate", "a.pem"))
                .containsExactly("here: listeners.tcp.tls.key must be set");
    }

    @Test
    void nodesOfAClusterAlwaysVerifyEachOther() {
        assertThat(bind(
                                "cluster.tls.certificate", "a.pem",
                                "cluster.tls.key", "a.key",
                                "cluster.tls.client-ca", "ca.pem")
                        .cluster()
                        .tls())
                .isEqualTo(new ClusterTlsConfig(BASE.resolve("a.pem"), BASE.resolve("a.key"), BASE.resolve("ca.pem")));
        assertThat(problems("cluster.tls.certificate", "a.pem", "cluster.tls.key", "a.key"))
                .containsExactly("here: cluster.tls.client-ca must be set");
        assertThat(problems("cluster.tls.client-auth", "none")).anyMatch(problem -> problem.contains("unknown key"));
    }

    @Test
    void ruleBetweenKeysNamesTheWholeKey() {
        assertThat(problems(
                        "listeners.tcp.tls.certificate", "a",
                        "listeners.tcp.tls.key", "b",
                        "listeners.tcp.tls.client-auth", "required"))
                .containsExactly("listeners.tcp.tls.client-ca must be set if tls.client-auth is optional or required");
    }

    @ParameterizedTest
    @CsvSource({"5s, PT5S", "250ms, PT0.25S", "1h, PT1H", "10m, PT10M", "1d, PT24H", "PT7S, PT7S", "90 s, PT90S"})
    void durationsHaveUnits(String text, Duration expected) {
        assertThat(bind("limits.slow-consumer-timeout", text).limits().slowConsumerTimeout())
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "64KiB, 65536",
        "1MiB, 1048576",
        "16MB, 16000000",
        "2GiB, 2147483648",
        "1_000, 1000",
        "77, 77",
        "5 mib, 5242880",
        "100B, 100"
    })
    void sizesHaveUnits(String text, long expected) {
        assertThat(bind("limits.max-queued-bytes", text).limits().maxQueuedBytes())
                .isEqualTo(expected);
    }

    @Test
    void sizeMayBeAShareOfTheHeap() {
        assertThat(bind("limits.max-total-queued-bytes", "25%").limits()).isEqualTo(LimitsConfig.defaults());
    }

    @ParameterizedTest
    @CsvSource({
        "cluster.forget-after, never",
        "management.sys-interval, never",
        "mqtt.max-keep-alive, unlimited",
    })
    void zeroMayHaveAWord(String key, String word) {
        assertThat(ConfigSchema.values(bind(key, word))).containsEntry(key, word);
        assertThat(bind(key, word.toUpperCase(Locale.ROOT))).isEqualTo(bind(key, "0s"));
        assertThat(bind(key, "1m")).isNotEqualTo(bind(key, "0s"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ROUND_ROBIN", "round-robin", "Round_Robin"})
    void wordsIgnoreCase(String text) {
        assertThat(bind("mqtt.shared-strategy", text).mqtt().sharedStrategy()).isEqualTo(SharedStrategy.ROUND_ROBIN);
    }

    @Test
    void listsAreSeparatedByCommas() {
        BrokerConfig config =
                bind("listeners.tcp.proxy-protocol", "true", "listeners.tcp.trusted-proxies", "10.0.0.0/8, fd00::/8,");

        assertThat(config.listeners().get("tcp").trustedProxies()).containsExactly("10.0.0.0/8", "fd00::/8");
    }

    @Test
    void relativePathsAreRelativeToTheirSource() {
        BrokerConfig config = bind("access.password-file", "users/../passwords", "access.acl-file", "/acl");

        assertThat(config.access().passwordFile()).isEqualTo(BASE.resolve("passwords"));
        assertThat(config.access().aclFile()).isEqualTo(Path.of("/acl"));
    }

    @Test
    void emptyTextUnsetsWhatMayBeAbsent() {
        assertThat(bind("access.password-file", "").access().passwordFile()).isNull();
    }

    @Test
    void keyWithoutValueLeavesTheDefaultWhereItMayBeAbsent() {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        values.put("limits", new ConfigValue(null, "here", BASE));
        values.put("access.acl-file", new ConfigValue(null, "here", BASE));

        assertThat(ConfigBinder.bind(BrokerConfig.defaults(), values)).isEqualTo(BrokerConfig.defaults());
    }

    @Test
    void keyWithoutValueIsRefusedWhereItMustHaveOne() {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        values.put("mqtt.max-qos", new ConfigValue(null, "here", BASE));

        assertThatThrownBy(() -> ConfigBinder.bind(BrokerConfig.defaults(), values))
                .hasMessage("here: mqtt.max-qos has no value: set one, or remove the key for its default");
    }

    @Test
    void everyValueOfABlockIsLookedAt() {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        values.put("limits.max-in-flight", new ConfigValue("0", "a", BASE));
        values.put("limits.receive-maximum", new ConfigValue("0", "b", BASE));
        values.put("limits.max-topic-levels", new ConfigValue("x", "c", BASE));
        values.put("listeners.ws.port", new ConfigValue("1883", "d", BASE));

        ConfigBinder.Bound bound = ConfigBinder.tryBind(ConfigSchema.of(BrokerConfig.defaults()), values);

        assertThat(bound.problems())
                .hasSize(4)
                .anyMatch(problem -> problem.startsWith("a: limits.max-in-flight must be"))
                .anyMatch(problem -> problem.startsWith("b: limits.receive-maximum must be"))
                .anyMatch(problem -> problem.startsWith("c: limits.max-topic-levels must be"))
                .anyMatch(problem -> problem.startsWith("d: listeners.ws.port is already taken"));
        assertThat(bound.refused())
                .containsExactlyInAnyOrder(
                        "limits.max-in-flight",
                        "limits.receive-maximum",
                        "limits.max-topic-levels",
                        "listeners.ws.port");
        assertThat(((BrokerConfig) bound.records().get(0)).listeners()).containsOnlyKeys("tcp");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "listeners.tcp.port      | abc  | must be an integer, but is \"abc\"",
                "listeners.tcp.port      | ''   | must be an integer, but is \"\"",
                "listeners.tcp.port      | 65536 | must be 0 to 65535, but is 65536",
                "limits.max-packet-bytes | 1GiB | must be 16 to 268435460, but is 1073741824",
                "limits.max-packet-bytes | 9999999999 | must be a size such as 64KiB, 1MiB or 16MB, but is \"9999999999\"",
                "limits.max-packet-bytes | 1 bucket | must be a size such as 64KiB, 1MiB or 16MB, but is \"1 bucket\"",
                "session.max-expiry      | 10   | must be a duration such as 250ms, 5s or 1h, but is \"10\"",
                "session.max-expiry      | never | must be a duration such as 250ms, 5s or 1h, but is \"never\"",
                "cluster.forget-after    | ever | must be never or a duration such as 250ms, 5s or 1h, but is \"ever\"",
                "mqtt.max-keep-alive     | none | must be unlimited or a duration such as 250ms, 5s or 1h, but is \"none\"",
                "management.sys-interval | 1ms  | must be never or at least 100ms, but is 1ms",
                "session.drop-policy     | all  | must be one of newest, oldest, but is \"all\"",
                "session.queue-qos0      | yes  | must be true or false, but is \"yes\"",
                "listeners.tcp.enabled   | no   | must be true or false, but is \"no\"",
                "cluster.seeds           | a    | must be host:port",
                "storage.dir             | ''   | must be a path, but is \"\"",
                "listeners.tcp.trusted-proxies | 10.0.0.300 | must hold networks such as 10.0.0.0/8 or fd00::/8",
                "listeners.tcp.path      | mqtt | must begin with / and hold no space, ? or #",
                "limits                  | 5    | is a block of keys and cannot have a value",
            })
    void wrongValueIsNamedWithItsOriginAndWhatIsExpected(String key, String text, String problem) {
        assertThat(problems(key, text))
                .singleElement()
                .asString()
                .startsWith("here: " + key + " ")
                .endsWith(problem);
    }

    @Test
    void wrongSecretIsNotShown() {
        assertThat(problems("cluster.secret", "hunter2"))
                .containsExactly("here: cluster.secret must have at least 16 characters");
    }

    @ParameterizedTest
    @CsvSource({
        "listeners.tcp.prot, listeners.tcp.port",
        "listeners.ws.max-conections, listeners.ws.max-connections",
        "limits.maxInFlight, limits.max-in-flight",
        "acces.password-file, access.password-file",
        "storage.directory, storage.dir",
        "management.token, management.token-file",
        "eventloops, event-loops"
    })
    void unknownKeyIsNamedWithTheNearestKnownOne(String key, String nearest) {
        assertThat(problems(key, "1")).containsExactly("here: unknown key " + key + ", did you mean " + nearest + "?");
    }

    @Test
    void unknownKeyFarFromAllOthersIsNamedAlone() {
        assertThat(problems("zzzzzzzzzz", "1")).containsExactly("here: unknown key zzzzzzzzzz");
        assertThat(problems("management.zzzz", "1"))
                .as("the block alone makes no key near")
                .containsExactly("here: unknown key management.zzzz");
    }

    @Test
    void allProblemsAreFoundAtOnce() {
        assertThat(problems(
                        "listeners.tcp.port", "x", "limits.max-in-flight", "0", "mqtt.max-qos", "3", "foo.bar", "1"))
                .hasSize(4);
    }

    @Test
    void problemsAreInTheOrderOfFilesAndLines() {
        ConfigurationException refused = new ConfigurationException(List.of(
                "environment SMQTT_X: unknown key x",
                "b.yaml:10: tenth",
                "a:1: of another file",
                "b.yaml:9: ninth",
                "listeners.tcp.host: ::1:7: is no address",
                "b.yaml:10: tenth again"));

        assertThat(refused.problems())
                .containsExactly(
                        "b.yaml:9: ninth",
                        "b.yaml:10: tenth",
                        "b.yaml:10: tenth again",
                        "a:1: of another file",
                        "environment SMQTT_X: unknown key x",
                        "listeners.tcp.host: ::1:7: is no address");
    }

    @Test
    void whatGoesTogetherIsReportedWhereAPartOfItWasGiven() {
        for (String given : List.of("user", "password", "org", "bucket", "token")) {
            assertThat(problems("management.influx.url", "http://127.0.0.1:8086", "management.influx." + given, "x"))
                    .singleElement()
                    .asString()
                    .startsWith("here: management.influx." + given + " needs influx.");
        }
    }

    @Test
    void recordOutsideOfTheSchemaIsARootOfItsOwn() {
        List<Record> bound = ConfigBinder.bind(
                ConfigSchema.of(BrokerConfig.defaults(), new Extra("old", 1)),
                values("colour", "new", "event-loops", "3"));

        assertThat(bound.get(1)).isEqualTo(new Extra("new", 1));
        assertThat(((BrokerConfig) bound.get(0)).eventLoops()).isEqualTo(3);
    }

    @Test
    void componentsOfAListenerNameMustBePlain() {
        assertThatThrownBy(() -> BrokerConfig.builder()
                        .listener("Ä", ListenerConfig.tcp(0))
                        .build())
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("listeners.Ä");
    }

    private record Extra(String colour, int shade) {}

    private static BrokerConfig bind(String... keysAndTexts) {
        return ConfigBinder.bind(BrokerConfig.defaults(), values(keysAndTexts));
    }

    private static List<String> problems(String... keysAndTexts) {
        ConfigurationException problem = catchThrowableOfType(ConfigurationException.class, () -> bind(keysAndTexts));
        assertThat(problem).as("refused").isNotNull();
        return problem.problems();
    }

    private static Map<String, ConfigValue> values(String... keysAndTexts) {
        Map<String, ConfigValue> values = new LinkedHashMap<>();
        for (int i = 0; i < keysAndTexts.length; i += 2) {
            values.put(keysAndTexts[i], new ConfigValue(keysAndTexts[i + 1], "here", BASE));
        }
        return values;
    }
}
