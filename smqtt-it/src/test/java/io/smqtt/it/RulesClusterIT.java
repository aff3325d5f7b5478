// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
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
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules and sources of two real nodes with stores, one of which is killed and returns. */
@Tag("long")
class RulesClusterIT {

    private static final Duration PATIENCE = LoopbackCluster.PATIENCE;
    private static final int PART = 50;
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @TempDir
    Path directory;

    private LoopbackCluster nodes;

    /** Takes rows, or answers 503. */
    private static final class Receiver implements AutoCloseable {

        private static final Pattern ROW = Pattern.compile("\\{\"node\":\"(n\\d)\",\"n\":\"([^\"]+)\"}");

        private final List<String> rows = new ArrayList<>(); // "node number"; guarded by itself
        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final HttpServer server;
        private volatile boolean failing;

        Receiver() throws IOException {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setExecutor(threads);
            server.createContext("/", this::answer);
            server.start();
        }

        int port() {
            return server.getAddress().getPort();
        }

        private void answer(HttpExchange exchange) throws IOException {
            try (exchange) {
                String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
                boolean fails = failing;
                if (!fails) {
                    synchronized (rows) {
                        ROW.matcher(body).results().forEach(row -> rows.add(row.group(1) + ' ' + row.group(2)));
                    }
                }
                exchange.sendResponseHeaders(fails ? 503 : 200, -1);
            }
        }

        List<String> rows() {
            synchronized (rows) {
                return List.copyOf(rows);
            }
        }

        @Override
        public void close() {
            server.stop(0);
            threads.shutdownNow();
        }
    }

    @Test
    void eachNodeHasTheRulesAndOneOfThemASourceUntilItIsKilled() throws Exception {
        int port = LoopbackPorts.one();
        try (Receiver receiver = new Receiver();
                LoopbackCluster cluster = LoopbackCluster.start(directory, 2, "rocksdb", settings(receiver, port))) {
            nodes = cluster;
            liveRuleOfOneNodeWorksOnBoth();

            int victim = nodeThatHas("single");
            int other = 1 - victim;
            List<String> expected = new ArrayList<>();
            for (int node = 0; node < 2; node++) {
                expected.addAll(publish(node, "before"));
            }
            await().atMost(PATIENCE).until(() -> receiver.rows().size() >= expected.size());
            assertThat(receiver.rows()).as("each message once, by its node").hasSameElementsAs(expected);
            assertThat(receiver.rows()).hasSameSizeAs(expected);
            post(port, "here");

            receiver.failing = true;
            expected.addAll(publish(victim, "waiting"));
            nodes.broker(victim).kill9();
            receiver.failing = false;
            try (RawClient client = nodes.client(other, "client")) {
                client.subscribe("single/#", 1);
                post(port, "moved");
                client.expectPublish("single/moved", "text");
            }
            expected.addAll(publish(other, "alone"));

            nodes.restart(victim);
            await().atMost(PATIENCE).until(() -> new HashSet<>(receiver.rows()).containsAll(expected));
            assertThat(new HashSet<>(receiver.rows())).hasSameSizeAs(expected);
            sourceOfEachNodeListensOnBoth();
            accountsClose();
        }
    }

    private static String[] settings(Receiver receiver, int port) {
        return new String[] {
            "rules.forward.sql=SELECT node, payload AS n FROM \"in/#\"",
            "rules.forward.actions.hook.type=http",
            "rules.forward.actions.hook.url=http://127.0.0.1:" + receiver.port() + "/",
            "rules.forward.actions.hook.batch=array",
            "rules.forward.actions.hook.min-delay=50ms",
            "rules.forward.actions.hook.max-delay=200ms",
            "sources.single.type=http",
            "sources.single.port=" + port,
            "sources.single.topic=single/${path}",
            "sources.single.min-delay=100ms",
            "sources.every.type=http",
            "sources.every.port=0",
            "sources.every.topic=every/${path}",
            "sources.every.nodes=each"
        };
    }

    private RestApi api(int node) throws IOException {
        return RestApi.of(nodes.broker(node))
                .token(Files.readString(directory.resolve("n" + node + "/data/management.token")));
    }

    /** Publishes messages to a node; returns the rows that they become. */
    private List<String> publish(int node, String part) {
        List<String> rows = new ArrayList<>();
        try (RawClient client = nodes.client(node, "publisher-" + node)) {
            for (int i = 0; i < PART; i++) {
                client.publish("in/" + i % 5, part + '-' + i, 1);
                rows.add("n" + node + ' ' + part + '-' + i);
            }
        }
        return rows;
    }

