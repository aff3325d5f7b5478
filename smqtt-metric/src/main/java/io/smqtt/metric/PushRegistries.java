// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.push.PushMeterRegistry;
import io.micrometer.core.ipc.http.HttpSender;
import io.micrometer.core.ipc.http.HttpUrlConnectionSender;
import io.micrometer.influx.InfluxApiVersion;
import io.micrometer.influx.InfluxMeterRegistry;
import io.micrometer.registry.otlp.OtlpHttpMetricsSender;
import io.micrometer.registry.otlp.OtlpMeterRegistry;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.InfluxConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.OtlpConfig;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Registries that send the meters away now and then, each on a thread of its own, and once more when they are closed. If
 * nobody takes them a warning is logged and the broker goes on. One thread at a time.
 */
final class PushRegistries {

    private static final Logger LOG = LoggerFactory.getLogger(PushRegistries.class);

    // together less than a module has to stop
    private static final Duration CONNECT = Duration.ofSeconds(1);
    private static final Duration ANSWER = Duration.ofSeconds(3);
    private static final Duration CLOSE = CONNECT.plus(ANSWER);

    private final List<PushMeterRegistry> registries = new ArrayList<>();
    private final AtomicBoolean sending = new AtomicBoolean();

    /** Makes those that a configuration asks for; nothing is sent yet. May look up the name of this host. */
    PushRegistries(BrokerConfig broker) {
        ManagementConfig config = broker.management();
        String instance = config.otlp() == null && config.influx() == null ? "" : instance(broker);
        HttpSender http = new HttpUrlConnectionSender(CONNECT, ANSWER);
        OtlpConfig otlp = broker.management().otlp();
        if (otlp != null) {
            registries.add(OtlpMeterRegistry.builder(new Otlp(otlp, instance, sending))
                    .clock(Clock.SYSTEM)
                    .metricsSender(new OtlpHttpMetricsSender(http))
                    .build());
        }
        InfluxConfig influx = broker.management().influx();
        if (influx != null) {
            PushMeterRegistry registry = InfluxMeterRegistry.builder(new Influx(influx, sending))
                    .clock(Clock.SYSTEM)
                    .httpClient(http)
                    .build();
            registry.config().commonTags("instance", instance);
            registries.add(registry);
        }
    }

    /** {@return those that meters are to be registered with too; none if the configuration asks for none} */
    List<PushMeterRegistry> all() {
        return List.copyOf(registries);
    }

    /** Begins to send, each on a thread of its own. */
    void start() {
        sending.set(true);
        for (PushMeterRegistry registry : registries) {
            registry.start(thread(registry instanceof OtlpMeterRegistry ? "smqtt-otlp" : "smqtt-influx"));
        }
    }

    private static ThreadFactory thread(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** What tells this broker from others that send to the same place. */
    private static String instance(BrokerConfig broker) {
        String nodeId = broker.cluster().nodeId();
        if (nodeId != null) {
            return nodeId;
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    /** Sends once more, and ends. Completes after some seconds even if nobody takes it. */
    Mono<Void> close() {
        return Flux.fromIterable(registries)
                .flatMap(registry -> Mono.<Void>fromRunnable(registry::close)
                        .subscribeOn(Schedulers.boundedElastic())
                        .timeout(CLOSE)
                        .onErrorResume(error -> {
                            LOG.warn("the last metrics could not be sent: {}", error.toString());
                            return Mono.empty();
                        }))
                .then();
    }

    /** The configuration as Micrometer asks for it. */
    private record Otlp(OtlpConfig config, String instance, AtomicBoolean sending)
            implements io.micrometer.registry.otlp.OtlpConfig {

        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public String url() {
            return config.url();
        }

        /** Or it would send before the broker runs. */
        @Override
        public boolean enabled() {
            return sending.get();
        }

        @Override
        public Duration step() {
            return config.interval();
        }

        /** What OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME say comes first. */
        @Override
        public Map<String, String> resourceAttributes() {
            Map<String, String> attributes =
                    new HashMap<>(Map.of("service.name", "smqtt", "service.instance.id", instance));
            attributes.putAll(io.micrometer.registry.otlp.OtlpConfig.super.resourceAttributes());
            return attributes;
        }

        @Override
        public Map<String, String> headers() {
            List<String> lines = config.headers();
            Map<String, String> headers = new HashMap<>();
            for (String line : lines == null ? List.<String>of() : lines) {
                int colon = line.indexOf(':');
                headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
            return headers;
        }
    }

    /** The configuration as Micrometer asks for it. */
    private record Influx(InfluxConfig config, AtomicBoolean sending) implements io.micrometer.influx.InfluxConfig {

        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public String uri() {
            return config.url().replaceAll("/+$", ""); // paths are put behind it
        }

        /** Or it would send before the broker runs. */
        @Override
        public boolean enabled() {
            return sending.get();
        }

        @Override
        public Duration step() {
            return config.interval();
        }

        @Override
        public String db() {
            return config.database();
        }

        @Override
        public @Nullable String userName() {
            return config.user();
        }

        @Override
        public @Nullable String password() {
            return config.password();
        }

        @Override
        public InfluxApiVersion apiVersion() {
            return config.org() == null ? InfluxApiVersion.V1 : InfluxApiVersion.V2;
        }

        @Override
        public @Nullable String org() {
            return config.org();
        }

        @Override
        public String bucket() {
            String bucket = config.bucket();
            return bucket == null ? config.database() : bucket;
        }

        @Override
        public @Nullable String token() {
            return config.token();
        }
    }
}
