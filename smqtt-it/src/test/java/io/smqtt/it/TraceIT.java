// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces of two real nodes, with mosquitto's tools as clients. */
class TraceIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TEXT = "/trace/one/download?format=text";

    @TempDir
    Path directory;

    private static CapturedProcess start(LoopbackCluster nodes, int node, String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                "stdbuf",
                "-oL",
                ForeignProgram.path(program),
                "-h",
                Endpoint.HOST,
                "-p",
                String.valueOf(nodes.broker(node).port("tcp")),
                "-V",
                "mqttv5"));
        command.addAll(List.of(arguments));
        return CapturedProcess.start(program, new ProcessBuilder(command));
    }

    private static void publish(LoopbackCluster nodes, int node, String... arguments) {
        try (CapturedProcess process = start(nodes, node, "mosquitto_pub", arguments)) {
            process.awaitExit(PATIENCE);
        }
    }

    private RestApi api(LoopbackCluster nodes, int node) throws IOException {
        return RestApi.of(nodes.broker(node))
                .token(Files.readString(directory.resolve("n" + node + "/data/management.token")));
    }

    private static String[] event(String line) {
        return line.split(" ", 4);
    }

    @Test
    void aClientIsTracedOnBothNodesInOrder() throws IOException {
        try (LoopbackCluster nodes = LoopbackCluster.start(directory, 2)) {
            RestApi first = api(nodes, 0);
            RestApi second = api(nodes, 1);
            assertThat(first.post(
                                    "/trace",
                                    "{\"name\":\"one\",\"type\":\"clientid\",\"clientid\":\"sensor\",\"payload_encode\":\"text\"}")
                            .status())
                    .isEqualTo(200);
            await().atMost(PATIENCE)
                    .until(() -> second.get("/trace/one/log_detail").json().size() == 2);

            try (CapturedProcess sensor = start(
                    nodes, 0, "mosquitto_sub", "-i", "sensor", "-q", "1", "-t", "cmd", "-t", "$smqtt/secret", "-d")) {
                sensor.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
                publish(nodes, 0, "-i", "panel", "-q", "1", "-t", "cmd", "-m", "restart");
                sensor.awaitLine("the message", "restart"::equals, PATIENCE);
            }
            publish(nodes, 1, "-i", "sensor", "-q", "1", "-t", "$smqtt/secret", "-m", "x");

            await().atMost(PATIENCE).until(() -> {
                String text = second.get(TEXT).text();
                return text.lines()
                                .filter(line -> line.contains(" DISCONNECTED "))
                                .count()
                        == 2;
            });
            Map<String, List<String>> byNode = second.get(TEXT)
                    .text()
                    .lines()
                    .map(TraceIT::event)
                    .collect(Collectors.groupingBy(
                            event -> event[1], Collectors.mapping(event -> event[2], Collectors.toList())));
            assertThat(byNode.get("n0"))
                    .containsSubsequence(
                            "CONNECT_RECEIVED",
                            "CONNACK_SENT",
                            "SUBSCRIBE_RECEIVED",
                            "DENIED",
                            "SUBACK_SENT",
                            "PUBLISH_SENT",
                            "PUBACK_RECEIVED",
                            "DISCONNECTED");
            assertThat(byNode.get("n1"))
                    .containsSubsequence(
                            "CONNECT_RECEIVED",
                            "CONNACK_SENT",
                            "PUBLISH_RECEIVED",
                            "DENIED",
                            "PUBACK_SENT",
                            "DISCONNECTED");
            assertThat(first.get(TEXT).text()).isEqualTo(second.get(TEXT).text());

            assertThat(first.send("PUT", "/trace/one/stop", null).status()).isEqualTo(200);
            assertThat(first.get("/trace/one/stream").text())
                    .contains("\"node\":\"n0\"", "\"node\":\"n1\"")
                    .endsWith("event: end\ndata: {}\n\n");
            assertThat(second.delete("/trace/one").status()).isEqualTo(204);
            await().atMost(PATIENCE).until(() -> first.get("/trace/one").status() == 404);
        }
    }
}
