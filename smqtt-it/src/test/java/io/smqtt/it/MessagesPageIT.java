// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
        Path file = Files.writeString(directory.resolve("smqtt.yaml"), String.join("\n", page.blocks("yaml")) + """

                management: {port: 0}
                access: {allow-anonymous: true}
                mqtt: {exclusive-subscriptions: true}
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
        assertThat(rows).hasSize(3);
        try (RawClient publisher = client("p")) {
            for (List<String> row : rows.subList(0, 2)) {
                assertThat(reasonOf(publisher, row.get(0), 1)).as(row.get(0)).isLessThan(0x80);
            }
            for (String topic : rows.get(2).get(0).split("`, `|`, or a delay")) {
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
}
