// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.ApplicationParts;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ConfigValue;
import io.smqtt.config.SourceConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import io.smqtt.rules.sink.SourceOutput;
import io.smqtt.rules.source.SourcesProvider;
import io.smqtt.spi.BrokerStore;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.store.ManualStore;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Sources that operators make by the API: on one node, over a restart, and on two nodes of a cluster in memory. */
@Tag("slow")
@Timeout(120)
class SourceObjectsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private final MemoryNetwork network = new MemoryNetwork();

    @AfterEach
    void close() {
        network.close();
    }

    /** A type of sources whose runs go on until they are cancelled, by the topics of their messages. */
    private static final class Inlet implements SourceFactory {

        final List<String> runs = new CopyOnWriteArrayList<>();

        @Override
        public String type() {
            return "inlet";
        }

        @Override
        public List<SinkSetting> settings() {
            return List.of(SinkSetting.text("code", null, "a secret").secret());
        }

        @Override
        public Source open(SourceContext context) {
            String topic = context.config().topic();
            return new Source() {
                @Override
                public Mono<Void> run(SourceOutput out) {
                    return Mono.<Void>never()
                            .doOnSubscribe(begins -> runs.add(topic))
                            .doFinally(signal -> runs.remove(topic));
                }

                @Override
                public Mono<Void> check() {
                    return Mono.empty();
                }

                @Override
                public void close() {}
            };
        }
    }

    /** A broker with its API, and a type of sources of its own. */
    private final class Node extends ApiNode {

        final Inlet inlet;

        Node(@Nullable String name, @Nullable BrokerStore store) throws IOException {
            this(new Inlet(), name, store);
        }

        private Node(Inlet inlet, @Nullable String name, @Nullable BrokerStore store) throws IOException {
            super(
                    directory,
                    all -> all.sources(Map.of(
                            "fixed",
                            SourceConfig.builder("inlet", "fixed")
                                    .settings(Map.of("code", new ConfigValue("c0de", "test", Path.of(""))))
                                    .build())),
                    (config, parts) -> {
                        new SourcesProvider().create(config, types(inlet)).accept(parts);
                        if (name != null) {
                            parts.module(ClusterModule.of(
                                    ClusterConfig.builder().nodeId(name).build(), network.transport(name)));
                        }
                        return parts.store(store);
                    });
            this.inlet = inlet;
        }

        JsonNode source(String name) throws IOException, InterruptedException {
            return get("/sources/" + name);
        }

        void awaitStatus(String name, String status) {
            await().atMost(PATIENCE)
                    .until(() -> source(name).path("status").asText().equals(status));
        }

        void awaitRuns(String... topics) {
            await().atMost(PATIENCE)
                    .until(() -> List.copyOf(inlet.runs).stream().sorted().toList(), List.of(topics)::equals);
        }
    }

    private static ApplicationParts types(Inlet inlet) {
        return new ApplicationParts() {
            @Override
            public <T> List<T> of(Class<T> type) {
                return type == SourceFactory.class ? List.of(type.cast(inlet)) : List.of();
            }
        };
    }

    private static String inlet(String topic, String more) {
        return "{\"id\": \"live\", \"type\": \"inlet\", \"topic\": \"" + topic + "\"" + more + "}";
    }

    @Test
    void requestsBecomeMessagesUntilTheSourceIsDeleted() throws Exception {
        int port = LoopbackPorts.one();
        String hook = "{\"id\": \"hook\", \"type\": \"http\", \"port\": " + port
                + ", \"path\": \"/in\", \"topic\": \"%s/${path}\", \"token-file\": \""
                + Files.writeString(directory.resolve("in.token"), "s3cret") + "\"}";
        try (Node node = new Node(null, null);
                RawClient client = node.broker.client(ProtocolVersion.MQTT_5, "client")) {
            client.subscribe("#", 1);
            assertThat(node.send("POST", "/sources_probe", hook.formatted("a")).status())
                    .isEqualTo(204);
            assertThat(node.send("POST", "/sources", hook.formatted("a")).status())
                    .isEqualTo(201);
            assertThat(node.send("POST", "/sources", hook.formatted("a")).body())
                    .contains("ALREADY_EXISTS");
            node.awaitStatus("hook", "running");
            assertThat(post(port, "17", "one")).isEqualTo(204);
            client.expectPublish("a/17", "one");

            assertThat(node.send("PUT", "/sources/hook", hook.formatted("b")).status())
                    .isEqualTo(200);
            await().atMost(PATIENCE)
                    .until(() -> node.source("hook")
                                    .path("metrics")
                                    .path("published")
                                    .asInt()
                            == 0);
            node.awaitStatus("hook", "running"); // the next one, whose counts begin at 0
            assertThat(post(port, "18", "two")).isEqualTo(204);
            client.expectPublish("b/18", "two");
            assertThat(node.send("POST", "/sources_probe?source=hook", hook.formatted("b"))
                            .status())
                    .isEqualTo(204);

            assertThat(node.send("DELETE", "/sources/hook", "").status()).isEqualTo(204);
            assertThat(node.send("GET", "/sources/hook", "").status()).isEqualTo(404);
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThatThrownBy(() -> post(port, "19", "three")).isInstanceOf(ConnectException.class));
        }
    }

    private int post(int port, String path, String body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/in/" + path))
                .header("Authorization", "Bearer s3cret")
                .POST(BodyPublishers.ofString(body))
                .timeout(PATIENCE)
                .build();
        return http.send(request, BodyHandlers.discarding()).statusCode();
    }

    @Test
    void aSourceSurvivesARestartAndItsSecretIsShownNowhere() throws Exception {
        ManualStore store = new ManualStore();
        try (Node node = new Node(null, store)) {
            assertThat(node.send("POST", "/sources", inlet("a", ", \"code\": \"c0de\""))
                            .status())
                    .isEqualTo(201);
            node.awaitRuns("a", "fixed");
            assertThat(node.send("GET", "/sources", "").body())
                    .contains("\"code\":\"***\"", "\"topic\":\"a\"")
                    .doesNotContain("c0de");
        }
        try (Node node = new Node(null, store.reopened(System::nanoTime))) {
            node.awaitRuns("a", "fixed");
            String masked = inlet("b", ", \"code\": \"***\"");
            assertThat(node.send("POST", "/sources", masked.replace("live", "other"))
                            .body())
                    .contains("the secret code must be given");
            assertThat(node.send("PUT", "/sources/live", masked).status()).isEqualTo(200);
            node.awaitRuns("b", "fixed");
            assertThat(node.send("POST", "/data/export", "").body()).contains("c0de");

            assertThat(node.send("POST", "/sources/live/disable", "").status()).isEqualTo(204);
            node.awaitRuns("fixed");
            JsonNode off = node.source("live");
            assertThat(off.path("enable").asBoolean(true)).isFalse();
            assertThat(off.path("status").asText()).isEqualTo("stopped");
            assertThat(off.path("settings").path("topic").asText()).isEqualTo("b");
            assertThat(node.send("POST", "/sources/live/start", "").body()).contains("the source is disabled");
            assertThat(node.send("POST", "/sources/live/enable", "").status()).isEqualTo(204);
            node.awaitRuns("b", "fixed");
        }
    }

    @Test
    void mistakesAreAnsweredWithTheirKeyAndChangeNothing() throws Exception {
        try (Node node = new Node(null, null)) {
            ApiNode.Reply wrong = node.send("POST", "/sources", inlet("a", ", \"cod\": \"1\", \"nodes\": \"one\""));
            assertThat(wrong.status()).isEqualTo(400);
            assertThat(wrong.body()).contains("sources.live.cod is no key of this type, which has code");
            assertThat(node.send("POST", "/sources", inlet("a", ", \"qos\": 3")).body())
                    .contains("sources.live.qos must be");
            assertThat(node.send("POST", "/sources", "{\"id\": \"live\", \"topic\": \"a\"}")
                            .status())
                    .isEqualTo(400);
            assertThat(node.send("PUT", "/sources/live", inlet("a", "")).status())
                    .isEqualTo(404);
            assertThat(node.send("DELETE", "/sources/live", "").status()).isEqualTo(404);
            assertThat(node.send("POST", "/sources/live/enable", "").status()).isEqualTo(404);
            assertThat(node.send("DELETE", "/sources/fixed", "").status()).isEqualTo(404);
            assertThat(node.send("POST", "/sources/fixed/disable", "").body())
                    .contains("sources.fixed is in the configuration, and cannot be changed");
            assertThat(node.send("PUT", "/sources/fixed", inlet("a", "")).body())
                    .contains("sources.fixed is in the configuration, and cannot be changed");
            assertThat(node.source("fixed").path("source").asText()).isEqualTo("file");
            assertThat(node.source("fixed").has("settings")).isFalse();
            assertThat(node.send("GET", "/source_types", "").body()).contains("\"http\"", "\"inlet\"");
            assertThat(node.send("GET", "/source_types/inlet", "").body())
                    .contains("\"name\":\"code\",\"type\":\"text\",\"required\":false,\"secret\":true")
                    .contains("\"name\":\"topic\"", "\"common_keys\"");
            assertThat(node.send("GET", "/source_types/none", "").status()).isEqualTo(404);
            assertThat(node.send("POST", "/sources_probe", inlet("a/#", "")).status())
                    .isEqualTo(400);
        }
    }

    @Test
    void eachNodeOfAClusterHasASourceOrOneOfThem() throws Exception {
        try (Node a = new Node("a", null);
                Node b = new Node("b", null)) {
            await().atMost(PATIENCE).until(() -> a.inlet.runs.size() + b.inlet.runs.size() == 1); // fixed
            assertThat(a.send("POST", "/sources", inlet("each", ", \"nodes\": \"each\""))
                            .status())
                    .isEqualTo(201);
            await().atMost(PATIENCE).until(() -> a.inlet.runs.contains("each") && b.inlet.runs.contains("each"));
            assertThat(b.source("live").path("source").asText()).isEqualTo("api");
            assertThat(b.source("live").path("node_status").findValuesAsText("node"))
                    .containsExactly("a", "b");

            assertThat(b.send("PUT", "/sources/live", inlet("one", "")).status())
                    .isEqualTo(200);
            await().atMost(PATIENCE).until(() -> runs(a, "each") + runs(b, "each") == 0);
            await().atMost(PATIENCE).until(() -> runs(a, "one") + runs(b, "one") == 1);
            a.awaitStatus("live", "running"); // the other one is on standby

            assertThat(a.send("POST", "/sources/live/disable", "").status()).isEqualTo(204);
            await().atMost(PATIENCE).until(() -> runs(a, "one") + runs(b, "one") == 0);
            b.awaitStatus("live", "stopped");
            assertThat(b.send("POST", "/sources/live/enable", "").status()).isEqualTo(204);
            await().atMost(PATIENCE).until(() -> runs(a, "one") + runs(b, "one") == 1);
            assertThat(a.send("DELETE", "/sources/live", "").status()).isEqualTo(204);
            await().atMost(PATIENCE).until(() -> runs(a, "one") + runs(b, "one") == 0);
            await().atMost(PATIENCE)
                    .until(() -> b.send("GET", "/sources/live", "").status() == 404);
        }
    }

    private static int runs(Node node, String topic) {
        return (int) node.inlet.runs.stream().filter(topic::equals).count();
    }
}
