// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.push.PushMeterRegistry;
import io.micrometer.core.ipc.http.HttpSender;
import io.micrometer.core.ipc.http.HttpUrlConnectionSender;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.InfluxConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.OtlpConfig;
import io.smqtt.log.Outage;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Registries that push the meters at an interval, each on its own thread, and once more when they are closed. If the receiver does not
 * accept them, a warning is logged and the broker is not affected. Used by one thread at a time. Refers to no class of a registry, because
 * their libraries are optional.
 */
final class PushRegistries {

    private static final Logger LOG = LoggerFactory.getLogger(PushRegistries.class);

    // in total less than the stop timeout of a module
    private static final Duration CONNECT = Duration.ofSeconds(1);
    private static final Duration ANSWER = Duration.ofSeconds(3);
    private static final Duration CLOSE = CONNECT.plus(ANSWER);

    private final Map<String, PushMeterRegistry> registries = new LinkedHashMap<>(); // by thread name
    private final AtomicBoolean sending = new AtomicBoolean();

    /**
     * Creates the configured registries; nothing is sent yet. May look up the name of this host.
     *
     * @throws ConfigurationException if the library of one of them is missing
     */
    PushRegistries(BrokerConfig broker) {
        ManagementConfig config = broker.management();
        String instance = config.otlp() == null && config.influx() == null ? "" : Instance.of(broker);
        OtlpConfig otlp = config.otlp();
        if (otlp != null) {
            add("smqtt-otlp", "management.otlp", () -> OtlpPush.create(otlp, instance, sending, sender(otlp.url())));
        }
        InfluxConfig influx = config.influx();
        if (influx != null) {
            add(
                    "smqtt-influx",
                    "management.influx",
                    () -> InfluxPush.create(influx, instance, sending, sender(influx.url())));
        }
    }

    private static HttpSender sender(String url) {
        int query = url.indexOf('?'); // may hold a password
        String where = query < 0 ? url : url.substring(0, query);
        return new LoggingHttpSender(
                new HttpUrlConnectionSender(CONNECT, ANSWER),
                new Outage(
                        LOG,
                        Level.WARN,
                        "metrics to " + where + " could not be sent",
                        "metrics to " + where + " can be sent again"));
    }

    private void add(String thread, String key, Supplier<PushMeterRegistry> maker) {
        try {
            registries.put(thread, maker.get());
        } catch (NoClassDefFoundError e) {
            throw new ConfigurationException(
                    List.of(key + ": needs io.micrometer:" + thread.replace("smqtt-", "micrometer-registry-")
                            + " on the class path, or what that needs: " + e.getMessage()));
        }
    }

    /** {@return the registries for the meters; empty if none is configured} */
    List<PushMeterRegistry> all() {
        return List.copyOf(registries.values());
    }

    /** Starts to push, each registry on its own thread. */
    void start() {
        sending.set(true);
        registries.forEach((name, registry) -> registry.start(thread(name)));
    }

    private static ThreadFactory thread(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Pushes once more and stops. Completes after some seconds even if the receiver does not accept it. */
    Mono<Void> close() {
        return Flux.fromIterable(registries.values())
                .flatMap(registry -> Mono.<Void>fromRunnable(registry::close)
                        .subscribeOn(Schedulers.boundedElastic())
                        .timeout(CLOSE)
                        .onErrorResume(error -> {
                            LOG.warn("the final push of metrics failed: {}", error.toString());
                            return Mono.empty();
                        }))
                .then();
    }
}
