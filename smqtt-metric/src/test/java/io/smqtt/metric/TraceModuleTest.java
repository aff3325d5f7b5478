// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.smqtt.Broker;
import io.smqtt.config.AccessConfig;
import io.smqtt.config.AnonymousAccess;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.TracingConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a collector of traces gets, read from a server of HTTP on this machine. */
class TraceModuleTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT_SPAN = "b7ad6b7169203331";

    private final List<ExportTraceServiceRequest> received = new CopyOnWriteArrayList<>();
    private final List<Map<String, String>> headers = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private volatile int status = 200;
    private HttpServer server;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/v1/traces", this::answer);
        server.start();
    }

    @AfterEach
    void end() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        headers.add(exchange.getRequestHeaders().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, entry -> entry.getValue().get(0))));
        received.add(ExportTraceServiceRequest.parseFrom(exchange.getRequestBody()));
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
    }

    private List<Span> spans() {
        return received.stream()
                .flatMap(request -> request.getResourceSpansList().stream())
                .flatMap(resource -> resource.getScopeSpansList().stream())
                .flatMap(scope -> scope.getSpansList().stream())
                .toList();
    }

    private Span span(String name) {
        return spans().stream()
                .filter(span -> span.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static BrokerConfig config(@Nullable TracingConfig tracing) {
        return BrokerConfig.builder()
                .listeners(Map.of(
                        "tcp",
                        ListenerConfig.tcp(0).toBuilder().host("127.0.0.1").build()))
                .access(AccessConfig.builder()
                        .allowAnonymous(AnonymousAccess.TRUE)
                        .build())
                .management(ManagementConfig.builder().tracing(tracing).build())
                .build();
    }

    /** A broker that sends traces, and a subscriber and a publisher of it. */
    private static final class Traced implements AutoCloseable {

        final Broker broker;
        final RawClient subscriber;
        final RawClient publisher;

        Traced(TracingConfig tracing) {
            BrokerConfig config = config(tracing);
            TraceModule traces = TraceModule.create(config);
            broker = Objects.requireNonNull(Broker.builder()
                    .config(config)
                    .interceptor(traces.interceptor())
                    .observer(traces.observer())
                    .module(traces)
                    .start()
                    .block(PATIENCE));
            InetSocketAddress address =
                    Objects.requireNonNull(broker.listeners().get("tcp"));
            subscriber = RawClient.to(address, ProtocolVersion.MQTT_5);
            publisher = RawClient.to(address, ProtocolVersion.MQTT_5);
            subscriber.connect("subscriber");
            publisher.connect("publisher");
            subscriber.subscribe("t", 0);
        }

        /** Publishes and returns the traceparent that the subscriber gets, or null. */
        @Nullable
        String through(@Nullable String traceparent) {
            PublishBytes message = PublishBytes.to("t").payload("hello");
            if (traceparent != null) {
                message.properties().user("traceparent", traceparent);
            }
            publisher.send(message);
            return subscriber.expectPublish("t", "hello").userProperties().stream()
                    .filter(property -> property.startsWith("traceparent="))
                    .map(property -> property.substring("traceparent=".length()))
                    .findFirst()
                    .orElse(null);
        }

        @Override
        public void close() {
            subscriber.close();
            publisher.close();
            broker.close(Duration.ofSeconds(1)).block(PATIENCE);
        }
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }

    private static Map<String, String> attributes(List<KeyValue> pairs) {
        return pairs.stream()
                .collect(Collectors.toMap(
                        KeyValue::getKey, pair -> pair.getValue().getStringValue()));
    }

    @Test
    void fromThePublishersSpanToTheSubscribersItIsOneChain() {
        TracingConfig config = new TracingConfig(url(), List.of("Authorization: Bearer x"), 0);
        String given;
        try (Traced traced = new Traced(config)) {
            given = traced.through("00-" + TRACE + "-" + PARENT_SPAN + "-01");
        }

        Span receive = span("receive");
        Span route = span("route");
        assertThat(spans()).hasSize(2);
        assertThat(hex(receive.getTraceId())).isEqualTo(TRACE);
        assertThat(hex(receive.getParentSpanId())).isEqualTo(PARENT_SPAN);
        assertThat(receive.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_CONSUMER);
        assertThat(hex(route.getTraceId())).isEqualTo(TRACE);
        assertThat(route.getParentSpanId()).isEqualTo(receive.getSpanId());
        assertThat(route.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_PRODUCER);
        assertThat(given).isEqualTo("00-" + TRACE + "-" + hex(route.getSpanId()) + "-01");
        assertThat(attributes(receive.getAttributesList()))
                .containsEntry("messaging.system", "mqtt")
                .containsEntry("messaging.destination.name", "t")
                .containsEntry("messaging.client.id", "publisher")
                .containsEntry("outcome", "routed");
        assertThat(headers)
                .allSatisfy(sent -> assertThat(sent)
                        .containsEntry("Authorization", "Bearer x")
                        .containsEntry("Content-type", "application/x-protobuf"));
        assertThat(attributes(received.get(0).getResourceSpans(0).getResource().getAttributesList()))
                .containsKeys("service.name", "service.instance.id", "service.version");
    }

    @Test
    void theFlagOfThePublisherDecides() {
        String given;
        try (Traced traced = new Traced(new TracingConfig(url(), null, 1))) {
            given = traced.through("00-" + TRACE + "-" + PARENT_SPAN + "-00");
        }

        assertThat(given).startsWith("00-" + TRACE + "-").endsWith("-00");
        assertThat(spans()).isEmpty();
    }

    @Test
    void ofTheOthersTheShareIs() {
        try (Traced all = new Traced(new TracingConfig(url(), null, 1));
                Traced none = new Traced(new TracingConfig(url(), null, 0))) {
            assertThat(none.through(null)).isNull();
            String given = Objects.requireNonNull(all.through(null));

            await().atMost(PATIENCE).untilAsserted(() -> assertThat(spans()).hasSize(2)); // before the end, too
            assertThat(given.split("-")[1]).isEqualTo(hex(span("route").getTraceId()));
            assertThat(span("receive").getParentSpanId()).isEmpty();
        }
        assertThat(spans()).hasSize(2);
    }

    @Test
    void whatIsNoContextBeginsATrace() {
        String given;
        try (Traced traced = new Traced(new TracingConfig(url(), null, 0))) {
            given = Objects.requireNonNull(traced.through("00-nothing-of-the-kind"));
        }

        assertThat(given).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]");
        assertThat(span("receive").getParentSpanId()).isEmpty();
    }

    @Test
    void aLongTopicIsCut() {
        String topic = "long".repeat(1_000);
        try (Traced traced = new Traced(new TracingConfig(url(), null, 1))) {
            traced.publisher.publish(topic, "x", 1);
        }

        assertThat(attributes(span("receive").getAttributesList()).get("messaging.destination.name"))
                .isEqualTo(topic.substring(0, 1_024));
    }

    @Test
    void whoeverRefusesThemDisturbsNobody() {
        status = 500;
        try (Traced traced = new Traced(new TracingConfig(url(), null, 1))) {
            assertThat(traced.through(null)).isNotNull();
            await().atMost(PATIENCE).until(() -> !received.isEmpty());
            assertThat(traced.through(null)).isNotNull();
        }
    }

    /** Neither the messages nor the stop wait for somebody who takes connections and never answers. */
    @Tag("slow")
    @Test
    void whoeverNeverAnswersHoldsNothingUp() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            String url = "http://127.0.0.1:" + silent.getLocalPort() + "/v1/traces";
            try (Traced traced = new Traced(new TracingConfig(url, null, 1))) {
                for (int i = 0; i < 3_000; i++) { // more than may wait
                    assertThat(traced.through(null)).isNotNull();
                }
            }
        }
    }

    /** An application's own exporters go on telling of their errors where it wants them. */
    @Test
    void theLogOfTheJdkIsLeftAsItIs() {
        Logger opentelemetry = Logger.getLogger("io.opentelemetry");
        try (Traced traced = new Traced(new TracingConfig(url(), null, 1))) {
            assertThat(traced.through(null)).isNotNull();
            assertThat(opentelemetry.getUseParentHandlers()).isTrue();
            assertThat(opentelemetry.getHandlers()).isEmpty();
        }
    }

    @Test
    void whatOpenTelemetrySaysHasItsParameters() {
        LogRecord said = new LogRecord(Level.WARNING, "{0} of {1} left");
        said.setParameters(new Object[] {"one", "two"});

        assertThat(OtelLog.text(said)).isEqualTo("one of two left");
    }

    /** Applications need the libraries only if they send traces. */
    @Test
    void missingLibrariesAreNamed() throws Exception {
        Method create = new Without("io.opentelemetry.", "io.micrometer.tracing.")
                .loadClass(TraceModule.class.getName())
                .getMethod("create", BrokerConfig.class);

        assertThatThrownBy(() -> create.invoke(null, config(TracingConfig.of(url()))))
                .cause()
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.tracing: needs io.micrometer:micrometer-tracing-bridge-otel");
    }

    @Test
    void withoutItsBlockThereIsNothingToMake() {
        assertThatThrownBy(() -> TraceModule.create(config(null)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("management.tracing.url must be set");
    }

    @Test
    void theEnvironmentNamesTheSenderAsForMetrics() {
        Attributes plain = OtlpTraces.resource("here", "1", null, null);
        assertThat(plain.get(AttributeKey.stringKey("service.name"))).isEqualTo("smqtt");
        assertThat(plain.get(AttributeKey.stringKey("service.instance.id"))).isEqualTo("here");

        Attributes named =
                OtlpTraces.resource("here", "1", "broker", "service.name=x,zone=a%20b, rack = 1+2 ,broken,=x,bad=%zz");
        assertThat(named.get(AttributeKey.stringKey("service.name"))).isEqualTo("broker");
        assertThat(named.get(AttributeKey.stringKey("zone"))).isEqualTo("a b");
        assertThat(named.get(AttributeKey.stringKey("rack"))).isEqualTo("1+2");
        assertThat(named.get(AttributeKey.stringKey("bad"))).isEqualTo("%zz");
        assertThat(named.size()).isEqualTo(6);
    }
}
