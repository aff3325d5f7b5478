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
 * Sends traces of messages to an OpenTelemetry collector, as the block {@code management.tracing} of the configuration says: what
 * {@link MessageTracing} is, with a tracer of its own. For applications that have a tracer {@link MessageTracing} is the better choice.
 *
 * <pre>{@code
 * TraceModule traces = TraceModule.create(config);
 * Broker.builder().config(config).interceptor(traces.interceptor()).observer(traces.observer()).module(traces).start();
 * }</pre>
 *
 * <p>Spans leave on a thread of their own, every second and once more when the broker stops. If nobody takes them a warning is logged at most
 * once a minute, and they are lost; so are those above 2,048 that wait, which are counted in it. What OpenTelemetry says itself stays in the JDK's log
 * unless {@link #takeOverLog} is called. Needs {@code io.micrometer:micrometer-tracing-bridge-otel},
 * {@code io.opentelemetry:opentelemetry-exporter-otlp} and one of its senders, such as
 * {@code io.opentelemetry:opentelemetry-exporter-sender-jdk}, on the class path.
 */
public final class TraceModule implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(TraceModule.class);

    // less than a module has to stop
    private static final Duration CLOSE = Duration.ofSeconds(4);

    private final MessageTracing tracing;
    private final OtlpTraces traces;

    private TraceModule(TracingConfig config, OtlpTraces traces) {
        this.traces = traces;
        tracing = MessageTracing.of(traces.observations(), config.share());
    }

    /**
     * Makes the tracer; nothing is sent yet. May look up the name of this host.
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
     * Takes what OpenTelemetry says to the JDK's log, below {@code io.opentelemetry}, to the log of the broker, once for
     * all brokers of this process and until it ends. For programs that are a broker and nothing else: what other users of
     * OpenTelemetry in this process have to say, such as that their exporters fail, goes there too or nowhere.
     */
    @AnyThread
    public static void takeOverLog() {
        OtelLog.install();
    }

    /**
     * Makes messages a part of traces.
     *
     * @return for {@link io.smqtt.BrokerBuilder#interceptor}, as the last one
     */
    public PublishInterceptor interceptor() {
        return tracing;
    }

    /**
     * Ends what the interceptor began.
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

    /** Sends what is left, and ends. Completes after some seconds even if nobody takes it. */
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
