// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.BrokerComposition;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands below {@code ctl} with a broker that {@code start} runs, all in this process. */
@Tag("slow")
@Timeout(300)
class CtlBrokerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final ByteArrayOutputStream started = new ByteArrayOutputStream();
    private final AtomicInteger exit = new AtomicInteger(-1);
    private final StopSignal signal = new StopSignal();
    private volatile BrokerStarter.@Nullable Running running;
    private Thread program;

    /** A signal of the test that ends the program. */
    private static final class StopSignal implements Signals {

        private volatile Runnable stop = () -> {};

        @Override
        public void onStop(Runnable action) {
            stop = action;
        }

        @Override
        public void onReload(Runnable action) {}

        @Override
        public void halt() {}
    }

    @BeforeEach
    void start() throws IOException {
        Files.writeString(directory.resolve("acl"), "topic readwrite devices/#\n");
        Files.writeString(directory.resolve("smqtt.yaml"), """
                management: {port: 0}
                listeners: {tcp: {host: 127.0.0.1, port: 0}, ws: {enabled: false}}
                shutdown-timeout: 1s
                """);
        program = new Thread(
                () -> exit.set(run(signal, started, "start", "--config", "smqtt.yaml", "--set", "access.acl-file=acl")),
                "program");
        program.start();
        await().atMost(PATIENCE)
                .until(() -> exit.get() >= 0
                        || started.toString(StandardCharsets.UTF_8).contains("smqtt started in"));
        assertThat(running).as(started.toString(StandardCharsets.UTF_8)).isNotNull();
    }

    @AfterEach
    void stop() throws InterruptedException {
        signal.stop.run();
        program.join(PATIENCE.toMillis());
        LogbackSetup.apply(LoggingConfig.defaults());
        assertThat(exit).hasValue(ExitCode.OK);
    }

    private int run(Signals signals, ByteArrayOutputStream shown, String... arguments) {
        PrintStream stream = new PrintStream(shown, true, StandardCharsets.UTF_8);
        BrokerStarter starter = (config, legacy, beforehand) -> {
            BrokerStarter.Running broker = BrokerStarter.CORE.start(config, legacy, beforehand);
            running = broker;
            return broker;
        };
        return SmqttMain.run(
                new ProgramContext(
                        InputStream.nullInputStream(),
                        stream,
                        stream,
                        Map.of(),
                        directory,
                        starter,
                        signals,
                        System::nanoTime,
                        BrokerComposition.modules(Extensions.loader())),
                arguments);
    }

    private InetSocketAddress address(String listener) {
        return Objects.requireNonNull(
                Objects.requireNonNull(running).listeners().get(listener));
    }

    private List<String> ctl(int code, String... arguments) {
        List<String> command = new ArrayList<>(List.of("ctl"));
        command.addAll(List.of(arguments));
        command.addAll(List.of(
                "--data",
                "data",
                "--set",
                "management.port=" + address("management").getPort()));
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        int ended = run(new NoSignals(), shown, command.toArray(String[]::new));
        String text = shown.toString(StandardCharsets.UTF_8);
        assertThat(ended).as(text).isEqualTo(code);
        return text.lines().toList();
    }

    private static JsonNode json(List<String> lines) throws IOException {
        assertThat(lines).hasSize(1);
        return new ObjectMapper().readTree(lines.get(0));
    }

    @Test
    void sessionsAreShownAndEnded() throws Exception {
        try (RawClient display = RawClient.to(address("tcp"), ProtocolVersion.MQTT_5);
                RawClient device = RawClient.to(address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
            display.connect(ConnectBytes.of("display\u0007").keepAlive(60).persistent(3600));
            display.subscribe("devices/+/state", 1);
            device.connect("device-7");

            assertThat(ctl(0, "clients", "list"))
                    .anySatisfy(line -> assertThat(line)
                            .matches("CLIENT +STATE +USER +ADDRESS +VERSION +SUBSCRIPTIONS +IN FLIGHT +QUEUED +DROPPED "
                                    + "+LISTENER +NODE"))
                    .anySatisfy(line -> assertThat(line)
                            .matches("display\\\\u0007 +online +- +127\\.0\\.0\\.1:\\d+ +5 +1 +0 +0 +0 +tcp +smqtt"))
                    .endsWith("sessions: 2");
            JsonNode one = json(ctl(0, "clients", "list", "--match", "dev", "--state", "online", "--json"));
            assertThat(one.path("clientid").asText()).isEqualTo("device-7");
            assertThat(one.path("proto_ver").asInt()).isEqualTo(4);
            assertThat(ctl(0, "clients", "list", "--limit", "1")).endsWith("sessions: 1, more exist");
            assertThat(ctl(0, "clients", "show", "display\u0007"))
                    .contains("clientid           display\\u0007", "expiry_interval    3600")
                    .anySatisfy(line -> assertThat(line).matches("devices/\\+/state +1 +no +no +smqtt"));
            assertThat(json(ctl(0, "clients", "show", "display\u0007", "--json"))
                            .path("subscriptions")
                            .get(0)
                            .path("topic")
                            .asText())
                    .isEqualTo("devices/+/state");
            assertThat(ctl(0, "clients", "subscribe", "display\u0007", "devices/all", "--qos", "1"))
                    .containsExactly("subscribed display\\u0007 to devices/all");
            assertThat(ctl(0, "clients", "subscriptions", "display\u0007")).endsWith("subscriptions: 2");
            assertThat(ctl(0, "clients", "unsubscribe", "display\u0007", "devices/all"))
                    .containsExactly("unsubscribed display\\u0007 from devices/all");

            assertThat(ctl(0, "publish", "devices/1/state", "-m", "on", "--qos", "1")
                            .get(0))
                    .startsWith("published ");
            display.expectPublish("devices/1/state", "on"); // and not acknowledged
            assertThat(ctl(0, "clients", "inflight", "display\u0007"))
                    .anySatisfy(line -> assertThat(line).matches("devices/1/state +1 .* 2 +on"))
                    .endsWith("messages: 1");
            assertThat(ctl(0, "clients", "queue", "display\u0007")).endsWith("messages: 0");

            assertThat(ctl(0, "clients", "kick", "--keep-session", "display\u0007"))
                    .containsExactly("kicked display\\u0007");
            display.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            assertThat(ctl(0, "clients", "list", "--state", "offline")).endsWith("sessions: 1");
            assertThat(ctl(1, "clients", "kick", "nobody", "device-7"))
                    .containsExactlyInAnyOrder(
                            "kicked device-7",
                            "smqtt: http://127.0.0.1:" + address("management").getPort()
                                    + " says: no such client: nobody");
        }
    }

    @Test
    void aClientIsTraced() throws Exception {
        assertThat(ctl(0, "trace", "start", "device", "--client", "device-7", "--payload", "text", "--for", "1h")
                        .get(0))
                .startsWith("tracing until ")
                .endsWith("; smqtt ctl trace follow device shows it");
        try (RawClient device = RawClient.to(address("tcp"), ProtocolVersion.MQTT_5)) {
            device.connect("device-7");
            device.subscribe("devices/7/set", 1);
            ctl(0, "publish", "devices/7/set", "-m", "on", "--qos", "1");
            device.expectPublish("devices/7/set", "on");
        }
        assertThat(ctl(0, "trace", "list"))
                .anySatisfy(line -> assertThat(line).matches("device +clientid +device-7 +running .*"));
        assertThat(ctl(0, "trace", "stop", "device")).containsExactly("stopped device");
        assertThat(ctl(0, "trace", "show", "device"))
                .anySatisfy(line -> assertThat(line).matches("status +stopped"));
        List<String> followed = ctl(0, "trace", "follow", "device");
        assertThat(followed)
                .anySatisfy(line -> assertThat(line).contains("CONNECT"))
                .anySatisfy(line -> assertThat(line).contains("PUBLISH", "devices/7/set", "on"));
        assertThat(ctl(0, "trace", "download", "device", "device.log")).containsExactly("downloaded to device.log");
        assertThat(Files.readAllLines(directory.resolve("device.log"))).hasSameSizeAs(followed);
        assertThat(ctl(3, "trace", "download", "device", "device.log").get(0)).contains("must not exist");
        assertThat(ctl(0, "trace", "delete", "device")).containsExactly("deleted device");
        assertThat(ctl(1, "trace", "show", "device").get(0)).contains(" says: ");
    }

    @Test
    void aMessageIsExplainedAndRetainedMessagesAreShownAndRemoved() throws Exception {
        Files.writeString(directory.resolve("payload"), "21.5");
        try (RawClient display = RawClient.to(address("tcp"), ProtocolVersion.MQTT_5);
                RawClient device = RawClient.to(address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
            display.connect("display");
            display.subscribe("devices/+/state", 1);
            device.connect("device-7");

            assertThat(ctl(0, "explain", "devices/7/state", "--client", "device-7"))
                    .startsWith("devices/7/state by device-7: publish allowed")
                    .anySatisfy(line -> assertThat(line).matches("devices/\\+/state +devices > \\+ \\[7] > state +1"))
                    .anySatisfy(line ->
                            assertThat(line).matches("display +devices/\\+/state +1 +online +allowed +0 +0 +sent"));
            assertThat(ctl(0, "explain", "other", "--client", "device-7"))
                    .containsExactly("other by device-7: publish denied", "no subscribers");
            assertThat(ctl(1, "explain", "devices/#").get(0)).contains("must not contain a wildcard");
            assertThat(ctl(0, "subscriptions", "--match", "devices/1/state"))
                    .anySatisfy(line -> assertThat(line).matches("display +devices/\\+/state +1 +smqtt"));
            assertThat(ctl(0, "topics")).endsWith("filters: 1");
            assertThat(ctl(0, "topics", "devices/+/state")).endsWith("filters: 1");

            assertThat(ctl(0, "publish", "devices/7/state", "--file", "payload", "--retain", "--json"))
                    .hasSize(1);
            assertThat(ctl(0, "publish", "unheard", "-m", "x", "--user-property", "a=b"))
                    .containsExactly("published, nobody has subscribed");
            assertThat(ctl(0, "retained", "list", "devices/#")).endsWith("retained messages: 1");
            assertThat(ctl(0, "retained", "show", "devices/7/state"))
                    .anySatisfy(line -> assertThat(line).matches("payload +21\\.5"));
            assertThat(ctl(0, "retained", "show", "--raw", "devices/7/state")).containsExactly("21.5");
            assertThat(ctl(0, "retained", "delete", "devices/7/state")).containsExactly("removed devices/7/state");
            assertThat(ctl(1, "retained", "delete", "devices/7/state").get(0)).contains("no retained message");
            assertThat(ctl(0, "retained", "delete", "#")).containsExactly("removed #");

            assertThat(ctl(0, "delayed", "list")).containsExactly("delayed messages: 0");
            assertThat(ctl(1, "delayed", "show", "smqtt", "0123456789abcdef").get(0))
                    .contains("no such message waits");
        }
    }

    @Test
    void nodesListenersAndConfigurationAreShown() throws Exception {
        assertThat(ctl(0, "status")).anySatisfy(line -> assertThat(line).matches("app_status +running"));
        assertThat(ctl(0, "nodes")).endsWith("nodes: 1");
        assertThat(ctl(0, "nodes", "smqtt")).anySatisfy(line -> assertThat(line).matches("node_status +running"));
        assertThat(ctl(0, "stats")).anySatisfy(line -> assertThat(line).startsWith("connections.count "));
        assertThat(ctl(0, "metrics", "smqtt"))
                .anySatisfy(line -> assertThat(line).startsWith("packets.received "));
        assertThat(ctl(0, "cluster")).containsExactly("this broker is not a node of a cluster");
        assertThat(ctl(0, "alarms")).last().asString().startsWith("alarms: ");
        assertThat(ctl(0, "config", "access"))
                .anySatisfy(line -> assertThat(line).matches("access\\.acl-file +\\S*acl +--set access\\.acl-file"));

        assertThat(ctl(0, "listeners", "stop", "tcp:tcp")).containsExactly("stopped tcp:tcp on smqtt");
        assertThat(ctl(0, "listeners", "list"))
                .anySatisfy(line -> assertThat(line).contains("smqtt (stopped)"));
        assertThat(ctl(0, "listeners", "start", "tcp:tcp")).containsExactly("started tcp:tcp on smqtt");
        assertThat(ctl(0, "listeners", "restart", "tcp:tcp")).containsExactly("restarted tcp:tcp on smqtt");
        assertThat(ctl(0, "listeners", "show", "tcp:tcp"))
                .anySatisfy(line -> assertThat(line).matches("type +tcp"));
        assertThat(ctl(1, "listeners", "stop", "tcp:none").get(0)).contains("BAD_LISTENER_ID");
        assertThat(ctl(0, "audit"))
                .anySatisfy(line ->
                        assertThat(line).contains("/listeners/{id}/restart").contains("success"));
        assertThat(ctl(0, "audit", "--failed")).endsWith("changes: 1");
    }

    @Test
    void usersAndKeysAreAddedAndMayAskThemselves() throws Exception {
        Files.writeString(directory.resolve("first"), "correct-horse-1\n");
        Files.writeString(directory.resolve("second"), "correct-horse-2\n");
        assertThat(ctl(0, "users", "add", "anna", "--role", "operator", "--password-file", "first"))
                .containsExactly("added anna as operator");
        assertThat(ctl(0, "whoami", "--user", "anna", "--secret-file", "first"))
                .anySatisfy(line -> assertThat(line).matches("role +operator"));
        assertThat(ctl(0, "users", "list"))
                .anySatisfy(line -> assertThat(line).matches("anna +operator +local +-"))
                .endsWith("users: 1");
        assertThat(ctl(0, "nodes", "--user", "anna", "--secret-file", "first")).endsWith("nodes: 1");
        assertThat(ctl(1, "users", "list", "--user", "anna", "--secret-file", "first")
                        .get(0))
                .contains(" says: ");
        assertThat(ctl(
                        0,
                        "users",
                        "password",
                        "anna",
                        "--user",
                        "anna",
                        "--secret-file",
                        "first",
                        "--password-file",
                        "second"))
                .containsExactly("changed the password of anna");
        assertThat(ctl(1, "nodes", "--user", "anna", "--secret-file", "first").get(0))
                .contains(" says: ");
        assertThat(ctl(0, "users", "change", "anna", "--role", "viewer")).containsExactly("changed anna");
        assertThat(ctl(0, "users", "password", "anna", "--password-file", "first"))
                .containsExactly("changed the password of anna");

        JsonNode key = json(ctl(0, "keys", "add", "exporter", "--json"));
        assertThat(key.path("role").asText()).isEqualTo("viewer");
        Files.writeString(directory.resolve("secret"), key.path("api_secret").asText());
        String name = key.path("api_key").asText();
        assertThat(ctl(0, "nodes", "--api-key", name, "--secret-file", "secret"))
                .endsWith("nodes: 1");
        assertThat(ctl(0, "keys", "change", "exporter", "--enabled", "false")).containsExactly("changed exporter");
        assertThat(ctl(1, "nodes", "--api-key", name, "--secret-file", "secret").get(0))
                .contains("BAD_API_KEY_OR_SECRET");
        assertThat(ctl(0, "keys", "list")).anySatisfy(line -> assertThat(line).contains(" disabled "));
        assertThat(ctl(0, "keys", "show", "exporter"))
                .anySatisfy(line -> assertThat(line).matches("enable +false"));

        assertThat(ctl(0, "export", "objects.json")).containsExactly("exported to objects.json");
        assertThat(ctl(3, "export", "objects.json").get(0)).contains("exists already");
        assertThat(ctl(0, "users", "delete", "anna")).containsExactly("deleted anna");
        assertThat(ctl(0, "keys", "delete", "exporter")).containsExactly("deleted exporter");
        assertThat(ctl(1, "keys", "delete", "exporter").get(0)).contains(" says: ");
        assertThat(ctl(0, "import", "objects.json")).containsExactly("imported 2 objects");
        assertThat(ctl(0, "users", "list")).endsWith("users: 1");
    }
}
