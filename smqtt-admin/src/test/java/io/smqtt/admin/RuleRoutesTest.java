// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.RuleStatus;
import io.smqtt.spi.Rules;
import io.smqtt.spi.SampleCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** {@code /rules} of one node, and of a node whose peer n2 answers and whose peer n"3 does not. */
class RuleRoutesTest {

    private static final String FAR = """
            {"answer":{"hot":{"out":{"received":10,"success":4,"dead":1,"status_reason":"no jar"}}}}""";

    @TempDir
    Path directory;

    private final Rules rules = new Rules() {

        @Override
        public List<RuleStatus> status() {
            RuleStatus.Counts counts = new RuleStatus.Counts(5, 0, 2, 0, 3, 0, 3, 0, 0, 0, 0, 0, 0);
            return List.of(new RuleStatus(
                    "hot",
                    "SELECT * FROM \"a\"",
                    "",
                    List.of("a"),
                    List.of(new RuleStatus.Action("out", "republish", null, counts))));
        }

        @Override
        public Mono<String> probe(String rule, String action) {
            return Mono.empty();
        }

        @Override
        public List<ActionType> types() {
            return List.of();
        }

        @Override
        public Mono<String> probe(Map<String, String> keys) {
            return Mono.empty();
        }

        @Override
        public Mono<List<String>> check(String name, Map<String, String> keys) {
            return Mono.just(List.of());
        }

        @Override
        public Mono<Void> put(String name, Map<String, String> keys) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> remove(String name) {
            return Mono.empty();
        }

        @Override
        public Mono<Void> settled() {
            return Mono.empty();
        }

        @Override
        public Mono<Trial> test(String sql, Map<String, ? extends @Nullable Object> fields) {
            return Mono.empty();
        }
    };

    @Test
    void anActionHasItsStateOnOneNode() {
        try (ApiBroker node =
                new ApiBroker(directory, new ManagedBroker.Cluster(null, null, null, null, null, rules))) {
            JsonNode out = node.get("/rules/hot").json().path("actions").path(0);

            assertThat(out.path("status").asText()).isEqualTo("connected");
            assertThat(out.has("status_reason")).isFalse();
            assertThat(out.path("metrics").path("received").asInt()).isEqualTo(5);
            assertThat(out.path("node_status").findValuesAsText("node")).containsExactly("smqtt");
            assertThat(node.get("/rules/none").status()).isEqualTo(404);
        }
    }

    @Test
    void anActionHasItsStateReasonAndCountsOnEachNode() {
        try (ApiBroker node = new ApiBroker(
                directory,
                new ManagedBroker.Cluster(
                        SampleCluster.three(), new OneAnsweringPeer(() -> FAR), null, null, null, rules))) {
            JsonNode all = node.get("/rules").json();

            JsonNode rule = all.path("data").path(0);
            JsonNode out = rule.path("actions").path(0);
            assertThat(out.path("status").asText()).isEqualTo("inconsistent");
            assertThat(out.path("status_reason").asText()).isEqualTo("no jar");
            assertThat(out.path("metrics").path("received").asInt()).isEqualTo(15);
            assertThat(rule.path("metrics").path("matched").asInt()).isEqualTo(15);
            JsonNode here = out.path("node_status").path(0);
            JsonNode there = out.path("node_status").path(1);
            assertThat(here.path("node").asText()).isEqualTo("n1");
            assertThat(here.path("status").asText()).isEqualTo("connected");
            assertThat(here.has("status_reason")).isFalse();
            assertThat(here.path("metrics").path("success").asInt()).isEqualTo(3);
            assertThat(there.path("node").asText()).isEqualTo("n2");
            assertThat(there.path("status").asText()).isEqualTo("disconnected");
            assertThat(there.path("status_reason").asText()).isEqualTo("no jar");
            assertThat(there.path("metrics").toString()).isEqualTo("{\"received\":10,\"success\":4,\"dead\":1}");
            assertThat(all.path("incomplete").path(0).asText()).isEqualTo(OneAnsweringPeer.SILENT);
        }
    }
}
