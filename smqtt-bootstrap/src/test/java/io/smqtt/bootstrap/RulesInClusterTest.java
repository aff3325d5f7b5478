// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.admin.AdminModule;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.RulesProvider;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rules on two nodes of a cluster in memory: each runs them for what was published to it, and live rules change on both. */
@Tag("slow")
@Timeout(120)
class RulesInClusterTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MESSAGES = 50;
    private static final String READY = "ready";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private final MemoryNetwork network = new MemoryNetwork();

    @AfterEach
    void close() {
        network.close();
    }

    /** A broker with its API, and with a rule of the configuration. */
    private final class Node implements AutoCloseable {

        private final AdminModule admin;
        final TestBroker broker;

        Node(String name) throws IOException {
            ManagementConfig management = ManagementConfig.builder()
                    .port(0)
                    .sysInterval(Duration.ZERO)
                    .tokenFile(Files.writeString(directory.resolve("token"), TOKEN))
                    .build();
            Map<String, RuleConfig> rules = Map.of(
                    "fixed",
                    RuleConfig.builder("SELECT payload, node FROM \"in/#\"")
                            .actions(Map.of(
                                    "out",
                                    RuleActionConfig.builder("republish")
                                            .settings(Map.of(
                                                    "topic", value("fixed/${node}"),
                                                    "payload", value("${payload}"),
                                                    "qos", value("1")))
                                            .build()))
                            .build());
            BrokerConfig config = BrokerConfig.builder()
                    .listeners(Map.of("mqtt", ListenerConfig.tcp(0)))
                    .management(management)
                    .rules(rules)
                    .build();
            admin = AdminModule.create(config);
            broker = TestBroker.builder()
                    .config(all -> all.management(management).rules(rules))
                    .parts(parts -> {
                        new RulesProvider().create(config).accept(parts);
                        parts.module(ClusterModule.of(
                                ClusterConfig.builder().nodeId(name).build(), network.transport(name)));
                        return parts.module(admin);
                    })
                    .start();
        }

        RawClient client(String name) {
            return broker.client(ProtocolVersion.MQTT_5, name);
        }

        int send(String method, String path, String body) throws IOException, InterruptedException {
            return http.send(request(method, path, body), BodyHandlers.discarding())
                    .statusCode();
        }

        JsonNode rule(String name) throws IOException, InterruptedException {
            return JSON.readTree(http.send(request("GET", "/rules/" + name, ""), BodyHandlers.ofString())
                    .body());
        }

        private HttpRequest request(String method, String path, String body) {
            int port = Objects.requireNonNull(admin.address()).getPort();
            return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v5" + path))
                    .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                    .header("Authorization", "Bearer " + TOKEN)
                    .header("Content-Type", "application/json")
                    .timeout(PATIENCE)
                    .build();
        }

        @Override
        public void close() {
            broker.close();
        }
    }

    private static ConfigValue value(String text) {
        return new ConfigValue(text, "test", Path.of(""));
    }

    private static String live(String topic) {
        return "{\"id\": \"live\", \"sql\": \"SELECT payload, node FROM \\\"in/#\\\"\", \"actions\": [{\"name\": \"out\","
                + " \"type\": \"republish\", \"topic\": \"" + topic + "\", \"payload\": \"${payload}\", \"qos\": 1}]}";
    }

    /** Subscribes, and waits until the clients of the other node reach it. */
    private static void subscribe(RawClient subscriber, RawClient far, String filter) {
        subscriber.subscribe(filter, 1);
        String topic = filter.replace("#", READY);
        await().atMost(PATIENCE).until(() -> {
            far.send(PublishBytes.to(topic).payload(READY).qos(1, far.nextPacketId()));
            return far.expect(MqttMessageType.PUBACK).reasonCode() == 0;
        });
    }

    private static void publish(RawClient a, RawClient b, String run) {
        for (int i = 0; i < MESSAGES; i++) {
            a.publish("in/a", run + "-a-" + i, 1);
            b.publish("in/b", run + "-b-" + i, 1);
        }
    }

    /** What arrives until there is nothing for a while, by topic. */
    private static Map<String, List<String>> received(RawClient subscriber, int messages) {
        Map<String, List<String>> received = new TreeMap<>();
        int count = 0;
        while (count < messages) {
            ReceivedPacket packet = Objects.requireNonNull(subscriber.receive());
            subscriber.pubAck(packet);
            if (!packet.text().equals(READY)) {
                received.computeIfAbsent(packet.topic(), topic -> new ArrayList<>())
                        .add(packet.text());
                count++;
            }
        }
        subscriber.expectNothing();
        return received;
    }

    private static List<String> expected(String run, String node) {
        return IntStream.range(0, MESSAGES)
                .mapToObj(i -> run + '-' + node + '-' + i)
                .toList();
    }

    @Test
    void eachNodeRunsWhatWasPublishedToIt() throws Exception {
        try (Node first = new Node("a");
                Node second = new Node("b");
                RawClient a = first.client("publisher-a");
                RawClient b = second.client("publisher-b");
                RawClient subscriber = first.client("subscriber")) {
            subscribe(subscriber, b, "fixed/#");

            publish(a, b, "one");

            assertThat(received(subscriber, 2 * MESSAGES))
                    .isEqualTo(Map.of("fixed/a", expected("one", "a"), "fixed/b", expected("one", "b")));
            await().atMost(PATIENCE)
                    .until(() -> second.rule("fixed")
                                    .path("actions")
                                    .path(0)
                                    .path("metrics")
                                    .path("success")
                                    .asInt()
                            == 2 * MESSAGES); // of both
        }
    }

    @Test
    void liveRuleChangesOnBothNodes() throws Exception {
        try (Node first = new Node("a");
                Node second = new Node("b");
                RawClient a = first.client("publisher-a");
                RawClient b = second.client("publisher-b");
                RawClient subscriber = first.client("subscriber")) {
            subscribe(subscriber, b, "out/#");
            assertThat(first.send("POST", "/rules", live("out/live/${node}"))).isEqualTo(201);
            awaitTopic(second, "out/live/${node}");

            publish(a, b, "one");
            assertThat(received(subscriber, 2 * MESSAGES))
                    .isEqualTo(Map.of("out/live/a", expected("one", "a"), "out/live/b", expected("one", "b")));

            assertThat(second.send("PUT", "/rules/live", live("out/changed/${node}")))
                    .isEqualTo(200);
            awaitTopic(first, "out/changed/${node}");
            publish(a, b, "two");
            assertThat(received(subscriber, 2 * MESSAGES))
                    .isEqualTo(Map.of("out/changed/a", expected("two", "a"), "out/changed/b", expected("two", "b")));

            assertThat(first.send("DELETE", "/rules/live", "")).isEqualTo(204);
            await().atMost(PATIENCE).until(() -> second.send("GET", "/rules/live", "") == 404);
            assertThat(first.send("GET", "/rules/live", "")).isEqualTo(404);
        }
    }

    /** Waits until all nodes run a rule with a topic: their counts begin anew. */
    private static void awaitTopic(Node node, String topic) {
        await().atMost(PATIENCE).until(() -> {
            JsonNode action = node.rule("live").path("actions").path(0);
            return action.path("settings").path("topic").asText().equals(topic)
                    && action.path("status").asText().equals("connected")
                    && action.path("metrics").path("received").asInt(-1) == 0;
        });
    }
}
