// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every query of the dashboards and rules in {@code deploy}, asked of a real Prometheus that scrapes two nodes under load. */
class DashboardsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(120);
    private static final Path DEPLOY = Path.of(System.getProperty("smqtt.home", ".."))
            .resolve("deploy")
            .toAbsolutePath()
            .normalize();
    private static final List<Path> RULES =
            List.of(DEPLOY.resolve("prometheus/smqtt-alerts.yml"), DEPLOY.resolve("prometheus/smqtt-recording.yml"));

    /** What only shows once something unusual has happened, which the load sees to, must be above 0 then. */
    private static final List<String> BUSY = List.of(
            "smqtt_messages_received_total",
            "smqtt_messages_delivered_total",
            "smqtt_payload_received_bytes_total",
            "smqtt_store_operations_total",
            "smqtt_clients_accepted_total",
            "smqtt_cluster_forwarded_total");

    @TempDir
    Path directory;

    @Test
    void everyQueryOfEveryDashboardReturnsData() throws Exception {
        Map<String, String> queries = dashboardQueries();
        assertThat(queries).hasSizeGreaterThan(100);
        List<Integer> ports = LoopbackPorts.some(2);
        try (BrokerProcess one = startBroker("one", ports);
                BrokerProcess two = startBroker("two", ports);
                Prometheus prometheus =
                        Prometheus.start(directory, List.of(one.port("management"), two.port("management")), RULES);
                Load load = new Load(one, two)) {
            List<String> missing = new ArrayList<>(queries.keySet());
            await().atMost(PATIENCE).untilAsserted(() -> {
                load.requireRunning();
                missing.removeIf(where -> !prometheus.query(queries.get(where)).isEmpty());
                assertThat(missing).as("queries without data").isEmpty();
            });
            for (String counter : BUSY) {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(prometheus.query("sum(rate(" + counter + "[10s]))"))
                                .as(counter)
                                .singleElement()
                                .satisfies(rate -> assertThat(rate).isPositive()));
            }
            rulesAreEvaluated(prometheus);
        }
    }

    private static void rulesAreEvaluated(Prometheus prometheus) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(prometheus.rules())
                        .hasSizeGreaterThan(10)
                        .allSatisfy(rule -> assertThat(rule.path("health").asText())
                                .as("%s: %s", rule.path("name"), rule.path("lastError"))
                                .isEqualTo("ok")));
        for (JsonNode rule : prometheus.rules()) {
            if (rule.path("type").asText().equals("recording")) {
                String name = rule.path("name").asText();
                await().atMost(PATIENCE)
                        .untilAsserted(() ->
                                assertThat(prometheus.query(name)).as(name).isNotEmpty());
            }
        }
        await().atMost(PATIENCE) // a scrape that took too long is not a broker that is down
                .untilAsserted(() -> assertThat(prometheus.query("ALERTS{alertname=\"SmqttDown\"}"))
                        .isEmpty());
    }

    @Test
    void promtoolAcceptsTheConfigurationAndItsTestsOfTheRulesPass() throws IOException {
        requireSuccess("check", "rules", RULES.get(0).toString(), RULES.get(1).toString());
        requireSuccess(
                "check", "config", DEPLOY.resolve("prometheus/prometheus.yml").toString());
        // Debian's Prometheus does not know Kubernetes, and the token is in the pod only.
        String elsewhere = Files.readString(DEPLOY.resolve("prometheus/kubernetes.yml"))
                .replaceFirst(
                        "kubernetes_sd_configs:\n.*role: pod\n.*namespaces:.*\n",
                        "static_configs: [{targets: ['pod:1']}]\n");
        assertThat(elsewhere).contains("static_configs");
        Path copy = Files.writeString(directory.resolve("kubernetes.yml"), elsewhere);
        requireSuccess("check", "config", "--syntax-only", copy.toString());
        requireSuccess(
                "test",
                "rules",
                DEPLOY.resolve("prometheus/smqtt-rules-test.yml").toString());
    }

    private static void requireSuccess(String... arguments) {
        try (CapturedProcess promtool = Prometheus.promtool(arguments)) {
            assertThat(promtool.awaitExit(PATIENCE))
                    .as("promtool%s", promtool.report())
                    .isZero();
        }
    }

    @Test
    void everyAlertIsTested() throws IOException {
        String tests = Files.readString(DEPLOY.resolve("prometheus/smqtt-rules-test.yml"));

        assertThat(Files.readString(RULES.get(0)).lines().filter(line -> line.contains("- alert: ")))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(tests).contains("alertname: " + line.substring(line.indexOf(": ") + 2)));
    }

    /** The queries by where they stand, with Grafana's variables replaced. */
    private static Map<String, String> dashboardQueries() throws IOException {
        Map<String, String> queries = new LinkedHashMap<>();
        try (Stream<Path> files = Files.list(DEPLOY.resolve("grafana"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".json"))
                    .sorted()
                    .toList()) {
                JsonNode dashboard = new ObjectMapper().readTree(file.toFile());
                for (JsonNode panel : dashboard.path("panels")) {
                    for (JsonNode target : panel.path("targets")) {
                        String where =
                                file.getFileName() + ", " + panel.path("title").asText() + ", "
                                        + target.path("refId").asText();
                        String query = target.path("expr")
                                .asText()
                                .replace("$instance", ".*")
                                .replace("$__rate_interval", "10s");
                        assertThat(query).as(where).isNotBlank().doesNotContain("$");
                        queries.put(where, query);
                    }
                }
            }
        }
        return queries;
    }

    private BrokerProcess startBroker(String name, List<Integer> ports) throws IOException {
        Path home = Files.createDirectory(directory.resolve(name));
        Path file = Files.writeString(home.resolve("test.yaml"), """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    host: 127.0.0.1
                    port: 0
                  narrow:
                    type: tcp
                    host: 127.0.0.1
                    port: 0
                    max-connections: 1
                cluster:
                  enabled: true
                  node-id: %s
                  bind: '127.0.0.1:%d'
                  seeds: ['127.0.0.1:%d', '127.0.0.1:%d']
                  secret: not-a-secret-at-all
                """.formatted(
                        name, ports.get(name.equals("one") ? 0 : 1), ports.get(0), ports.get(1)));
        return BrokerProcess.start(home, List.of(), file);
    }

    /** Clients that publish and read without a pause, come and go, and are refused. */
    private static final class Load implements AutoCloseable {

        private final BrokerProcess broker;
        private final BrokerProcess other;
        private final Thread thread = new Thread(this::run, "load");
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        Load(BrokerProcess broker, BrokerProcess other) {
            this.broker = broker;
            this.other = other;
            thread.start();
        }

        private RawClient open(String listener) {
            return RawClient.to(broker.address(listener), ProtocolVersion.MQTT_5);
        }

        private void run() {
            try (RawClient publisher = open("tcp");
                    RawClient subscriber = open("tcp");
                    RawClient first = open("narrow");
                    RawClient far = RawClient.to(other.address("tcp"), ProtocolVersion.MQTT_5)) {
                far.connect("far");
                far.subscribe("far/#", 0);
                publisher.connect("publisher");
                first.connect("first");
                subscriber.connect(ConnectBytes.of("subscriber").persistent(600));
                subscriber.subscribe("load/#", 2);
                while (!Thread.currentThread().isInterrupted()) {
                    round(publisher, subscriber);
                }
            } catch (RuntimeException | AssertionError e) {
                failure.set(e);
            }
        }

        private void round(RawClient publisher, RawClient subscriber) {
            for (int i = 0; i < 500; i++) {
                publisher.publish("load/" + i, "some payload", 0);
                subscriber.receive();
            }
            publisher.publish("load/1", "safe", 1);
            int packetId = subscriber.receive().packetId();
            subscriber.acknowledge(0x40, packetId);
            publisher.publish(PublishBytes.to("kept").payload("retained").retained());
            publisher.publish("nobody/wants", "this", 0);
            publisher.publish("far/away", "from one node to the other", 0);
            try (RawClient passing = open("tcp");
                    RawClient second = open("narrow");
                    RawClient nameless = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
                passing.connect("passing");
                second.expectClosed();
                nameless.send(ConnectBytes.of("").cleanStart(false));
                nameless.receive();
            }
        }

        void requireRunning() {
            assertThat(failure.get()).isNull();
            assertThat(thread.isAlive()).isTrue();
        }

        @Override
        public void close() throws InterruptedException {
            thread.interrupt();
            thread.join(PATIENCE.toMillis());
        }
    }
}
