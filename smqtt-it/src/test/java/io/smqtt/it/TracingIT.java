// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.Span;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Traces of the real program, as a collector on this machine gets them. */
@Execution(ExecutionMode.CONCURRENT)
class TracingIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT_SPAN = "b7ad6b7169203331";

    @TempDir
    Path directory;

    private BrokerProcess start(List<String> wrapper, String... settings) throws IOException {
        Path file = Files.writeString(directory.resolve("test.yaml"), """
                management:
                  port: 0
                storage:
                  kind: memory
                listeners:
                  tcp:
                    host: 127.0.0.1
                    port: 0
                    connect-timeout: 60s # sockets are opened before they are used
                  ws:
                    enabled: false
                """);
        return BrokerProcess.start(directory, wrapper, file, settings);
    }

    /** The traceparent that a subscriber of MQTT 5.0 gets with a message of a publisher that sends one. */
    private static String through(BrokerProcess broker, String traceparent) {
        try (RawClient subscriber = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5);
                RawClient publisher = RawClient.to(broker.address("tcp"), ProtocolVersion.MQTT_5)) {
            subscriber.connect("subscriber");
            subscriber.subscribe("t", 0);
            publisher.connect("publisher");
            PublishBytes message = PublishBytes.to("t").payload("hello");
            message.properties().user("traceparent", traceparent).user("tracestate", "vendor=1");
            publisher.send(message);
            List<String> properties = subscriber.expectPublish("t", "hello").userProperties();
            assertThat(properties).contains("tracestate=vendor=1");
            return properties.stream()
                    .filter(property -> property.startsWith("traceparent="))
                    .map(property -> property.substring("traceparent=".length()))
                    .findFirst()
                    .orElse("none");
        }
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }

    @Test
    void theCollectorGetsTheChainFromThePublisherToTheSubscriber() throws Exception {
        List<Span> spans = new CopyOnWriteArrayList<>();
        HttpServer collector = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        collector.createContext("/v1/traces", exchange -> take(exchange, spans));
        collector.start();
        String url = "http://127.0.0.1:" + collector.getAddress().getPort() + "/v1/traces";
        try (BrokerProcess broker = start(List.of(), "management.tracing.url=" + url)) {
            String given = through(broker, "00-" + TRACE + "-" + PARENT_SPAN + "-01");
            await().atMost(PATIENCE).until(() -> spans.size() >= 2); // while it runs
            broker.terminate();
            assertThat(broker.awaitExit(PATIENCE)).isZero();

            Map<String, Span> byName = spans.stream().collect(Collectors.toMap(Span::getName, span -> span));
            Span receive = Objects.requireNonNull(byName.get("receive"));
            Span route = Objects.requireNonNull(byName.get("route"));
            assertThat(hex(receive.getTraceId())).isEqualTo(TRACE);
            assertThat(hex(receive.getParentSpanId())).isEqualTo(PARENT_SPAN);
            assertThat(hex(route.getTraceId())).isEqualTo(TRACE);
            assertThat(route.getParentSpanId()).isEqualTo(receive.getSpanId());
            assertThat(given).isEqualTo("00-" + TRACE + "-" + hex(route.getSpanId()) + "-01");
            assertThat(broker.warnings()).isEmpty();
        } finally {
            collector.stop(0);
        }
    }

    private static void take(HttpExchange exchange, List<Span> spans) throws IOException {
        ExportTraceServiceRequest.parseFrom(exchange.getRequestBody()).getResourceSpansList().stream()
                .flatMap(resource -> resource.getScopeSpansList().stream())
                .forEach(scope -> spans.addAll(scope.getSpansList()));
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    @Test
    void aCollectorThatIsNotThereIsNamedAndHoldsNothingUp() throws Exception {
        int nobody = LoopbackPorts.one();
        String url = "http://127.0.0.1:" + nobody + "/v1/traces";
        try (BrokerProcess broker = start(List.of(), "management.tracing.url=" + url)) {
            for (int i = 0; i < 3; i++) {
                assertThat(through(broker, "00-" + TRACE + "-" + PARENT_SPAN + "-01"))
                        .startsWith("00-" + TRACE);
            }
            assertThat(broker.awaitLine("spans could not be sent")).contains("WARN", url, "ConnectException");
            broker.terminate();

            assertThat(broker.awaitExit(PATIENCE)).isZero();
            assertThat(broker.report().lines().filter(line -> line.contains("could not be sent")))
                    .hasSize(1);
            assertThat(broker.report()).doesNotContain("SEVERE");
        }
    }

    /** The libraries cost a start nothing where nobody wants traces. */
    @Test
    void withoutTheKeyContextsPassUnchangedAndNothingOfTheTracerIsLoaded() throws Exception {
        Path classes = directory.resolve("classes.log");
        List<String> logging = List.of("env", "JAVA_TOOL_OPTIONS=-Xlog:class+load:file=" + classes);
        try (BrokerProcess broker = start(logging)) {
            String sent = "00-" + TRACE + "-" + PARENT_SPAN + "-01";
            assertThat(through(broker, sent)).isEqualTo(sent);
            broker.terminate();
            assertThat(broker.awaitExit(PATIENCE)).isZero();
        }
        List<String> loaded = Files.readAllLines(classes);
        assertThat(loaded).anyMatch(line -> line.contains("io.smqtt.metric.MetricModule"));
        assertThat(loaded)
                .noneMatch(line -> line.contains("io.opentelemetry.") || line.contains("io.micrometer.tracing."))
                .noneMatch(line -> line.contains("io.smqtt.metric.TraceModule") || line.contains("MessageTracing"));
    }
}
