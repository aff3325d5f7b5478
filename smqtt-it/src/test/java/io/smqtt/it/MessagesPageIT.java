// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The examples of {@code docs/messages.md}, as they stand there: one broker with all of its configuration. */
class MessagesPageIT {

    private static final String TOKEN = "0123456789abcdef-secret";

    @TempDir
    static Path directory;

    private static DocumentPage page;
    private static BrokerProcess broker;

    @BeforeAll
    static void start() throws IOException {
        page = DocumentPage.read("messages.md");
        Path token = Files.writeString(directory.resolve("token"), TOKEN);
        Files.writeString(directory.resolve("rules"), "topic readwrite #\ntopic read $SYS/#\ntopic read $events/#\n");
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), String.join("\n", page.blocks("yaml")) + """

                management: {port: 0}
                access: {allow-anonymous: true, acl-file: rules}
                mqtt: {exclusive-subscriptions: true, event-messages: true}
                listeners:
                  tcp: {host: 127.0.0.1, port: 0}
                  ws: {enabled: false}
                """);
        broker = BrokerProcess.start(directory, List.of(), file, "management.token-file=" + token);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static RawClient client(String clientId) {
        RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
        client.connect(clientId);
        return client;
    }

    private static int reasonOf(RawClient client, String topic, int packetId) {
        return client.send(PublishBytes.to(topic).qos(1, packetId).payload("x"))
                .expect(MqttMessageType.PUBACK)
                .reasonCode();
    }

    @Test
    void topicsAreRewrittenAsTheTableSays() {
        List<List<String>> rows = page.table("Topic rewrite");
        assertThat(rows).hasSize(5);
        try (RawClient subscriber = client("s");
                RawClient publisher = client("p")) {
            subscriber.subscribe("#", 0);
            for (List<String> row : rows) {
                publisher.publish(row.get(0), row.get(0), 0);
                subscriber.expectPublish(row.get(1), row.get(0));
            }
        }
    }

    @Test
    void messagesAreDelayedAsTheTableSays() {
        List<List<String>> rows = page.table("Delayed publish");
        assertThat(rows).hasSize(4);
        try (RawClient publisher = client("p")) {
            for (List<String> row : rows.subList(0, 2)) {
                assertThat(reasonOf(publisher, row.get(0), 1)).as(row.get(0)).isLessThan(0x80);
            }
            assertThat(reasonOf(publisher, rows.get(2).get(0), 2)).isEqualTo(0x87);
            for (String topic : rows.get(3).get(0).split("`, `|`, or a delay")) {
                if (topic.startsWith("$delayed")) {
                    assertThat(reasonOf(publisher, topic, 2)).as(topic).isEqualTo(0x90);
                }
            }
        }
        JsonNode waiting = RestApi.of(broker)
                .token(TOKEN)
                .get("/mqtt/delayed/messages")
                .json()
                .path("data");
        assertThat(waiting).hasSize(2);
        assertThat(waiting.path(0).path("topic").asText() + " "
                        + waiting.path(0).path("delayed_interval").asInt())
                .isEqualTo("x/y 15");
        assertThat(waiting.path(1).path("topic").asText() + " "
                        + waiting.path(1).path("delayed_interval").asInt())
                .isEqualTo("a/b 60");
    }

    @Test
    void subscriptionsAreExclusiveAsTheTableSays() {
        List<List<String>> rows = page.table("Exclusive subscriptions");
        assertThat(rows).hasSize(6);
        Map<String, RawClient> clients = new HashMap<>();
        for (List<String> row : rows) {
            int reason = clients.computeIfAbsent(row.get(0), MessagesPageIT::client)
                    .subscribe(row.get(1), 0)
                    .reasonCodes()
                    .get(0);
            String answer = reason == 0 ? "granted" : "refused with 0x%X".formatted(reason);
            assertThat(answer).as(row.toString()).isEqualTo(row.get(2));
        }
        clients.values().forEach(RawClient::close);
    }

    @Test
    void aClientGetsTheSubscriptionsOfTheConfiguration() {
        try (RawClient subscriber = client("demo_client1");
                RawClient publisher = client("p")) {
            publisher.publish("c/demo_client1", "x", 0);
            subscriber.expectPublish("c/demo_client1", "x");
        }
    }

    @Test
    void eventsOfClientsHaveTheFieldsOfTheTable() {
        List<List<String>> rows = page.table("Events of clients and messages");
        assertThat(rows).hasSize(4);
        try (RawClient watcher = client("watcher")) {
            watcher.subscribe("$SYS/brokers/+/clients/emqx_c/#", 0);
            try (RawClient client = client("emqx_c")) {
                client.subscribe("t/1", 1);
                client.unsubscribe("t/1");
                client.disconnect();
            }
            Map<String, String> payloads = new HashMap<>();
            while (!payloads.containsKey("$SYS/brokers/smqtt/clients/emqx_c/disconnected")) {
                ReceivedPacket packet = watcher.expect(MqttMessageType.PUBLISH);
                payloads.put(packet.topic(), packet.text());
            }
            for (List<String> row : rows) {
                String topic = row.get(0).replace("NODE", "smqtt").replace("CLIENTID", "emqx_c");
                String payload = payloads.get(topic);
                assertThat(payload).as(topic).isNotNull();
                for (String field :
                        (row.get(2) + ", clientid, username, ts, timestamp, event, node").split(", | with ")) {
                    assertThat(payload).contains('"' + field.replace("`", "") + "\":");
                }
            }
        }
    }

    @Test
    void eventsOfMessagesAreThoseOfTheTable() {
        List<String> topics = page.text()
                .lines()
                .filter(line -> line.startsWith("  | `$events/message/"))
                .map(line -> line.split("`")[1])
                .toList();
        assertThat(topics).hasSize(4);
        try (RawClient watcher = client("events");
                RawClient publisher = client("p");
                RawClient subscriber = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            watcher.subscribe("$events/message/#", 0);
            ConnectBytes connect = ConnectBytes.of("small");
            connect.properties().maximumPacketSize(60);
            subscriber.connect(connect);
            subscriber.subscribe("seen/#", 1);
            Set<String> seen = new HashSet<>();
            await().until(
                            () -> { // the first ones may come before the broker knows of the subscription
                                publisher.publish("seen/1", "x", 1);
                                subscriber.pubAck(subscriber.expectPublish("seen/1", "x"));
                                publisher.publish("seen/2", "x".repeat(100), 0);
                                publisher.publish("unseen", "x", 0);
                                watcher.send((byte) 0xC0, (byte) 0);
                                for (ReceivedPacket packet = watcher.receive();
                                        packet != null && packet.type() == MqttMessageType.PUBLISH;
                                        packet = watcher.receive()) {
                                    seen.add(packet.topic());
                                }
                                return seen.containsAll(topics);
                            });
            assertThat(seen).containsExactlyInAnyOrderElementsOf(topics);
        }
    }

    @Test
    void decisionsOnClientsHaveTheFieldsOfTheTable() {
        List<String[]> rows = page.text()
                .lines()
                .filter(line -> line.startsWith("  | `$events/auth/"))
                .map(line -> line.split("\\|"))
                .toList();
        assertThat(rows).hasSize(2);
        try (RawClient watcher = client("decisions")) {
            watcher.subscribe("$events/auth/#", 0);
            Map<String, String> payloads = new HashMap<>();
            await().until(
                            () -> { // the first ones may come before the broker knows of the subscription
                                ConnectBytes connect = ConnectBytes.of("emqx_c");
                                connect.properties().authenticationMethod("none");
                                try (RawClient refused = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                                        RawClient client = client("emqx_c")) {
                                    refused.send(connect).expect(MqttMessageType.CONNACK);
                                    client.publish("t/1", "x", 1);
                                }
                                watcher.send((byte) 0xC0, (byte) 0);
                                for (ReceivedPacket packet = watcher.receive();
                                        packet != null && packet.type() == MqttMessageType.PUBLISH;
                                        packet = watcher.receive()) {
                                    payloads.merge(packet.topic(), packet.text(), String::concat);
                                }
                                String all = String.join(" ", payloads.values());
                                return Stream.of("success", "bad_authentication_method", "allow")
                                        .allMatch(text -> all.contains('"' + text + '"'));
                            });
            for (String[] row : rows) {
                String payload = payloads.get(row[1].strip().replace("`", ""));
                List<String> fields = Pattern.compile("`(\\w+)`")
                        .matcher(row[3])
                        .results()
                        .map(field -> field.group(1))
                        .toList();
                assertThat(fields).hasSizeGreaterThan(8);
                for (String field : fields) {
                    assertThat(payload).contains('"' + field + "\":");
                }
            }
        }
    }

    @Test
    void aRuleForRetainedMessagesOfTheFileIsListedAsInTheExample() {
        JsonNode rule = RestApi.of(broker)
                .token(TOKEN)
                .get("/mqtt/retainer/policies")
                .json()
                .path(0);
        assertThat(page.text().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("1 %s %s %s %s"
                        .formatted(
                                rule.path("topic").asText(),
                                rule.path("max_payload_size"),
                                rule.path("msg_expiry_interval"),
                                rule.path("name").asText()));
    }

    @Test
    void aCheckOfPayloadsThatOperatorsAddDecidesFromThenOn() {
        RestApi api = RestApi.of(broker).token(TOKEN);
        try (RawClient client = client("c")) {
            assertThat(reasonOf(client, "rooms/1", 1)).isLessThan(0x80);
            api.send(
                    "PUT",
                    "/schema_validations",
                    "[{\"name\":\"warm\",\"topics\":[\"rooms/+\"],"
                            + "\"checks\":[{\"type\":\"sql\",\"sql\":\"SELECT * FROM \\\"#\\\" WHERE payload.temp < 100\"}]}]");
            assertThat(reasonOf(client, "rooms/1", 2)).isEqualTo(0x83);
            client.publish("rooms/1", "{\"temp\": 20}", 1);
            api.send("PUT", "/schema_validations", "[]");
            assertThat(reasonOf(client, "rooms/1", 3)).isLessThan(0x80);
        }
    }

    @Test
    void topicMetricsAreThoseOfTheExample() {
        String expected = page.text()
                .lines()
                .filter(line -> line.startsWith("t/1  "))
                .map(line -> line.replaceAll(" +", " "))
                .findFirst()
                .orElseThrow();
        RestApi api = RestApi.of(broker).token(TOKEN);
        api.post("/mqtt/topic_metrics", "{\"topic\":\"t/1\"}");
        try (RawClient one = client("one");
                RawClient two = client("two");
                RawClient publisher = client("p")) {
            one.subscribe("t/1", 0);
            two.subscribe("t/#", 0);
            publisher.publish("t/1", "x", 0);
            publisher.publish("t/1", "x", 1);
        }
        JsonNode metrics = api.get("/mqtt/topic_metrics/t%2F1").json().path("metrics");
        assertThat("t/1 %s 0.4 %s 0.8 %s"
                        .formatted(
                                metrics.path("messages.in.count"),
                                metrics.path("messages.out.count"),
                                metrics.path("messages.dropped.count")))
                .isEqualTo(expected);
    }

    @Test
    void automaticSubscriptionsAreListedAsInTheExample() {
        JsonNode rules =
                RestApi.of(broker).token(TOKEN).get("/mqtt/auto_subscribe").json();
        List<String> shown = page.text()
                .lines()
                .filter(line -> line.matches("[12] +c.*"))
                .map(line -> line.replaceAll(" +", " "))
                .toList();
        assertThat(shown).hasSize(2);
        for (int i = 0; i < 2; i++) {
            JsonNode rule = rules.path(i);
            assertThat("%d %s %s %s %s %s %s"
                            .formatted(
                                    i + 1,
                                    rule.path("topic").asText(),
                                    rule.path("qos"),
                                    rule.path("nl"),
                                    rule.path("rap"),
                                    rule.path("rh"),
                                    rule.path("name").asText()))
                    .isEqualTo(shown.get(i));
        }
    }
}
