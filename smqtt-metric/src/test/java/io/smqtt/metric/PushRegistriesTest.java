// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.InfluxConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.OtlpConfig;
import io.smqtt.test.RawClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a collector and a database get, read from a server of HTTP on this machine. */
class PushRegistriesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration NEVER = Duration.ofHours(1); // until the end
    private static final Duration OFTEN = Duration.ofSeconds(1);

    private record Received(String uri, Map<String, String> headers, byte[] body) {

        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private volatile int status = 204;
    private HttpServer server;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void end() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] sent = exchange.getRequestBody().readAllBytes();
        if ("gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"))) {
            try (InputStream plain = new GZIPInputStream(new ByteArrayInputStream(sent))) {
                sent = plain.readAllBytes();
            }
        }
        Map<String, String> headers = exchange.getRequestHeaders().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().get(0)));
        received.add(new Received(exchange.getRequestURI().toString(), headers, sent));
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private static ObservedBroker broker(OtlpConfig otlp, InfluxConfig influx) {
        return new ObservedBroker(
                UnaryOperator.identity(),
                management -> management.sysInterval(Duration.ZERO).otlp(otlp).influx(influx));
    }

    private static void publish(ObservedBroker broker, int count) {
        RawClient publisher = broker.client("publisher");
        for (int i = 0; i < count; i++) {
            publisher.publish("nobody/listens", "x", 1);
        }
    }

    @Test
    void aCollectorGetsTheMetersWhenTheBrokerStops() throws Exception {
        OtlpConfig otlp = new OtlpConfig(url("/v1/metrics"), List.of("Authorization: Bearer x", "api-key:k"), NEVER);
        try (ObservedBroker broker = broker(otlp, null)) {
            publish(broker, 3);
            assertThat(received).isEmpty();
        }

        assertThat(received).hasSize(1);
        Received last = received.get(0);
        assertThat(last.uri()).isEqualTo("/v1/metrics");
        assertThat(last.headers())
                .containsEntry("Authorization", "Bearer x")
                .containsEntry("Api-key", "k")
                .containsEntry("Content-type", "application/x-protobuf");
        var resource = ExportMetricsServiceRequest.parseFrom(last.body()).getResourceMetrics(0);
        assertThat(resource.getResource().getAttributesList().stream().map(KeyValue::getKey))
                .contains("service.name", "service.instance.id");
        Map<String, List<Metric>> metrics =
                resource.getScopeMetrics(0).getMetricsList().stream().collect(Collectors.groupingBy(Metric::getName));
        assertThat(metrics).containsKeys("smqtt.sessions.active", "smqtt.route.time", "jvm.memory.used");
        double counted = metrics.get("smqtt.messages.received").stream()
                .flatMap(metric -> metric.getSum().getDataPointsList().stream())
                .filter(point -> point.getAttributesList().stream()
                        .anyMatch(tag -> tag.getKey().equals("qos")
                                && tag.getValue().getStringValue().equals("1")))
                .mapToDouble(point -> point.getAsDouble())
                .sum();
        assertThat(counted).isEqualTo(3);
    }

    @Test
    void aDatabaseGetsTheMetersNowAndThen() {
        InfluxConfig influx = new InfluxConfig(url("/"), "mqtt", "writer", "secret", null, null, null, OFTEN);
        try (ObservedBroker broker = broker(null, influx)) {
            RawClient publisher = broker.client("publisher");
            await().atMost(PATIENCE).untilAsserted(() -> {
                publisher.publish(
                        "nobody/listens", "x", 1); // what falls into an interval that is sent too late is never sent
                assertThat(lines("smqtt_messages_received,"))
                        .anyMatch(line -> line.matches(".*,qos=1,.* value=[1-9].*"));
            });
            assertThat(lines("smqtt_sessions_active,")).allMatch(line -> line.contains("instance="));
        }
        assertThat(received)
                .allMatch(
                        sent -> sent.headers().getOrDefault("Authorization", "").startsWith("Basic "));
        assertThat(received)
                .filteredOn(sent -> sent.uri().startsWith("/write"))
                .allMatch(sent -> sent.uri().contains("db=mqtt"));
        assertThat(received)
                .anyMatch(sent -> sent.uri().startsWith("/query") && sent.uri().contains("CREATE"));
    }

    @Test
    void aDatabaseOfTheSecondVersionGetsThemWithItsToken() {
        InfluxConfig influx = new InfluxConfig(url(""), "smqtt", null, null, "home", "bucket", "token", NEVER);
        try (ObservedBroker broker = broker(null, influx)) {
            publish(broker, 1);
        }

        assertThat(received)
                .isNotEmpty()
                .allMatch(sent -> sent.uri().startsWith("/api/v2/write?")
                        && sent.uri().contains("bucket=bucket")
                        && sent.uri().contains("org=home"));
        assertThat(received.get(0).headers()).containsEntry("Authorization", "Token token");
        assertThat(lines("smqtt_messages_received,")).isNotEmpty();
    }

    private List<String> lines(String begin) {
        return received.stream()
                .flatMap(sent -> sent.text().lines())
                .filter(line -> line.startsWith(begin))
                .toList();
    }

    @Test
    void prometheusAsksAsBefore() throws Exception {
        try (ObservedBroker broker = broker(OtlpConfig.of(url("/v1/metrics")), InfluxConfig.of(url("/")))) {
            publish(broker, 4);

            assertThat(broker.scraped("smqtt_messages_received_total", "qos=\"1\""))
                    .isEqualTo(4);
        }
        assertThat(received.stream().map(sent -> sent.uri().replaceFirst("\\?.*", "")))
                .contains("/v1/metrics", "/write");
    }

    @Tag("slow")
    @Test
    void whoeverRefusesThemDisturbsNobody() throws Exception {
        status = 500;
        try (ObservedBroker broker = broker(
                new OtlpConfig(url("/v1/metrics"), null, OFTEN),
                new InfluxConfig(url("/"), "d", null, null, null, null, null, OFTEN))) {
            await().atMost(PATIENCE).until(() -> received.size() > 3);
            publish(broker, 1);

            assertThat(broker.module.ready().up()).isTrue();
        }
    }

    /** Applications need the libraries of the registries only if they use them. */
    @Test
    void librariesOfRegistriesThatNobodyAsksForMayBeMissing() throws Exception {
        Method create = new Without("io.micrometer.registry.otlp.", "io.micrometer.influx.")
                .loadClass(MetricModule.class.getName())
                .getMethod("create", BrokerConfig.class);

        assertThat(create.invoke(null, config(null, null))).isNotNull();
        assertThatThrownBy(() -> create.invoke(null, config(OtlpConfig.of(url("/v1/metrics")), null)))
                .cause()
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.otlp: needs io.micrometer:micrometer-registry-otlp");
        assertThatThrownBy(() -> create.invoke(null, config(null, InfluxConfig.of(url("/")))))
                .cause()
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.influx: needs io.micrometer:micrometer-registry-influx");
    }

    private static BrokerConfig config(OtlpConfig otlp, InfluxConfig influx) {
        return BrokerConfig.builder()
                .management(ManagementConfig.builder()
                        .port(0)
                        .otlp(otlp)
                        .influx(influx)
                        .build())
                .build();
    }

    /** Neither the messages nor the stop wait for somebody who takes connections and never answers. */
    @Tag("slow")
    @Test
    void whoeverNeverAnswersHoldsNothingUp() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "http://127.0.0.1:" + silent.getLocalPort() + "/v1/metrics";
            try (ObservedBroker broker = broker(new OtlpConfig(url, null, OFTEN), null)) {
                silent.setSoTimeout((int) PATIENCE.toMillis());
                try (Socket asked = silent.accept()) {
                    assertThat(asked.isConnected()).isTrue();
                    publish(broker, 100);

                    assertThat(broker.scraped("smqtt_messages_received_total", "qos=\"1\""))
                            .isEqualTo(100);
                }
            }
        }
    }
}
