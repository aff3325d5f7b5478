// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.spi.BridgeDrop;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.BridgeStatus.State;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.PeerQueries;
import io.smqtt.spi.SampleCluster;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code /bridges} of one node, and of a node whose peer n2 answers and whose peer n"3 does not. */
class BridgeRoutesTest {

    private static final String FAR = """
            {"answer":{"rows":[{"name":"cloud","status":"%s","server":"cloud:1883",
            "since":"2026-11-23T16:20:05Z","status_reason":"Connection refused",
            "metrics":{"sent":10,"received":20,"resent":30,"queuing":40,"dropped":50,"refused":60}}]}}""";

    @TempDir
    Path directory;

    private final List<String> operations = new CopyOnWriteArrayList<>();
    private volatile String farStatus = "disconnected";

    private final Bridges bridges = new Bridges() {

        @Override
        public List<BridgeStatus> status() {
            return List.of(
                    new BridgeStatus(
                            "cloud",
                            State.CONNECTED,
                            "cloud:1883",
                            Instant.EPOCH,
                            null,
                            4,
                            1,
                            2,
                            3,
                            Map.of(BridgeDrop.QUEUE, 4L, BridgeDrop.RATE, 1L),
                            Map.of(BridgeDrop.LOOP, 7L),
                            6,
                            1_500_000),
                    new BridgeStatus(
                            "other", State.STOPPED, "", Instant.EPOCH, null, 0, 0, 0, 0, Map.of(), Map.of(), 0, 0));
        }

        @Override
        public boolean operate(String name, Operation operation) {
            operations.add(operation + " " + name);
            return !name.equals("none");
        }
    };

    private final PeerQueries peers = new OneAnsweringPeer(() -> FAR.formatted(farStatus));

    private ApiBroker alone() {
        return new ApiBroker(directory, new ManagedBroker.Cluster(null, null, bridges));
    }

    @Test
    void bridgesHaveStateAndCounts() {
        try (ApiBroker node = alone()) {
            JsonNode all = node.get("/bridges").json();

            assertThat(all.path("data").findValuesAsText("id")).containsExactly("mqtt:cloud", "mqtt:other");
            assertThat(all.has("incomplete")).isFalse();
            JsonNode cloud = all.path("data").path(0);
            assertThat(node.get("/bridges/cloud").json()).isEqualTo(cloud);
            assertThat(node.get("/bridges/mqtt:cloud").json()).isEqualTo(cloud);
            assertThat(cloud.path("status").asText()).isEqualTo("connected");
            assertThat(cloud.path("metrics").toString())
                    .isEqualTo("{\"sent\":1,\"received\":2,\"resent\":3,\"queuing\":4,\"dropped\":5,\"refused\":6,"
                            + "\"received_dropped\":7}");
            JsonNode here = cloud.path("node_status").path(0);
            assertThat(here.path("server").asText()).isEqualTo("cloud:1883");
            assertThat(here.path("since").asText()).isEqualTo("1970-01-01T00:00:00Z");
            assertThat(here.path("rtt_ms").asDouble()).isEqualTo(1.5);
            assertThat(node.get("/bridges/none").status()).isEqualTo(404);
        }
    }

    @Test
    void operationsReachTheBridge() {
        try (ApiBroker node = alone()) {
            assertThat(node.post("/bridges/mqtt:cloud/stop", "").status()).isEqualTo(204);
            assertThat(node.post("/bridges/cloud/start", "").status()).isEqualTo(204);
            assertThat(node.post("/nodes/smqtt/bridges/cloud/restart", "").status())
                    .isEqualTo(204);
            assertThat(operations).containsExactly("STOP cloud", "START cloud", "RESTART cloud");

            assertThat(node.post("/bridges/none/stop", "").status()).isEqualTo(404);
            assertThat(node.post("/nodes/smqtt/bridges/none/stop", "").status()).isEqualTo(404);
            assertThat(node.post("/nodes/other/bridges/cloud/stop", "").status())
                    .isEqualTo(404);
        }
    }

    @Test
    void aBrokerWithoutBridgesHasNone() {
        try (ApiBroker node = new ApiBroker(directory)) {
            assertThat(node.get("/bridges").text()).isEqualTo("{\"data\":[]}");
            assertThat(node.post("/bridges/cloud/start", "").status()).isEqualTo(404);
        }
    }

    @Test
    void theStatesOfAllNodesAreOneBridge() {
        try (ApiBroker node =
                new ApiBroker(directory, new ManagedBroker.Cluster(SampleCluster.three(), peers, bridges))) {
            JsonNode all = node.get("/bridges").json();

            JsonNode cloud = all.path("data").path(0);
            assertThat(cloud.path("status").asText()).isEqualTo("inconsistent");
            assertThat(cloud.path("metrics").path("queuing").asInt()).isEqualTo(44);
            assertThat(cloud.path("node_status").findValuesAsText("node")).containsExactly("n1", "n2");
            assertThat(cloud.path("node_status").path(1).path("status_reason").asText())
                    .isEqualTo("Connection refused");
            assertThat(all.path("incomplete").path(0).asText()).isEqualTo(OneAnsweringPeer.SILENT);
            assertThat(node.post("/bridges/cloud/stop", "").status()).isEqualTo(503);

            farStatus = "standby";
            assertThat(node.get("/bridges/cloud").json().path("status").asText())
                    .isEqualTo("connected");
        }
    }
}
