// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
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

/** A ban disconnects mosquitto_sub; it and the rules for topics are in force after the broker was killed right after its answer. */
class BansKillIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String REWRITES =
            "[{\"action\":\"all\",\"source_topic\":\"old/#\",\"re\":\"^old/(.+)$\",\"dest_topic\":\"new/$1\"}]";
    private static final String SUBSCRIPTIONS =
            "[{\"topic\":\"to/${clientid}\",\"qos\":0,\"nl\":0,\"rap\":0,\"rh\":0}]";

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
    void bansAndRulesForTopicsSurviveTheKillOfTheBroker() throws Exception {
        try (BrokerProcess broker = StoredBroker.start(directory);
                CapturedProcess client = subscribe(broker, "mqttv5")) {
            client.awaitLine("SUBACK", line -> line.startsWith("Subscribed"), PATIENCE);
            assertThat(call(broker, "PUT", "/mqtt/topic_rewrite", REWRITES)).isEqualTo(200);
            assertThat(call(broker, "PUT", "/mqtt/auto_subscribe", SUBSCRIPTIONS))
                    .isEqualTo(200);
            assertThat(call(broker, "POST", "/banned", "{\"as\":\"clientid\",\"who\":\"pump-7\"}"))
                    .isEqualTo(200);
            client.awaitLine("DISCONNECT", line -> line.contains("DISCONNECT (152)"), PATIENCE);
            broker.kill9();
        }
        try (BrokerProcess broker = StoredBroker.start(directory)) {
            try (RawClient other = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                    RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
                other.connect("other");
                other.subscribe("old/1", 0);
                publisher.connect("publisher");
                publisher.publish("to/other", "x", 1);
                other.expectPublish("to/other", "x");
                publisher.publish("new/1", "y", 1);
                other.expectPublish("new/1", "y");
            }
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
