// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.topic.TopicFilter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BridgeChecksTest {

    @TempDir
    Path directory;

    private static List<String> problems(Map<String, BridgeConfig> bridges) {
        return BridgeChecks.problems(BrokerConfig.builder().bridges(bridges).build());
    }

    private static BridgeConfig to(String address, String clientId, String topic) {
        return BridgeConfig.builder(address, topic).clientId(clientId).build();
    }

    @Test
    void twoBridgesWithOneClientIdentifierAreRefused() {
        assertThat(problems(Map.of("a", to("h:1883", "x", "a out"), "b", to("h:1883", "x", "b out"))))
                .containsExactly(
                        "bridges.b.client-id is also that of bridges.a.client-id: h:1883 would end one connection"
                                + " for the other");
        assertThat(problems(Map.of("a", to("h:1883", "x", "a out"), "b", to("h:1884", "x", "b out"))))
                .isEmpty();
    }

    @Test
    void twoBridgesThatSendTheSameInCirclesAreRefused() {
        assertThat(problems(Map.of("a", to("h:1883", "x", "a/# both"), "b", to("h:1883", "y", "a/+ both"))))
                .containsExactly(
                        "bridges.b.topics has a/+ in both directions, and so has bridges.a.topics: messages would go"
                                + " twice to h:1883, and in circles");
        assertThat(problems(Map.of("a", to("h:1883", "x", "a/# both"), "b", to("h:1883", "y", "b/+ both"))))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "a/# both, a/#, a/#",
        "a/# out;a/b in, a/#, a/b",
        "a/# out 1 '' r/;b in 1 '' r/, a/#, ''",
        "a/# out => x/$1;b/# in 1 a/ x/, a/#, a/b/#",
        "a/# out => b/$1;b/# in, a/#, ''"
    })
    void severalConnectionsNeedTopicsThatDoNotComeBack(String topics, String out, String in) {
        BridgeConfig bridge = BridgeConfig.builder(
                        "h:1883", topics.replace("''", "\"\"").split(";"))
                .clientId("x")
                .connections(2)
                .build();

        assertThat(problems(Map.of("a", bridge)))
                .isEqualTo(
                        in.isEmpty()
                                ? List.of()
                                : List.of("bridges.a.connections must be 1 for " + out
                                        + ", which goes out and comes in as " + in
                                        + ": what one connection sends would come back by another one"));
        assertThat(problems(Map.of("a", bridge.toBuilder().connections(1).build())))
                .isEmpty();
    }

    @Test
    void theClientIdentifiersOfConnectionsMustBeFree() {
        BridgeConfig two = to("h:1883", "x", "a out").toBuilder().connections(2).build();

        assertThat(problems(Map.of("a", two, "b", to("h:1883", "x-2", "b out"))))
                .containsExactly(
                        "bridges.b.client-id is also that of bridges.a.client-id: h:1883 would end one connection"
                                + " for the other");
    }

    @Test
    void inAClusterTheClientIdentifierMustBeSet() {
        ClusterConfig cluster =
                ClusterConfig.builder().enabled(true).nodeId("n1").build();
        BridgeConfig unnamed = BridgeConfig.builder("h:1883", "a").build();

        assertThat(BridgeChecks.problems(BrokerConfig.builder()
                        .cluster(cluster)
                        .bridges(Map.of(
                                "a",
                                unnamed,
                                "b",
                                unnamed.toBuilder()
                                        .nodes(BridgeConfig.Nodes.EACH)
                                        .build()))
                        .build()))
                .containsExactly(
                        "bridges.a.client-id must be set in a cluster, so that the session at the other broker does"
                                + " not depend on the node");
    }

    @Test
    void allFilesThatCannotBeReadAreNamed() {
        BridgeConfig gone = BridgeConfig.builder("h:1883", "a")
                .username("u")
                .passwordFile(directory.resolve("gone"))
                .build();
        BrokerConfig config =
                BrokerConfig.builder().bridges(Map.of("a", gone, "b", gone)).build();

        assertThatThrownBy(() -> new BridgeProvider().check(config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("bridges.a.password-file")
                .hasMessageContaining("bridges.b.password-file");
    }

    @ParameterizedTest
    @CsvSource({
        "a/b, a/b, true",
        "a/b, a/c, false",
        "a/+, +/b, true",
        "a/+, a, false",
        "a/#, a, true",
        "a/#, a/b/c, true",
        "a/#, b/#, false",
        "+/+, a/b/c, false",
        "#, a, true",
    })
    void filtersOverlapIfATopicMatchesBoth(String one, String other, boolean expected) {
        assertThat(BridgeChecks.overlap(TopicFilter.of(one), TopicFilter.of(other)))
                .isEqualTo(expected);
        assertThat(BridgeChecks.overlap(TopicFilter.of(other), TopicFilter.of(one)))
                .isEqualTo(expected);
    }
}
