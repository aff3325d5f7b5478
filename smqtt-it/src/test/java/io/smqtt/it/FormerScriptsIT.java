// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What scripts and consumers written for the former smqtt use: the management paths by curl, and the topics of events. */
class FormerScriptsIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @Test
    void pathsAreAnsweredToWhoeverHasTheToken() throws IOException {
        try (BrokerProcess broker = start("legacy.management-paths=true");
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("c1");
            client.subscribe("test/+", 1);
            String token =
                    Files.readString(directory.resolve("data/management.token")).strip();

            assertThat(curl(broker, "", "/smqtt/is/cluster")).startsWith("401 ");
            assertThat(curl(broker, "", "/smqtt/publish", "-d", "{}")).startsWith("401 ");
            assertThat(curl(broker, "wrong-wrong-wrong", "/smqtt/meter")).startsWith("401 ");
            assertThat(curl(broker, token, "/smqtt/is/cluster")).isEqualTo("200 false");
            assertThat(curl(broker, token, "/smqtt/cluster", "-X", "POST")).isEqualTo("200 []");
            assertThat(curl(broker, token, "/smqtt/meter")).startsWith("200 ").contains("smqtt_clients_online");
            assertThat(curl(
                            broker,
                            token,
                            "/smqtt/publish",
                            "-d",
                            "{\"topic\": \"test/teus\", \"qos\":1, \"retain\":true, \"message\":\"h\u00e9llo\" }"))
                    .isEqualTo("200 success");
            client.expectPublish("test/teus", "h\u00e9llo");
            assertThat(curl(broker, token, "/smqtt/connection", "-X", "POST"))
                    .startsWith(
                            "200 [{\"clientIdentifier\":\"c1\",\"status\":\"ONLINE\",\"username\":null,\"address\":\"127.0.0.1:");
            assertThat(curl(broker, token, "/smqtt/close/connection", "-d", "{\"ids\":[\"c1\",\"nobody\"]}"))
                    .isEqualTo("200 {\"closed\":1}");
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        }
    }

    @Test
    void inputsAreLimitedAndTheBrokerGoesOn() throws IOException {
        Path large = Files.writeString(directory.resolve("large"), "{\"topic\":\"" + "x".repeat(1 << 20) + "\"}");
        try (BrokerProcess broker = start("legacy.management-paths=true")) {
            String token =
                    Files.readString(directory.resolve("data/management.token")).strip();

            assertThat(curl(broker, token, "/smqtt/publish", "-d", "@" + large)).startsWith("413 ");
            for (String body : List.of(
                    "",
                    "[]",
                    "{",
                    "[".repeat(100_000),
                    "{\"topic\":\"a\"}",
                    "{\"topic\":\"a/#\",\"message\":\"m\"}",
                    "{\"topic\":\"$SYS/x\",\"message\":\"m\"}",
                    "{\"topic\":\"a\",\"message\":\"m\",\"qos\":3}",
                    "{\"topic\":\"a\",\"message\":7}")) {
                Path file = Files.writeString(directory.resolve("body"), body);
                assertThat(curl(broker, token, "/smqtt/publish", "-d", "@" + file))
                        .as(body)
                        .startsWith("400 ");
            }
            assertThat(curl(broker, token, "/smqtt/close/connection", "-d", "{\"ids\":[1]}"))
                    .startsWith("400 ");
            assertThat(curl(broker, token, "/smqtt/publish", "-X", "DELETE")).startsWith("405 ");
            assertThat(curl(broker, token, "/smqtt/acl/policy/query", "-X", "POST"))
                    .startsWith("404 ");
            assertThat(curl(broker, token, "/smqtt/is/cluster")).isEqualTo("200 false");
        }
    }

    @Test
    void withoutTheOptionThereAreNoPathsAndNoEvents() throws IOException {
        try (BrokerProcess broker = start();
                RawClient watcher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            String token =
                    Files.readString(directory.resolve("data/management.token")).strip();
            assertThat(curl(broker, token, "/smqtt/is/cluster")).startsWith("404 ");
            watcher.connect("watcher");
            assertThat(watcher.subscribe("$event/#", 0).reasonCodes())
                    .containsExactly(ReasonCode.NOT_AUTHORIZED.value());
        }
    }

    @Test
    void eventsOfClientsReachThoseWhoMayReadThem() throws IOException {
        Files.writeString(directory.resolve("acl"), "pattern read $event/#\npattern readwrite #\n");
        try (BrokerProcess broker = start("legacy.event-topics=true", "access.acl-file=" + directory.resolve("acl"));
                RawClient watcher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
            watcher.connect("watcher");
            watcher.subscribe("$event/+", 0);

            RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
            assertThat(client.connect(ConnectBytes.of("c\"1")).reason()).isEqualTo(ReasonCode.SUCCESS);
            String connected = watcher.expect(MqttMessageType.PUBLISH).text();
            client.publish("$event/connect", "forged", 0);
            client.disconnect();
            String closed = watcher.expect(MqttMessageType.PUBLISH).text();

            assertThat(connected)
                    .matches(
                            "\\{\"clientIdentifier\":\"c\\\\\"1\",\"timestamp\":\\d{13},\"username\":null,\"channelStatus\":\"ONLINE\"}");
            assertThat(closed).contains("\"clientIdentifier\":\"c\\\"1\"").contains("\"channelStatus\":\"OFFLINE\"");
            client.close();
        }
    }

    private BrokerProcess start(String... settings) throws IOException {
        return LoopbackBroker.start(directory, settings);
    }

    /** Status code and body. */
    private String curl(BrokerProcess broker, String token, String path, String... options) throws IOException {
        Path body = directory.resolve("body");
        Files.writeString(body, "");
        List<String> command = new ArrayList<>(List.of(
                ForeignProgram.path("curl"), "-s", "-w", "%{http_code}", "-o", body.toString(), "--max-time", "50"));
        command.addAll(List.of("-H", "Content-Type: application/json"));
        if (!token.isEmpty()) {
            command.addAll(List.of("-H", "Authorization: Bearer " + token));
        }
        command.addAll(List.of(options));
        command.add("http://127.0.0.1:" + broker.port("management") + path);
        try (CapturedProcess process = CapturedProcess.start("curl", new ProcessBuilder(command))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isZero();
            return String.join("", process.output()) + " "
                    + Files.readString(body).strip();
        }
    }
}
