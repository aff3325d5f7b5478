// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.TracingConfig;
import io.smqtt.spi.MessageObserver;
import io.smqtt.spi.PublishInterceptor;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Sends traces of messages to an OpenTelemetry collector, as configured by {@code management.tracing}: {@link MessageTracing} with its own
 * tracer. Applications that have a tracer should use {@link MessageTracing}.
 *
 * <pre>{@code
 * TraceModule traces = TraceModule.create(config);
 * Broker.builder().config(config).interceptor(traces.interceptor()).observer(traces.observer()).module(traces).start();
 * }</pre>
 *
 * <p>Spans are exported on a separate thread, every second and once more when the broker stops. If the receiver does not accept them, they
 * are lost, and a warning is logged at most once a minute. Spans above 2,048 waiting ones are lost too, and counted in the warning.
 * OpenTelemetry's own messages stay in the JDK's log unless {@link #takeOverLog} is called. Needs {@code
 * io.micrometer:micrometer-tracing-bridge-otel},
 * {@code io.opentelemetry:opentelemetry-exporter-otlp} and one of its senders, such as
 * {@code io.opentelemetry:opentelemetry-exporter-sender-jdk}, on the class path.
 */
public final class TraceModule implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(TraceModule.class);

    // less than the stop timeout of a module
    private static final Duration CLOSE = Duration.ofSeconds(4);

    private final MessageTracing tracing;
    private final OtlpTraces traces;

    private TraceModule(TracingConfig config, OtlpTraces traces) {
        this.traces = traces;
        tracing = MessageTracing.of(traces.observations(), config.share());
    }

    /**
     * Creates the tracer; nothing is sent yet. May look up the name of this host.
     *
     * @param broker the configuration of the broker, with the block {@code management.tracing}
     * @return for one broker
     * @throws ConfigurationException if the configuration has no such block, or the libraries are missing
     */
    public static TraceModule create(BrokerConfig broker) {
        TracingConfig config = broker.management().tracing();
        if (config == null) {
            throw new ConfigurationException("management.tracing.url", "must be set");
        }
        try {
            return new TraceModule(config, new OtlpTraces(config, Instance.of(broker), MetricModule.version()));
        } catch (NoClassDefFoundError e) {
            throw new ConfigurationException(List.of(
                    "management.tracing: needs io.micrometer:micrometer-tracing-bridge-otel, io.opentelemetry:opentelemetry-exporter-otlp and "
                            + "io.opentelemetry:opentelemetry-exporter-sender-jdk on the class path, or what they need: "
                            + e.getMessage()));
        }
    }

    /**
     * Forwards OpenTelemetry's messages in the JDK's log, below {@code io.opentelemetry}, to the log of the broker, once for all brokers
     * of this process and until it ends. Only for programs that are nothing but a broker: messages of other users of OpenTelemetry in this
     * process, such as failures of their exporters, are forwarded too, or lost.
     */
    @AnyThread
    public static void takeOverLog() {
        OtelLog.install();
    }

    /**
     * Returns the interceptor that traces messages.
     *
     * @return for {@link io.smqtt.BrokerBuilder#interceptor}, as the last one
     */
    public PublishInterceptor interceptor() {
        return tracing;
    }

    /**
     * Returns the observer that ends the observations of the interceptor.
     *
     * @return for {@link io.smqtt.BrokerBuilder#observer}
     */
    public MessageObserver observer() {
        return tracing.observer();
    }

    @Override
    public Mono<Void> start(Core core) {
        return Mono.empty();
    }

    /** Sends the remaining spans and stops. Completes after some seconds even if the receiver does not accept them. */
    @Override
    public Mono<Void> stop() {
        return Mono.<Void>fromRunnable(() -> traces.close(CLOSE))
                .subscribeOn(Schedulers.boundedElastic())
                .timeout(CLOSE.plusMillis(500))
                .onErrorResume(error -> {
                    LOG.warn("the final push of traces failed: {}", error.toString());
                    return Mono.empty();
                });
    }
}
