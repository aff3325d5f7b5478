// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.observation.ObservationHandler.FirstMatchingCompositeObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.handler.PropagatingReceiverTracingObservationHandler;
import io.micrometer.tracing.handler.PropagatingSenderTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelPropagator;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.smqtt.config.TracingConfig;
import io.smqtt.thread.AnyThread;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A tracer that exports by OTLP. Needs OpenTelemetry; loaded only if it is configured. */
@AnyThread
final class OtlpTraces {

    private static final Duration CONNECT = Duration.ofSeconds(1);
    private static final Duration ANSWER = Duration.ofSeconds(3);
    private static final Duration DELAY = Duration.ofSeconds(1);

    /** Limits the length of topics: they can have 64 KiB, which would be too much memory for the waiting spans. */
    private static final int LONGEST_ATTRIBUTE = 1_024;

    private static final int WAITING = 2_048;

    private final SdkTracerProvider provider;
    private final ObservationRegistry observations = ObservationRegistry.create();

    OtlpTraces(TracingConfig config, String instance, String version) {
        OtlpHttpSpanExporterBuilder exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(config.url())
                .setConnectTimeout(CONNECT)
                .setTimeout(ANSWER)
                .setRetryPolicy(null);
        List<String> lines = config.headers();
        for (String line : lines == null ? List.<String>of() : lines) {
            int colon = line.indexOf(':');
            exporter.addHeader(
                    line.substring(0, colon), line.substring(colon + 1).strip());
        }
        LoggingSpanExporter logged = new LoggingSpanExporter(exporter.build(), config.url(), WAITING);
        provider = SdkTracerProvider.builder()
                .setResource(Resource.create(resource(
                        instance,
                        version,
                        System.getenv("OTEL_SERVICE_NAME"),
                        System.getenv("OTEL_RESOURCE_ATTRIBUTES"))))
                .setSampler(Sampler.parentBased(Sampler.alwaysOn())) // the share of other messages was selected before
                .setSpanLimits(SpanLimits.builder()
                        .setMaxAttributeValueLength(LONGEST_ATTRIBUTE)
                        .build())
                .addSpanProcessor(logged.behind(BatchSpanProcessor.builder(logged)
                        .setMaxQueueSize(WAITING)
                        .setScheduleDelay(DELAY)
                        .setExporterTimeout(CONNECT.plus(ANSWER))
                        .build()))
                .build();
        Tracer tracer = provider.get("io.smqtt", version);
        OtelTracer bridge = new OtelTracer(tracer, new OtelCurrentTraceContext(), event -> {});
        OtelPropagator w3c =
                new OtelPropagator(ContextPropagators.create(W3CTraceContextPropagator.getInstance()), tracer);
        observations
                .observationConfig()
                .observationHandler(new FirstMatchingCompositeObservationHandler(
                        new PropagatingReceiverTracingObservationHandler<>(bridge, w3c),
                        new PropagatingSenderTracingObservationHandler<>(bridge, w3c)));
    }

    /** {@return the registry that turns observations into spans} */
    ObservationRegistry observations() {
        return observations;
    }

    /** Sends the remaining spans and stops. Blocks at most for the given time. */
    void close(Duration patience) {
        provider.shutdown().join(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * The resource attributes of the spans.
     *
     * @param name the service name, or null
     * @param more further attributes in the form of the specification, {@code key=value,key=value} with percent encoding, or null
     */
    static Attributes resource(String instance, String version, @Nullable String name, @Nullable String more) {
        AttributesBuilder attributes = Attributes.builder()
                .put(AttributeKey.stringKey("service.name"), "smqtt")
                .put(AttributeKey.stringKey("service.instance.id"), instance)
                .put(AttributeKey.stringKey("service.version"), version);
        for (String pair : more == null ? new String[0] : more.split(",")) {
            int equals = pair.indexOf('=');
            if (equals > 0) {
                attributes.put(
                        AttributeKey.stringKey(pair.substring(0, equals).strip()), decoded(pair.substring(equals + 1)));
            }
        }
        if (name != null && !name.isBlank()) {
            attributes.put(AttributeKey.stringKey("service.name"), name);
        }
        return attributes.build();
    }

    private static String decoded(String value) {
        try {
            return URLDecoder.decode(value.strip().replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return value.strip(); // a literal percent sign
        }
    }
}