    private void liveRuleOfOneNodeWorksOnBoth() throws Exception {
        String rule = "{\"id\": \"live\", \"sql\": \"SELECT node, payload AS n FROM \\\"live/#\\\"\", \"actions\":"
                + " [{\"name\": \"out\", \"type\": \"republish\", \"topic\": \"out/${node}\", \"payload\": \"${n}\", \"qos\": 1}]}";
        RestApi.Reply made = api(0).post("/rules", rule);
        assertThat(made.status()).as(made.text()).isEqualTo(201);
        for (int node = 0; node < 2; node++) {
            awaitConnected(api(node), "live");
        }
        try (RawClient client = nodes.client(0, "client");
                RawClient here = nodes.client(0, "here");
                RawClient there = nodes.client(1, "there")) {
            client.subscribe("out/#", 0);
            awaitRoute(there, client, "out/known");
            here.publish("live/1", "1", 1);
            client.expectPublish("out/n0", "1");
            there.publish("live/2", "2", 1);
            client.expectPublish("out/n1", "2"); // and not again "1" by the other node
        }
    }

    /** The node of a publisher knows the subscription of another one then. */
    private static void awaitRoute(RawClient publisher, RawClient subscriber, String topic) {
        LoopbackCluster.publishUntilMatched(publisher, topic, "known");
        subscriber.expectPublish(topic, "known");
    }

    private static void awaitConnected(RestApi api, String rule) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            RestApi.Reply shown = api.get("/rules/" + rule);
            assertThat(shown.status()).isEqualTo(200);
            JsonNode action = shown.json().path("actions").path(0);
            assertThat(action.path("status").asText()).as(shown.text()).isEqualTo("connected");
            assertThat(action.path("node_status")).as(shown.text()).hasSize(2);
        });
    }

    /** The node that runs a source, while the other one stands by. */
    private int nodeThatHas(String source) throws Exception {
        RestApi api = api(0);
        int[] found = {-1};
        await().atMost(PATIENCE).untilAsserted(() -> {
            JsonNode states = api.get("/sources/" + source).json().path("node_status");
            assertThat(states.findValuesAsText("status")).containsExactlyInAnyOrder("running", "standby");
            states.forEach(state -> {
                if (state.path("status").asText().equals("running")) {
                    found[0] = state.path("node").asText().charAt(1) - '0';
                }
            });
        });
        return found[0];
    }

    /** Sends a request to a source until it is taken: the port may be closed for a moment. */
    private static void post(int port, String path) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/" + path))
                .POST(HttpRequest.BodyPublishers.ofString("text"))
                .timeout(PATIENCE)
                .build();
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> HTTP.send(request, HttpResponse.BodyHandlers.discarding())
                                .statusCode()
                        == 204);
    }

    private void sourceOfEachNodeListensOnBoth() {
        for (int node = 0; node < 2; node++) {
            String line = nodes.broker(node).awaitLine("source every: bound to ");
            try (RawClient client = nodes.client(1 - node, "client");
                    RawClient near = nodes.client(node, "near")) {
                client.subscribe("every/#", 0);
                awaitRoute(near, client, "every/known");
                post(Integer.parseInt(line.substring(line.lastIndexOf(':') + 1).strip()), "node-" + node);
                client.expectPublish("every/node-" + node, "text");
            }
        }
    }

    /** On each node: received messages are pending, without a result, in a circle or matched; matched ones are a success, dead, dropped or queued. */
    private void accountsClose() throws Exception {
        RestApi api = api(0);
        for (String rule : List.of("forward", "live")) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                JsonNode action =
                        api.get("/rules/" + rule).json().path("actions").path(0);
                assertThat(action.path("node_status")).hasSize(2);
                for (JsonNode node : action.path("node_status")) {
                    JsonNode counts = node.path("metrics");
                    assertThat(sum(counts, "received"))
                            .isEqualTo(sum(counts, "matched", "no_result", "loops", "pending"));
                    assertThat(sum(counts, "matched")).isEqualTo(sum(counts, "success", "dead", "dropped", "queued"));
                    assertThat(sum(counts, "waiting", "queued", "pending")).isZero();
                }
            });
        }
        JsonNode forward = api.get("/rules/forward").json().path("actions").path(0);
        List<Long> successes = IntStream.range(0, 2)
                .mapToObj(i -> sum(forward.path("node_status").path(i).path("metrics"), "success"))
                .toList();
        assertThat(successes).allMatch(count -> count >= PART); // what waited on one, what came later to the other
        assertThat(sum(forward.path("metrics"), "success")).isEqualTo(successes.get(0) + successes.get(1));
    }

    private static long sum(JsonNode counts, String... names) {
        long sum = 0;
        for (String name : names) {
            assertThat(counts.has(name)).as(name + " of " + counts).isTrue();
            sum += counts.path(name).asLong();
        }
        return sum;
    }
}
