// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules of the real program, with an HTTP server that fails. */
class RulesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = Integer.getInteger("smqtt.rules.messages", 600);
    private static final int TOPICS = 20;
    private static final int INFLIGHT = 64;
    private static final String TOKEN = "0123456789abcdef-secret";
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    /** An HTTP server on a port of its own that is ended and begun again. It does not take rows with the word poison. */
    private static final class Receiver implements AutoCloseable {

        private static final Pattern ROW = Pattern.compile("\\{\"topic\":\"([^\"]+)\",\"n\":(\\d+)}");

        private final Map<String, List<Integer>> rows = new LinkedHashMap<>(); // guarded by itself
        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final int port = LoopbackPorts.one();
        private final CountDownLatch slow = new CountDownLatch(1);
        private HttpServer server;

        void start() throws IOException {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
            server.setExecutor(threads);
            server.createContext("/", this::answer);
            server.start();
        }

        void kill() {
            server.stop(0);
        }

        private void answer(HttpExchange exchange) throws IOException {
            try (exchange) {
                String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                if (exchange.getRequestURI().getPath().equals("/slow")) {
                    slow.await(1, TimeUnit.SECONDS);
                }
                boolean poison = body.contains("poison");
                if (!poison) {
                    take(ROW.matcher(body).results().toList());
                }
                exchange.sendResponseHeaders(poison ? 400 : 200, -1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void take(List<MatchResult> found) {
            synchronized (rows) {
                found.forEach(row -> rows.computeIfAbsent(row.group(1), topic -> new ArrayList<>())
                        .add(Integer.valueOf(row.group(2))));
            }
        }

        List<Integer> all() {
            synchronized (rows) {
                return rows.values().stream().flatMap(List::stream).toList();
            }
        }

        Map<String, List<Integer>> byTopic() {
            synchronized (rows) {
                Map<String, List<Integer>> copy = new LinkedHashMap<>();
                rows.forEach((topic, numbers) -> copy.put(topic, List.copyOf(numbers)));
                return copy;
            }
        }

        @Override
        public void close() {
            slow.countDown();
            server.stop(0);
            threads.shutdownNow();
        }
    }

    @Test
    void nothingIsLostWhileServerAndBrokerAreKilled() throws Exception {
        try (Receiver receiver = new Receiver()) {
            receiver.start();
            int sent = 0;
            for (int life = 0; life < 3; life++) {
                try (BrokerProcess broker = broker(receiver.port)) {
                    sent = publish(broker, sent, sent + MESSAGES / 3, receiver);
                    if (life < 2) {
                        broker.kill9();
                    } else {
                        int expected = sent;
                        await().atMost(PATIENCE).until(() -> new LinkedHashSet<>(receiver.all()).size() == expected);
                        awaitDeadLetters(3);
                        broker.terminate();
                    }
                }
            }
            int duplicates = receiver.all().size() - sent;
            System.out.println("rules: " + sent + " messages, " + duplicates + " duplicates");
            assertThat(duplicates)
                    .isBetween(0, 6 * INFLIGHT); // of three ends of the server, and two of the broker, and one more
            receiver.byTopic().values().forEach(numbers -> {
                Set<Integer> first = new LinkedHashSet<>(numbers);
                assertThat(new ArrayList<>(first)).isSorted();
            });
        }
    }

    /** Publishes numbers, acknowledged each, and one poison; the server is away for a while in the middle. */
    private static int publish(BrokerProcess broker, int from, int to, Receiver receiver) throws Exception {
        try (RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            publisher.connect("publisher");
            for (int n = from; n < to; n++) {
                if (n == (from + to) / 2) {
                    receiver.kill();
                    publisher.publish("in/poison", "{\"n\": \"poison\"}", 1);
                }
                publisher.publish("in/" + n % TOPICS, "{\"n\": " + n + "}", 1);
            }
        }
        receiver.start();
        return to;
    }

    private void awaitDeadLetters(int count) {
        Path file = directory.resolve("data/rules/forward-dead.jsonl");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(Files.readAllLines(file))
                        .hasSizeGreaterThanOrEqualTo(count)
                        .allMatch(line -> line.contains("\"reason\":\"status 400\"")
                                && line.contains("\"topic\":\"in/poison\"")));
    }

    @Test
    void slowServerDoesNotSlowPublishers() throws Exception {
        try (Receiver receiver = new Receiver()) {
            receiver.start();
            try (BrokerProcess broker = broker(receiver.port);
                    RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                    RawClient alarms = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
                alarms.connect("alarms");
                alarms.subscribe("alarms/#", 0);
                publisher.connect("publisher");
                long start = System.nanoTime();
                for (int n = 0; n < 200; n++) {
                    publisher.publish("slow/in", "{\"n\": " + n + "}", 1); // acknowledged each
                }
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
                publisher.publish("in/hot", "{\"n\": 7, \"t\": 41}", 1); // another rule flows
                alarms.expectPublish("alarms/publisher", "41");
                assertThat(receiver.all()).hasSizeLessThan(100);
                receiver.slow.countDown();
                List<Integer> all = IntStream.range(0, 200).boxed().toList();
                await().atMost(PATIENCE)
                        .until(() -> new LinkedHashSet<>(receiver.byTopic().getOrDefault("slow/in", List.of())).size()
                                == all.size());
                assertThat(new LinkedHashSet<>(receiver.byTopic().get("slow/in")))
                        .containsExactlyElementsOf(all);
            }
        }
    }

    @Test
    void rulesOfTheApiComeAndGoWhileTheBrokerRunsAndSurviveAKill() throws Exception {
        int management = LoopbackPorts.one();
        Files.writeString(directory.resolve("token"), TOKEN);
        String[] settings = {
            "management.enabled=true",
            "management.host=127.0.0.1",
            "management.port=" + management,
            "management.token-file=" + directory.resolve("token")
        };
        String api = "http://127.0.0.1:" + management + "/api/v5";
        String rule =
                "{\"id\": \"live\", \"sql\": \"SELECT clientid, payload.t AS t FROM \\\"live/#\\\"\", \"actions\":"
                        + " [{\"name\": \"out\", \"type\": \"republish\", \"topic\": \"%s\", \"payload\": \"${t}\", \"qos\": 1}]}";
        try (BrokerProcess broker = broker(1, settings);
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("client");
            publisher.connect("publisher");
            client.subscribe("first", 0);
            client.subscribe("second", 0);
            assertThat(send(
                                    "POST",
                                    api + "/rules",
                                    rule.replace("SELECT", "SELEKT").formatted("first"))
                            .body())
                    .contains("sql has a mistake: line 1, column 1");
            assertThat(send("POST", api + "/rules", rule.formatted("first")).statusCode())
                    .isEqualTo(201);
            awaitAction(api, "out");
            publisher.publish("live/1", "{\"t\": 1}", 1);
            client.expectPublish("first", "1");
            assertThat(send("PUT", api + "/rules/live", rule.formatted("second"))
                            .statusCode())
                    .isEqualTo(200);
            await().atMost(PATIENCE)
                    .until(() -> send("GET", api + "/rules/live", "").body().contains("\"topic\":\"second\""));
            assertThat(send("POST", api + "/rules/live/actions/out/probe", "").body())
                    .isEqualTo("{\"status\":\"connected\"}");
            assertThat(send(
                                    "POST",
                                    api + "/rule_test",
                                    "{\"sql\": \"SELECT payload.t AS t FROM \\\"a\\\"\", \"context\": {\"payload\": \"{\\\"t\\\": 5}\"}}")
                            .body())
                    .isEqualTo("{\"t\":5}");
            assertThat(send("DELETE", api + "/rules/hot", "").statusCode()).isEqualTo(404);
            assertThat(send("POST", api + "/rules/hot/stop", "").statusCode()).isEqualTo(400);
            stopAndStart(api, publisher, client);
            describeAndProbe(api);
            broker.kill9();
        }
        try (BrokerProcess broker = broker(1, settings);
                RawClient client = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            client.connect("client");
            publisher.connect("publisher");
            client.subscribe("second", 0);
            awaitAction(api, "out");
            publisher.publish("live/2", "{\"t\": 2}", 1);
            client.expectPublish("second", "2");
            assertThat(send("GET", api + "/rules/live/metrics", "").body()).contains("\"actions.success\":1");
            assertThat(send("DELETE", api + "/rules/live", "").statusCode()).isEqualTo(204);
            await().atMost(PATIENCE)
                    .until(() -> send("GET", api + "/rules/live", "").statusCode() == 404);
        }
    }

    private static void stopAndStart(String api, RawClient publisher, RawClient client) throws Exception {
        assertThat(send("POST", api + "/rules/live/stop", "").statusCode()).isEqualTo(204);
        await().atMost(PATIENCE)
                .until(() -> send("GET", api + "/rules/live", "").body().contains("\"status\":\"stopped\""));
        assertThat(send("GET", api + "/rules/live", "").body())
                .contains("\"enable\":false", "\"topic\":\"second\""); // an editor needs its settings
        assertThat(send("POST", api + "/rules/live/start", "").statusCode()).isEqualTo(204);
        await().atMost(PATIENCE)
                .until(() -> send("GET", api + "/rules/live", "").body().contains("\"status\":\"connected\""));
        publisher.publish("live/3", "{\"t\": 3}", 1);
        client.expectPublish("second", "3");
    }

    private static void describeAndProbe(String api) throws Exception {
        assertThat(send("GET", api + "/action_types", "").body()).contains("\"http\"", "\"republish\"");
        assertThat(send("GET", api + "/action_types/republish", "").body())
                .startsWith(
                        "{\"name\":\"republish\",\"keys\":[{\"name\":\"topic\",\"type\":\"template\",\"required\":true,")
                .contains(
                        "{\"name\":\"lanes\",\"type\":\"number\",\"default\":\"1\",\"minimum\":\"1\",\"maximum\":\"64\",");
        assertThat(send("POST", api + "/actions_probe", "{\"type\": \"republish\", \"topic\": \"x\"}")
                        .statusCode())
                .isEqualTo(204);
        assertThat(send("POST", api + "/actions_probe", "{\"type\": \"http\", \"url\": \"http://127.0.0.1:10/\"}")
                        .body())
                .contains("TEST_FAILED", "Connection refused");
        String secret =
                "{\"sql\": \"SELECT * FROM \\\"secret\\\"\", \"actions\": [{\"name\": \"hook\", \"type\": \"http\","
                        + " \"url\": \"http://127.0.0.1:10/\", \"headers\": {\"authorization\": \"%s\"}}]}";
        assertThat(send("PUT", api + "/rules/other", secret.formatted("***")).statusCode())
                .isEqualTo(400);
        assertThat(send(
                                "POST",
                                api + "/rules",
                                secret.formatted("Bearer x").replace("{\"sql", "{\"id\": \"other\", \"sql"))
                        .statusCode())
                .isEqualTo(201);
        assertThat(send("PUT", api + "/rules/other", secret.formatted("***")).statusCode())
                .isEqualTo(200);
        assertThat(send("GET", api + "/rules/other", "").body())
                .contains("\"headers.authorization\":\"***\"")
                .doesNotContain("Bearer");
        String action = "{\"name\": \"hook\", \"type\": \"http\", \"url\": \"http://127.0.0.1:10/\","
                + " \"headers\": {\"authorization\": \"***\"}}";
        assertThat(send("POST", api + "/actions_probe", action).body()).contains("must be given, its mask stands");
        assertThat(send("POST", api + "/actions_probe?rule=other", action).body())
                .contains("TEST_FAILED", "Connection refused");
        assertThat(send("POST", api + "/data/export", "").body()).contains("Bearer x");
        assertThat(send("DELETE", api + "/rules/other", "").statusCode()).isEqualTo(204);
    }

    private static void awaitAction(String api, String action) {
        await().atMost(PATIENCE)
                .until(() -> send("GET", api + "/rules/live", "").body().contains("\"name\":\"" + action + "\""));
    }

    private static HttpResponse<String> send(String method, String url, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .header("Authorization", "Bearer " + TOKEN)
                .header("Content-Type", "application/json")
                .timeout(PATIENCE)
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private BrokerProcess broker(int port, String... settings) throws Exception {
        Path file = Files.writeString(directory.resolve("test.yaml"), """
                management:
                  enabled: false
                access:
                  allow-anonymous: loopback
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                  ws:
                    enabled: false
                storage:
                  kind: rocksdb
                  dir: data
                rules:
                  forward:
                    sql: SELECT topic, payload.n AS n FROM "in/#"
                    actions:
                      hook:
                        type: http
                        url: http://127.0.0.1:%1$d/in
                        batch: array
                        batch-size: 20
                        inflight: %2$d
                        min-delay: 20ms
                        max-delay: 200ms
                        timeout: 2s
                  hot:
                    sql: SELECT clientid, payload.t AS t FROM "in/hot" WHERE payload.t > 40
                    actions:
                      alarm:
                        type: republish
                        topic: alarms/${clientid}
                        payload: ${t}
                  slow:
                    sql: SELECT topic, payload.n AS n FROM "slow/#"
                    actions:
                      hook:
                        type: http
                        url: http://127.0.0.1:%1$d/slow
                """.formatted(port, INFLIGHT));
        return BrokerProcess.start(directory, List.of(), file, settings);
    }
}
