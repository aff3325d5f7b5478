// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ban disconnects mosquitto_sub, and is in force after the broker was killed right after its answer. */
class BansKillIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private int call(BrokerProcess broker, String method, String path, String body) throws Exception {
        String token = Files.readString(StoredBroker.data(directory).resolve("management.token"))
                .strip();
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + broker.port("management") + "/api/v5" + path))
                .timeout(PATIENCE)
                .header("Content-Type", "application/json")
                .header("Authorization", "Bearer " + token)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private static CapturedProcess subscribe(BrokerProcess broker, String version) {
        return CapturedProcess.start(
                "mosquitto_sub",
                new ProcessBuilder(List.of(
                        "stdbuf",
                        "-oL",
                        ForeignProgram.path("mosquitto_sub"),
                        "-h",
                        "127.0.0.1",
                        "-p",
                        String.valueOf(broker.port("tcp")),
                        "-V",
                        version,
                        "-i",
                        "pump-7",
                        "-t",
                        "#",
                        "-d")));
    }

    @Test
    void aBanSurvivesTheKillOfTheBroker() throws Exception {
        try (BrokerProcess broker = StoredBroker.start(directory);
                CapturedProcess client = subscribe(broker, "mqttv5")) {
            client.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
            assertThat(call(broker, "POST", "/banned", "{\"as\":\"clientid\",\"who\":\"pump-7\"}"))
                    .isEqualTo(200);
            client.awaitLine("DISCONNECT", line -> line.contains("DISCONNECT (152)"), PATIENCE);
            broker.kill9();
        }
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            for (String version : List.of("mqttv5", "mqttv311")) {
                try (CapturedProcess client = subscribe(broker, version)) {
                    String code = version.equals("mqttv5") ? "(138)" : "(5)";
                    client.awaitLine("CONNACK " + code, line -> line.contains("received CONNACK " + code), PATIENCE);
                }
            }
            assertThat(call(broker, "DELETE", "/banned/clientid/pump-7", "")).isEqualTo(204);
            try (CapturedProcess client = subscribe(broker, "mqttv5")) {
                client.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
            }
        }
    }
}
