// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Schemathesis sends what {@code openapi.yaml} allows, and what it does not, to a real broker: no answer may be 500, undocumented, or
 * unlike its schema. {@code -Dsmqtt.fuzz.examples=50} makes more than 10,000 cases of about 7,000.
 */
class ApiFuzzIT {

    private static final int SHORT = 3;
    private static final int EXAMPLES = Integer.getInteger("smqtt.fuzz.examples", SHORT);
    private static final int LEAST_CASES = Integer.getInteger("smqtt.fuzz.cases", 1_000);
    private static final String TOKEN = LoopbackBroker.TOKEN;
    private static final Duration PATIENCE = Duration.ofMinutes(30);
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What is not sent, and why. */
    private static final Map<String, String> LEFT_OUT = Map.of("/stream", "an answer without end");

    /** What is sent with known values only, and why. */
    private static final Map<String, String> KNOWN_ONLY = Map.of(
            "/listeners/{id}/stop", "would end the listener whose clients the other cases need",
            "/listeners/{id}/restart", "would stop it for a moment");

    /** What is not checked, and why. */
    private static final Map<String, String> UNCHECKED = Map.of(
            "positive_data_acceptance",
            "a schema cannot say what a topic filter, a time, a cursor or a name that is free is",
            "negative_data_rejection",
            "an optional field that is null counts as missing");

    @TempDir
    Path directory;

    private BrokerProcess broker;
    private RestApi administrator;
    private volatile @Nullable Throwable awayFor;
    private int cases;

    @BeforeEach
    void start() throws Exception {
        // requests stop and start the listener tcp, whose name is that of the example; clients have one of their own
        broker = LoopbackBroker.open(
                directory,
                "listeners.clients.type=tcp",
                "listeners.clients.host=127.0.0.1",
                "listeners.clients.port=0");
        administrator = RestApi.of(broker).token(TOKEN);
        THREADS.execute(this::keepOnline);
    }

    /** A client that acknowledges nothing, and returns whenever it is kicked, until the broker ends. */
    private void keepOnline() {
        while (broker.handle().isAlive()) {
            try (RawClient client = RawClient.to(broker.address("clients"), ProtocolVersion.MQTT_5)) {
                ConnectBytes connect = ConnectBytes.of("sensor-1").persistent(3_600);
                connect.properties().receiveMaximum(2);
                client.deadline(PATIENCE).connect(connect);
                client.send(SubscribeBytes.of(client.nextPacketId()).filter("alarms/#", 1));
                boolean open = true;
                while (open) {
                    open = client.receive() != null;
                }
            } catch (AssertionError | UncheckedIOException e) {
                awayFor = e; // kicked while it connects, or the broker has ended
            }
        }
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    /** What the requests ask for, some of which they remove. */
    private void fill() {
        administrator.delete("/banned");
        for (String topic : List.of("state", "state/1", "alarms/1", "alarms/2", "alarms/3")) {
            String message = "{\"topic\":\"%s\",\"qos\":1,\"payload\":\"on\",\"retain\":true}".formatted(topic);
            assertThat(administrator.post("/publish", message).status()).isIn(200, 202);
        }
        administrator.delete("/users/anna");
        administrator.post("/users", "{\"username\":\"anna\",\"password\":\"correct-horse-1\",\"role\":\"viewer\"}");
        administrator.delete("/api_key/exporter");
        administrator.post("/api_key", "{\"name\":\"exporter\",\"role\":\"viewer\"}");
    }

    private void run(String values, int examples, String authorization, String phases) throws IOException {
        Path report = directory.resolve("report.json");
        String base = "http://127.0.0.1:" + broker.port("management") + "/api/v5";
        List<String> command = new ArrayList<>(List.of(
                ForeignLibrary.installed("schemathesis/bin/schemathesis").toString(),
                "--config-file",
                ForeignLibrary.source("/schemathesis/" + values + ".toml").toString(),
                "run",
                base + "/openapi.yaml",
                "--url=" + base,
                "--header=Authorization: " + authorization,
                "--phases=" + phases,
                "--max-examples=" + examples,
                "--exclude-checks=" + String.join(",", UNCHECKED.keySet()),
                "--request-timeout=30",
                "--continue-on-failure",
                "--warnings=off",
                "--no-color",
                "--generation-database=none",
                "--report-json-path=" + report));
        LEFT_OUT.keySet().forEach(path -> command.add("--exclude-path=" + path));
        if (values.equals("any")) {
            KNOWN_ONLY.keySet().forEach(path -> command.add("--exclude-path=" + path));
        }
        fill();
        try (CapturedProcess process =
                CapturedProcess.start("schemathesis", new ProcessBuilder(command).directory(directory.toFile()))) {
            int code = process.awaitExit(PATIENCE);
            JsonNode all = JSON.readTree(report.toFile());
            int generated = all.path("test_cases").path("generated").asInt();
            cases += generated;
            System.out.printf(
                    Locale.ROOT,
                    "[fuzz] %s as %s: %d cases of %d operations, seed %s, exit code %d%n",
                    values,
                    authorization.startsWith("Basic") ? "viewer" : "administrator",
                    generated,
                    all.path("operations").path("tested").asInt(),
                    all.path("seed").asText(),
                    code);
            assertThat(code).as(process.report()).isZero();
            assertThat(all.path("operations").path("errored").asInt()).isZero();
        }
        assertThat(broker.report()).doesNotContain("a request of the API failed");
    }

    @Test
    void everyAnswerIsDocumented() throws IOException {
        String coverage = EXAMPLES > SHORT ? ",coverage" : ""; // each boundary of each value: thousands of cases
        run("any", EXAMPLES, "Bearer " + TOKEN, "examples,fuzzing" + coverage);
        run("known", EXAMPLES, "Bearer " + TOKEN, "examples,fuzzing");
        JsonNode key = administrator
                .post("/api_key", "{\"name\":\"looking\",\"role\":\"viewer\"}")
                .json();
        String viewer = RestApi.basic(
                key.path("api_key").asText(), key.path("api_secret").asText());
        run("known", 1, viewer, "examples,fuzzing"); // what a viewer may not do is refused before it is read
        assertThat(cases).isGreaterThanOrEqualTo(LEAST_CASES);
        administrator.delete("/banned");
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(
                        () -> assertThat(administrator.get("/clients/sensor-1").status())
                                .as("after %s", awayFor)
                                .isEqualTo(200));
        assertThat(administrator.get("/status").status()).isEqualTo(200);
    }
}
