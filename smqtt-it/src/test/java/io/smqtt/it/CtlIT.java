// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/smqtt ctl} asks and changes a running broker, by the token that the broker made in its data directory. */
class CtlIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private BrokerProcess broker;

    @BeforeEach
    void start() throws IOException {
        Files.writeString(directory.resolve("acl"), "topic readwrite devices/#\n");
        broker = LoopbackBroker.start(directory, "access.acl-file=acl");
    }

    @AfterEach
    void stop() {
        if (broker != null) {
            broker.close();
        }
    }

    @Test
    void sessionsAreShownAndEnded() throws Exception {
        try (RawClient display = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient device = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
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
                            "smqtt: http://127.0.0.1:" + broker.port("management") + " says: no such client: nobody");
        }
    }

    @Test
    void clientsAreBanned() throws Exception {
        try (RawClient device = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            device.connect("device-7");

            assertThat(ctl(0, "bans", "add", "clientid", "device-7", "--for", "1h", "--reason", "floods"))
                    .containsExactly("banned clientid device-7");
            device.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            assertThat(ctl(0, "bans", "list", "--match", "dev"))
                    .anySatisfy(line -> assertThat(line).matches("clientid +device-7 +\\S+Z +\\S+Z .* floods"))
                    .endsWith("bans: 1");
            assertThat(ctl(0, "bans", "delete", "clientid", "device-7"))
                    .containsExactly("ended the ban of clientid device-7");
            assertThat(ctl(1, "bans", "delete", "clientid", "device-7").get(0)).contains(" says: ");
            assertThat(ctl(0, "bans", "delete", "--all")).containsExactly("ended all bans");
        }
    }

    @Test
    void aClientIsTraced() throws Exception {
        assertThat(ctl(0, "trace", "start", "device", "--client", "device-7", "--payload", "text", "--for", "1h")
                        .get(0))
                .startsWith("tracing until ")
                .endsWith("; smqtt ctl trace follow device shows it");
        try (RawClient device = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
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
        try (RawClient display = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient device = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
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

    @Test
    void exitCodesTellWhatWentWrong() throws Exception {
        String id = "ä".repeat(30_000);
        try (RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect(ConnectBytes.of(id).keepAlive(60).persistent(3600));
            assertThat(ctl(1, "clients", "show", id).get(0)).contains("too long for a request");
            assertThat(json(ctl(0, "clients", "list", "--json"))
                            .path("clientid")
                            .asText())
                    .isEqualTo(id);
            ctl(0, "clients", "kick", id);
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        }
        assertThat(ctl(1, "clients", "show", "nobody").get(0)).contains("CLIENTID_NOT_FOUND");
        assertThat(ctl(2, "clients", "list", "--limit", "many").get(0)).contains("is not a number");
        String own = "http://127.0.0.1:" + broker.port("management");
        assertThat(ctl(1, "nodes", "--url", own).get(0)).contains("--token-file, --user or --api-key say who asks");
        assertThat(ctl(3, "nodes", "--url", "http://127.0.0.1:1").get(0)).contains("no answer from");
        assertThat(ctl(3, "nodes", "--url", own, "--token-file", "missing").get(0))
                .contains("cannot be read");
    }

    private List<String> ctl(int exit, String... arguments) {
        List<String> command = new ArrayList<>(List.of("ctl"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--data", "data", "--set", "management.port=" + broker.port("management")));
        try (CapturedProcess process = BrokerProcess.run(directory, command.toArray(String[]::new))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isEqualTo(exit);
            return process.output();
        }
    }

    private static JsonNode json(List<String> lines) throws IOException {
        assertThat(lines).hasSize(1);
        return new ObjectMapper().readTree(lines.get(0));
    }
}
