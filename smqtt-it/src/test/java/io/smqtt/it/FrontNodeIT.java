// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static io.smqtt.thread.ThreadPerTask.THREADS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import com.hivemq.client.mqtt.mqtt5.Mqtt5Client;
import com.hivemq.client.mqtt.mqtt5.message.connect.connack.Mqtt5ConnAck;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import io.smqtt.test.LoopbackPorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client of a front node whose session one of two other nodes stores; the front node is killed, and then the other node. Three processes. */
class FrontNodeIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String TOPIC = "front/topic";
    private static final String CLIENT = "stored";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Integer> ports = LoopbackPorts.some(6);

    private BrokerProcess node(String name, int index, String role) {
        Path home = directory.resolve(name);
        String yaml =
                """
                management:
                  port: 0
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: %d
                  ws:
                    enabled: false
                cluster:
                  enabled: true
                  node-id: %s
                  bind: 127.0.0.1:%d
                  seeds: ['127.0.0.1:%d', '127.0.0.1:%d']
                  secret: not-a-secret-at-all
                %s
                """.formatted(index == 2 ? ports.get(5) : 0, name, ports.get(index), ports.get(0), ports.get(1), role);
        try {
            Files.createDirectories(home);
            Path file = Files.writeString(home.resolve("smqtt.yaml"), yaml);
            return BrokerProcess.start(home, List.of(), file);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private BrokerProcess keeper(String name, int index) {
        return node(name, index, "  relay: {bind: '127.0.0.1:" + ports.get(3 + index) + "'}");
    }

    private BrokerProcess front() {
        return node("front", 2, "  role: front");
    }

    private String get(BrokerProcess broker, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + broker.port("management") + path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("Accept", path.equals("/metrics") ? "text/plain" : "application/json")
                .timeout(PATIENCE)
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private boolean serves(BrokerProcess broker) throws Exception {
        return get(broker, "/metrics")
                .lines()
                .anyMatch(line -> line.startsWith("smqtt_cluster_relay_connections ")
                        && Double.parseDouble(line.substring(line.indexOf(' '))) == 1);
    }

    private static Mqtt5BlockingClient client(BrokerProcess broker, String clientId) {
        return Mqtt5Client.builder()
                .identifier(clientId)
                .serverHost("127.0.0.1")
                .serverPort(broker.port("tcp"))
                .buildBlocking();
    }

    private static Mqtt5ConnAck resume(Mqtt5BlockingClient client) {
        return client.connectWith()
                .cleanStart(false)
                .sessionExpiryInterval(1_000)
                .send();
    }

    private static void publish(Mqtt5BlockingClient client, String text) {
        client.publishWith()
                .topic(TOPIC)
                .qos(MqttQos.EXACTLY_ONCE)
                .payload(text.getBytes(StandardCharsets.UTF_8))
                .send();
    }

    private static @Nullable String text(Mqtt5BlockingClient.Mqtt5Publishes messages, long millis) throws Exception {
        Mqtt5Publish message = messages.receive(millis, TimeUnit.MILLISECONDS).orElse(null);
        return message == null ? null : new String(message.getPayloadAsBytes(), StandardCharsets.UTF_8);
    }

    private void awaitKeepers(BrokerProcess front, int count) {
        await().atMost(PATIENCE)
                .until(() -> get(front, "/cluster").split("\"reachable\":true", -1).length == 1 + count);
    }

    @Test
    @Tag("long")
    void theSessionOutlivesTheFrontNodeAndBeginsAnewWithoutItsNode() throws Exception {
        CompletableFuture<BrokerProcess> first = CompletableFuture.supplyAsync(() -> keeper("a", 0), THREADS);
        CompletableFuture<BrokerProcess> second = CompletableFuture.supplyAsync(() -> keeper("b", 1), THREADS);
        CompletableFuture<BrokerProcess> before = CompletableFuture.supplyAsync(this::front, THREADS);
        try (BrokerProcess a = first.get();
                BrokerProcess b = second.get();
                BrokerProcess killed = before.get()) {
            awaitKeepers(killed, 2);
            Mqtt5BlockingClient publisher = client(a, "publisher");
            publisher.connect();
            Mqtt5BlockingClient lost = client(killed, CLIENT);
            assertThat(resume(lost).isSessionPresent()).isFalse();
            try (Mqtt5BlockingClient.Mqtt5Publishes messages = lost.publishes(MqttGlobalPublishFilter.ALL)) {
                lost.subscribeWith()
                        .topicFilter(TOPIC)
                        .qos(MqttQos.EXACTLY_ONCE)
                        .send();
                publish(lost, "by the front node");
                assertThat(text(messages, PATIENCE.toMillis())).isEqualTo("by the front node");
            }

            killed.kill9();
            for (int i = 0; i < 5; i++) {
                publish(publisher, "while it is away " + i);
            }

            try (BrokerProcess front = front()) {
                awaitKeepers(front, 2);
                Mqtt5BlockingClient found = client(front, CLIENT);
                try (Mqtt5BlockingClient.Mqtt5Publishes messages = found.publishes(MqttGlobalPublishFilter.ALL)) {
                    assertThat(resume(found).isSessionPresent()).isTrue();
                    for (int i = 0; i < 5; i++) {
                        assertThat(text(messages, PATIENCE.toMillis())).isEqualTo("while it is away " + i);
                    }
                    publish(found, "the last");
                    assertThat(text(messages, PATIENCE.toMillis())).isEqualTo("the last");
                }
                assertThat(get(front, "/cluster")).contains("\"role\":\"front\"");

                await().atMost(PATIENCE).until(() -> serves(a) || serves(b));
                BrokerProcess server = serves(a) ? a : b;
                server.kill9();
                await().atMost(PATIENCE).until(() -> !found.getState().isConnected());
                Mqtt5BlockingClient again = client(front, CLIENT);
                await().atMost(PATIENCE)
                        .ignoreExceptions()
                        .until(() -> !resume(again).isSessionPresent());
                await().atMost(PATIENCE).until(() -> serves(server == a ? b : a));
                again.disconnect();
            }
        }
    }
}
