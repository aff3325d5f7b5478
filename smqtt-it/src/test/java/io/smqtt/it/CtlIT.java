// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/smqtt ctl} asks a running broker, by the token that the broker made in its data directory. */
class CtlIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    @Test
    void sessionsAreShownAMessageIsExplainedAndAClientIsDisconnected() throws Exception {
        Files.writeString(directory.resolve("acl"), "topic readwrite devices/#\n");
        try (BrokerProcess broker = start();
                RawClient display = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient device = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_3_1_1)) {
            display.connect(ConnectBytes.of("display\u0007").keepAlive(60).persistent(3600));
            display.subscribe("devices/+/state", 1);
            device.connect("device-7");

            assertThat(ctl(broker, 0, "clients").get(0))
                    .matches("CLIENT +STATE +USER +ADDRESS +LISTENER +VERSION +SUBSCRIPTIONS +IN FLIGHT +QUEUED");
            assertThat(ctl(broker, 0, "clients", "--match", "dev", "--json"))
                    .singleElement()
                    .asString()
                    .startsWith(
                            "{\"total\":1,\"truncated\":false,\"clients\":[{\"clientId\":\"device-7\",\"userName\":null,"
                                    + "\"connected\":true,\"address\":\"127.0.0.1:");
            assertThat(String.join("\n", ctl(broker, 0, "client", "display\u0007")))
                    .containsPattern("display\\\\u0007  online  - +127\\.0\\.0\\.1:\\d+  tcp +5 +1 +0 +0")
                    .contains("keep alive: 60 s, session expires: 3600 s after its connection")
                    .contains("  devices/+/state, QoS 1");
            assertThat(ctl(broker, 0, "explain", "devices/7/state", "--client", "device-7"))
                    .containsExactly(
                            "devices/7/state by device-7: publish allowed",
                            "  filter devices/+/state: devices > + [7] > state, subscribers: 1",
                            "  to display\\u0007 by devices/+/state, QoS 1, online, receive allowed, in flight 0, "
                                    + "queued 0: sent");
            assertThat(ctl(broker, 0, "explain", "other", "--client", "device-7", "--json"))
                    .singleElement()
                    .asString()
                    .startsWith("{\"topic\":\"other\",\"clientId\":\"device-7\",\"publish\":\"DENIED\"");

            assertThat(ctl(broker, 0, "disconnect", "display\u0007")).containsExactly("disconnected");
            display.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
            assertThat(ctl(broker, 1, "disconnect", "nobody"))
                    .containsExactly("smqtt: http://127.0.0.1:" + broker.port("management")
                            + " says: no such client is connected to this node");
            assertThat(ctl(broker, 1, "explain", "devices/#").get(0)).contains("must not contain a wildcard");
        }
    }

    @Test
    void identifiersAreAskedForThatAreLongerThanTheLineOfARequest() throws Exception {
        Files.writeString(directory.resolve("acl"), "topic readwrite #\n");
        String id = "ä".repeat(30_000);
        try (BrokerProcess broker = start();
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect(ConnectBytes.of(id).keepAlive(60).persistent(3600));

            assertThat(ctl(broker, 0, "client", id, "--json"))
                    .singleElement()
                    .asString()
                    .contains("\"clientId\":\"" + id + "\"");
            assertThat(ctl(broker, 0, "disconnect", id)).containsExactly("disconnected");
            client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        }
    }

    @Test
    void nobodyAsksWithoutTheTokenAndWhatIsWrongIsRefused() throws Exception {
        Files.writeString(directory.resolve("acl"), "topic readwrite #\n");
        try (BrokerProcess broker = start()) {
            String token =
                    Files.readString(directory.resolve("data/management.token")).strip();

            assertThat(status(broker, "GET", "clients", "")).isEqualTo(401);
            assertThat(status(broker, "POST", "disconnect?id=x", "")).isEqualTo(401);
            assertThat(status(broker, "GET", "clients", "wrong-wrong-wrong")).isEqualTo(401);
            assertThat(status(broker, "GET", "clients", token)).isEqualTo(200);
            assertThat(status(broker, "PUT", "clients", token)).isEqualTo(405);
            assertThat(status(broker, "GET", "disconnect?id=x", token)).isEqualTo(405);
            assertThat(status(broker, "GET", "clients?limit=0", token)).isEqualTo(400);
            assertThat(status(broker, "GET", "client", token)).isEqualTo(400);
            assertThat(status(broker, "GET", "client?id=x", token)).isEqualTo(404);
            assertThat(status(broker, "GET", "explain?topic=a%2F%23", token)).isEqualTo(400);
            assertThat(status(broker, "GET", "else", token)).isEqualTo(404);
        }
    }

    private BrokerProcess start() throws IOException {
        Path file = Files.writeString(directory.resolve("test.yaml"), """
                management:
                  port: 0
                access:
                  acl-file: acl
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                """);
        return BrokerProcess.start(directory, List.of(), file);
    }

    private List<String> ctl(BrokerProcess broker, int exit, String... arguments) {
        List<String> command = new ArrayList<>(List.of("ctl"));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--data", "data", "--set", "management.port=" + broker.port("management")));
        try (CapturedProcess process = BrokerProcess.run(directory, command.toArray(String[]::new))) {
            assertThat(process.awaitExit(PATIENCE)).as(process.report()).isEqualTo(exit);
            return process.output();
        }
    }

    private static int status(BrokerProcess broker, String method, String path, String token) throws Exception {
        URI uri = new URI("http://127.0.0.1:" + broker.port("management") + "/broker/" + path);
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        return HttpClient.newHttpClient()
                .send(request.build(), HttpResponse.BodyHandlers.discarding())
                .statusCode();
    }
}
