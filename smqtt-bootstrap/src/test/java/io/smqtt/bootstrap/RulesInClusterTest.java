// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.config.RuleConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.RulesProvider;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Rules on two nodes of a cluster in memory: each runs them for what was published to it, and live rules change on both. */
@Tag("slow")
@Timeout(120)
class RulesInClusterTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MESSAGES = 50;
    private static final String READY = "ready";
    private static final Map<String, RuleConfig> FIXED = Map.of(
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

    @TempDir
    Path directory;

    private final MemoryNetwork network = new MemoryNetwork();

    private Node first;
    private Node second;
    private RawClient a;
    private RawClient b;
    private RawClient subscriber;
    private int ready;

    @BeforeEach
    void start() throws IOException {
        first = new Node("a");
        second = new Node("b");
        a = first.client("publisher-a");
        b = second.client("publisher-b");
        subscriber = first.client("subscriber");
    }

    @AfterEach
    void close() {
        List.of(a, b, subscriber).forEach(RawClient::close);
        first.close();
        second.close();
        network.close();
    }

    /** A broker with its API, and with a rule of the configuration. */
    private final class Node extends ApiNode {

        Node(String name) throws IOException {
            super(directory, all -> all.rules(FIXED), (config, parts) -> {
                new RulesProvider().create(config).accept(parts);
                return parts.module(
                        ClusterModule.of(ClusterConfig.builder().nodeId(name).build(), network.transport(name)));
            });
        }

        RawClient client(String name) {
            return broker.client(ProtocolVersion.MQTT_5, name);
        }

        int status(String method, String path, String body) throws IOException, InterruptedException {
            return send(method, path, body).status();
        }

        JsonNode rule(String name) throws IOException, InterruptedException {
            return get("/rules/" + name);
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
    private void subscribe(String filter) {
        subscriber.subscribe(filter, 1);
        String topic = filter.replace("#", READY);
        await().atMost(PATIENCE).until(() -> {
            b.send(PublishBytes.to(topic).payload(READY).qos(1, b.nextPacketId()));
            return b.expect(MqttMessageType.PUBACK).reasonCode() == 0;
        });
    }

    private void publish(String run) {
        for (int i = 0; i < MESSAGES; i++) {
            a.publish("in/a", run + "-a-" + i, 1);
            b.publish("in/b", run + "-b-" + i, 1);
        }
    }

    /** What arrives until there is nothing for a while, by topic. */
    private Map<String, List<String>> received(int messages) {
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
        subscribe("fixed/#");

        publish("one");

        assertThat(received(2 * MESSAGES))
                .isEqualTo(Map.of("fixed/a", expected("one", "a"), "fixed/b", expected("one", "b")));
        awaitWritten(2 * MESSAGES);
    }

    @Test
    void liveRuleChangesOnBothNodes() throws Exception {
        subscribe("out/#");
        assertThat(first.status("POST", "/rules", live("out/live/${node}"))).isEqualTo(201);
        awaitRule("out/live/${node}");

        publish("one");
        assertThat(received(2 * MESSAGES))
                .isEqualTo(Map.of("out/live/a", expected("one", "a"), "out/live/b", expected("one", "b")));

        assertThat(second.status("PUT", "/rules/live", live("out/changed/${node}")))
                .isEqualTo(200);
        awaitRule("out/changed/${node}");
        publish("two");
        assertThat(received(2 * MESSAGES))
                .isEqualTo(Map.of("out/changed/a", expected("two", "a"), "out/changed/b", expected("two", "b")));

        assertThat(first.status("DELETE", "/rules/live", "")).isEqualTo(204);
        await().atMost(PATIENCE).until(() -> second.status("GET", "/rules/live", "") == 404);
        assertThat(first.status("GET", "/rules/live", "")).isEqualTo(404);
        publish("three");
        awaitWritten(6 * MESSAGES + ready);
        subscriber.expectNothing();
    }

    /** Waits until the rule of the configuration has written so many messages on both nodes. */
    private void awaitWritten(int messages) {
        await().atMost(PATIENCE)
                .until(() -> second.rule("fixed")
                                .path("actions")
                                .path(0)
                                .path("metrics")
                                .path("success")
                                .asInt()
                        == messages);
    }

    /** Publishes to both nodes until the live rule of each has written to a topic. */
    private void awaitRule(String topic) {
        Map.of("a", a, "b", b)
                .forEach((node, publisher) -> await().atMost(PATIENCE).until(() -> {
                    publisher.publish("in/" + node, READY, 1); // before the messages of the test in the same topic
                    ready++;
                    AtomicBoolean written = new AtomicBoolean();
                    subscriber.expectNothingBut(packet -> {
                        subscriber.pubAck(packet);
                        written.compareAndSet(false, packet.topic().equals(topic.replace("${node}", node)));
                    });
                    return written.get();
                }));
    }
}
