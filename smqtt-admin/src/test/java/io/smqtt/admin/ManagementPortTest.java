// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.Broker;
import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.ManagementConfigBuilder;
import io.smqtt.metric.MetricModule;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.SampleCluster;
import io.smqtt.spi.StoreFigures;
import io.smqtt.transport.BindFailedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class ManagementPortTest {

    private static final String TOKEN = "0123456789abcdef-secret";

    @TempDir
    Path directory;

    @Test
    void aRunningBrokerLivesAndIsReady() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            HttpResponse<String> ready = broker.get("/health/ready");

            assertThat(ready.statusCode()).isEqualTo(200);
            assertThat(ready.body())
                    .isEqualTo(
                            "{\"status\":\"up\",\"listeners\":\"bound\",\"store\":\"none\",\"overload\":\"none\"}\n");
            assertThat(broker.get("/health/live").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void whileOtherModulesStartTheBrokerLivesAndIsNotReady() throws Exception {
        BrokerConfig config = config(ManagementConfig.builder().port(0).sysInterval(Duration.ZERO));
        MetricModule metrics = MetricModule.create(config);
        AdminModule admin = AdminModule.create(config);
        CompletableFuture<String> starter = new CompletableFuture<>();
        Sinks.Empty<Void> joined = Sinks.empty();
        BrokerModule slow = new BrokerModule() {

            @Override
            public Mono<Void> start(Core core) {
                starter.complete(Thread.currentThread().getName());
                return joined.asMono();
            }

            @Override
            public Mono<Void> stop() {
                return Mono.empty();
            }
        };
        CompletableFuture<Broker> start = Broker.builder()
                .config(config)
                .observer(metrics.observer())
                .module(metrics)
                .module(admin)
                .module(slow)
                .module(new ManagedBroker.Cluster(SampleCluster.three(ClusterStatus.State.JOINING)))
                .start()
                .toFuture();
        assertThat(starter.get(30, TimeUnit.SECONDS)).doesNotContain("smqtt-management");

        URI uri = URI.create(
                "http://127.0.0.1:" + Objects.requireNonNull(admin.address()).getPort() + "/health/ready");
        HttpResponse<String> ready = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        joined.tryEmitEmpty();
        start.get(30, TimeUnit.SECONDS).close(Duration.ofSeconds(1)).block(Duration.ofSeconds(30));

        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.body()).contains("\"listeners\":\"starting\"", "\"cluster\":\"joining\"");
    }

    @Test
    void aDrainingBrokerIsNotReadyAndLives() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            broker.metrics.draining();

            HttpResponse<String> ready = broker.get("/health/ready");
            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).contains("\"status\":\"down\"", "\"listeners\":\"draining\"");
            assertThat(broker.get("/health/live").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aFailingStoreIsNotReadyUntilItIsWellAgain() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            broker.metrics.observer().storeMeasured(new StoreFigures(false, 1, 2, 3, 4));
            assertThat(broker.get("/health/ready").statusCode()).isEqualTo(503);

            broker.metrics.observer().storeMeasured(new StoreFigures(true, 1, 2, 3, 4));
            assertThat(broker.get("/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void onlyWhoHasTheTokenSeesMetrics() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        try (ManagedBroker broker = new ManagedBroker(config -> config, management -> management.tokenFile(file))) {
            assertThat(broker.get("/metrics").statusCode()).isEqualTo(401);
            assertThat(broker.get("/metrics", "Authorization", "Bearer wrong").statusCode())
                    .isEqualTo(401);
            assertThat(broker.get("/metrics", "Authorization", "Basic " + TOKEN).statusCode())
                    .isEqualTo(401);
            HttpResponse<String> health = broker.get("/health/ready", "Authorization", "Bearer of-yesterday");
            assertThat(health.statusCode()).isEqualTo(200);
            assertThat(health.body()).isEqualTo("{\"status\":\"up\"}\n");

            assertThat(broker.get("/other").statusCode()).isEqualTo(401);
            assertThat(broker.get("/other", "Authorization", "Bearer " + TOKEN).statusCode())
                    .isEqualTo(404);
            HttpResponse<String> allowed = broker.get("/metrics", "Authorization", "Bearer " + TOKEN);
            assertThat(allowed.statusCode()).isEqualTo(200);
            assertThat(allowed.body()).contains("smqtt_messages_received_total");
        }
    }

    @Test
    void aWrongTokenIsCalledWrongOnEveryPath() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        try (ManagedBroker broker = new ManagedBroker(config -> config, management -> management.tokenFile(file))) {
            broker.module.endpoint("/added/", request -> Mono.just(ManagementEndpoint.Answer.text(200, "ok\n")));
            for (String path : new String[] {"/added/x", "/metrics", "/cluster", "/other"}) {
                assertThat(broker.get(path).body()).as(path).startsWith("a token is needed");
                HttpResponse<String> wrong = broker.get(path, "Authorization", "Bearer 0123456789abcdef-other");
                assertThat(wrong.statusCode()).as(path).isEqualTo(401);
                assertThat(wrong.body()).as(path).isEqualTo("wrong token\n");
            }
            assertThat(broker.get("/added/x", "Authorization", "Bearer " + TOKEN)
                            .body())
                    .isEqualTo("ok\n");
        }
    }

    @Test
    void aReloadReadsTheTokenAgain() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        try (ManagedBroker broker = new ManagedBroker(config -> config, management -> management.tokenFile(file))) {
            Files.writeString(file, TOKEN + "-2");
            assertThat(broker.broker.reload().reloaded()).containsExactly(file.toString());

            assertThat(broker.get("/metrics", "Authorization", "Bearer " + TOKEN)
                            .statusCode())
                    .isEqualTo(401);
            assertThat(broker.get("/metrics", "Authorization", "Bearer " + TOKEN + "-2")
                            .statusCode())
                    .isEqualTo(200);

            Files.delete(file);
            assertThat(broker.broker.reload().failed())
                    .singleElement()
                    .asString()
                    .contains("management.token-file");
            assertThat(broker.get("/metrics", "Authorization", "Bearer " + TOKEN + "-2")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void withoutTheTokenHealthTellsOneWord() throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TOKEN);
        try (ManagedBroker broker = new ManagedBroker(config -> config, management -> management.tokenFile(file))) {
            assertThat(broker.get("/health/ready").body()).isEqualTo("{\"status\":\"up\"}\n");
            assertThat(broker.get("/health/ready", "Authorization", "Bearer " + TOKEN)
                            .body())
                    .contains("listeners");
        }
    }

    @Test
    void otherPathsAndMethodsAreRefused() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            HttpResponse<String> other = broker.get("/control");
            assertThat(other.statusCode()).isEqualTo(401);
            assertThat(other.body()).contains("management.token-file");
            HttpResponse<String> post = broker.post("/metrics");
            assertThat(post.statusCode()).isEqualTo(405);
            assertThat(post.headers().firstValue("allow")).hasValue("GET, HEAD");
        }
    }

    @Test
    void withoutAModuleForMetricsThereIsHealthAlone() throws Exception {
        BrokerConfig config = config(ManagementConfig.builder().port(0));
        AdminModule admin = AdminModule.create(config);
        Broker broker = Objects.requireNonNull(
                Broker.builder().config(config).module(admin).start().block(Duration.ofSeconds(30)));
        try {
            String port = "http://127.0.0.1:"
                    + Objects.requireNonNull(admin.address()).getPort();
            HttpClient http = HttpClient.newHttpClient();
            HttpResponse<String> ready = http.send(
                    HttpRequest.newBuilder(URI.create(port + "/health/ready")).build(),
                    HttpResponse.BodyHandlers.ofString());
            HttpResponse<String> metrics = http.send(
                    HttpRequest.newBuilder(URI.create(port + "/metrics")).build(),
                    HttpResponse.BodyHandlers.ofString());

            assertThat(ready.body()).isEqualTo("{\"status\":\"up\"}\n");
            assertThat(metrics.statusCode()).isEqualTo(404);
        } finally {
            broker.close(Duration.ofSeconds(1)).block(Duration.ofSeconds(30));
        }
    }

    @Test
    void otherAddressesThanLoopbackNeedAToken() {
        BrokerConfig config = config(ManagementConfig.builder().host("0.0.0.0").port(0));

        assertThatThrownBy(() -> AdminModule.create(config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.token-file")
                .hasMessageContaining("0.0.0.0");
    }

    @Test
    void aTokenThatIsTooShortIsRefused() throws IOException {
        Path file = Files.writeString(directory.resolve("token"), "short\n");
        BrokerConfig config = config(ManagementConfig.builder().port(0).tokenFile(file));

        assertThatThrownBy(() -> AdminModule.create(config))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("16");
    }

    @Test
    void aPortInUseStopsTheStart() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            BrokerConfig config = config(ManagementConfig.builder().port(taken.getLocalPort()));
            AdminModule module = AdminModule.create(config);

            assertThatThrownBy(() -> Broker.builder()
                            .config(config)
                            .module(module)
                            .start()
                            .block(Duration.ofSeconds(30)))
                    .isInstanceOf(BindFailedException.class)
                    .hasMessageContaining("listener management cannot be bound: port " + taken.getLocalPort()
                            + " on 127.0.0.1 is already in use");
        }
    }

    private static BrokerConfig config(ManagementConfigBuilder management) {
        ListenerConfig tcp = ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build();
        return BrokerConfig.builder()
                .listeners(Map.of("tcp", tcp))
                .management(management.build())
                .build();
    }
}
