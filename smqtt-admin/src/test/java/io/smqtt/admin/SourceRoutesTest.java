// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.spi.ActionType;
import io.smqtt.spi.PeerQueries;
import io.smqtt.spi.SampleCluster;
import io.smqtt.spi.SourceStatus;
import io.smqtt.spi.SourceStatus.State;
import io.smqtt.spi.Sources;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** {@code /sources} of one node, and of a node whose peer n2 answers and whose peer n"3 does not. */
class SourceRoutesTest {

    private static final String FAR = """
            {"answer":{"rows":[{"name":"orders","type":"kafka","status":"%s","status_reason":"no broker",
            "metrics":{"received":10,"published":20,"refused":30,"failed":40,"inflight":50,"rejected":60}}]}}""";

    @TempDir
    Path directory;

    private final List<String> operations = new CopyOnWriteArrayList<>();
    private volatile String farStatus = "failing";

    private final Sources sources = new Sources() {

        @Override
        public List<SourceStatus> status() {
            return List.of(
                    new SourceStatus("orders", "kafka", State.RUNNING, null, 15, 1, 2, 3, 9, 4, 70L),
                    new SourceStatus("hook", "http", State.FAILING, "Failed to bind", 0, 0, 0, 0, 0, 0, null));
        }

        @Override
        public boolean operate(String name, Operation operation) {
            operations.add(operation + " " + name);
            return !name.equals("none");
        }

        @Override
        public Mono<String> probe(String name) {
            return switch (name) {
                case "orders" -> Mono.just("");
                case "hook" -> Mono.just("it does not listen");
                default -> Mono.empty();
            };
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
    };

    private final PeerQueries peers = new OneAnsweringPeer(() -> FAR.formatted(farStatus));

    private ApiBroker alone() {
        return new ApiBroker(directory, new ManagedBroker.Cluster(null, null, null, null, sources));
    }

    @Test
    void sourcesHaveStateAndCounts() {
        try (ApiBroker node = alone()) {
            JsonNode all = node.get("/sources").json();

            assertThat(all.path("data").findValuesAsText("id")).containsExactly("hook", "orders");
            assertThat(all.has("incomplete")).isFalse();
            JsonNode orders = all.path("data").path(1);
            assertThat(node.get("/sources/orders").json()).isEqualTo(orders);
            assertThat(orders.path("status").asText()).isEqualTo("running");
            assertThat(orders.path("metrics").toString())
                    .isEqualTo(
                            "{\"received\":15,\"published\":1,\"refused\":2,\"failed\":3,\"inflight\":9,\"rejected\":4}");
            assertThat(orders.path("node_status").path(0).path("lag").asLong()).isEqualTo(70);
            JsonNode hook = all.path("data").path(0);
            assertThat(hook.path("node_status").path(0).has("lag")).isFalse();
            assertThat(hook.path("node_status").path(0).path("status_reason").asText())
                    .isEqualTo("Failed to bind");
            assertThat(node.get("/sources/none").status()).isEqualTo(404);
        }
    }

    @Test
    void operationsReachTheSource() {
        try (ApiBroker node = alone()) {
            assertThat(node.post("/sources/orders/stop", "").status()).isEqualTo(204);
            assertThat(node.post("/sources/orders/start", "").status()).isEqualTo(204);
            assertThat(node.post("/nodes/smqtt/sources/orders/restart", "").status())
                    .isEqualTo(204);
            assertThat(operations).containsExactly("STOP orders", "START orders", "RESTART orders");

            assertThat(node.post("/sources/none/stop", "").status()).isEqualTo(404);
            assertThat(node.post("/nodes/smqtt/sources/none/stop", "").status()).isEqualTo(404);
            assertThat(node.post("/nodes/other/sources/orders/stop", "").status())
                    .isEqualTo(404);
        }
    }

    @Test
    void aProbeSaysWhetherTheSourceIsReached() {
        try (ApiBroker node = alone()) {
            assertThat(node.post("/sources/orders/probe", "").text()).isEqualTo("{\"status\":\"connected\"}");
            JsonNode hook = node.post("/sources/hook/probe", "").json();
            assertThat(hook.path("status").asText()).isEqualTo("disconnected");
            assertThat(hook.path("status_reason").asText()).isEqualTo("it does not listen");
            assertThat(node.post("/sources/none/probe", "").status()).isEqualTo(404);
        }
    }

    @Test
    void aBrokerWithoutSourcesHasNone() {
        try (ApiBroker node = new ApiBroker(directory)) {
            assertThat(node.get("/sources").text()).isEqualTo("{\"data\":[]}");
            assertThat(node.post("/sources/orders/start", "").status()).isEqualTo(404);
            assertThat(node.post("/sources/orders/probe", "").status()).isEqualTo(404);
        }
    }

    @Test
    void theStatesOfAllNodesAreOneSource() {
        try (ApiBroker node = new ApiBroker(
                directory, new ManagedBroker.Cluster(SampleCluster.three(), peers, null, null, sources))) {
            JsonNode all = node.get("/sources").json();

            JsonNode orders = all.path("data").path(1);
            assertThat(orders.path("status").asText()).isEqualTo("inconsistent");
            assertThat(orders.path("metrics").path("inflight").asInt()).isEqualTo(59);
            assertThat(orders.path("node_status").findValuesAsText("node")).containsExactly("n1", "n2");
            assertThat(orders.path("node_status").path(1).path("status_reason").asText())
                    .isEqualTo("no broker");
            assertThat(all.path("incomplete").path(0).asText()).isEqualTo(OneAnsweringPeer.SILENT);
            assertThat(node.post("/sources/orders/stop", "").status()).isEqualTo(503);

            farStatus = "standby";
            assertThat(node.get("/sources/orders").json().path("status").asText())
                    .isEqualTo("running");
        }
    }
}
