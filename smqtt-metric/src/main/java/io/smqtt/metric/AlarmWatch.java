// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.util.StringEscapeUtils;
import io.smqtt.BrokerModule;
import io.smqtt.spi.Alarm;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/**
 * Checks the conditions of alarms every few seconds, on a thread that may block. An alarm that begins or ends is logged, published below {@code
 * $SYS/broker/alarms/}, and sent to the webhook.
 */
@AnyThread
final class AlarmWatch {

    private static final Logger LOG = LoggerFactory.getLogger(AlarmWatch.class);
    private static final long INTERVAL_MILLIS = 5_000;
    private static final String TOPICS = "alarms/";

    private final BrokerModule.Core core;
    private final Alarms alarms = new Alarms();
    private final AlarmChecks checks;
    private final @Nullable StatusPublisher topics;
    private final @Nullable AlarmWebhook webhook;
    private @Nullable Disposable task;

    /**
     * Creates one that does not run yet.
     *
     * @param topics publishes status topics; null for none
     */
    AlarmWatch(BrokerModule.Core core, BrokerMeters meters, List<LoopProbe> probes, @Nullable StatusPublisher topics) {
        this.core = core;
        this.topics = topics;
        checks = new AlarmChecks(core, meters, probes);
        webhook = AlarmWebhook.of(core.config().management().alarms());
    }

    void bindTo(MeterRegistry registry) {
        for (Alarm.Severity severity : Alarm.Severity.values()) {
            Gauge.builder(
                            "smqtt.alarms.active",
                            () -> snapshot().stream()
                                    .filter(alarm -> alarm.isActive() && alarm.severity() == severity)
                                    .count())
                    .description("alarms that last")
                    .tag("severity", Tagged.of(severity))
                    .register(registry);
        }
    }

    void start() {
        task = Schedulers.boundedElastic()
                .schedulePeriodically(this::update, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
    }

    void stop() {
        Disposable running = task;
        if (running != null) {
            running.dispose();
        }
        if (webhook != null) {
            webhook.stop();
        }
    }

    /** The alarms, see {@link io.smqtt.spi.MetricsSource#alarms}. */
    List<Alarm> snapshot() {
        return alarms.snapshot();
    }

    /** Checks once. A failure is logged, and the next check is not affected. */
    void update() {
        try {
            Instant now = Instant.now();
            Alarms.Change change =
                    alarms.update(checks.check(now), now, core.ticker().nanoTime());
            change.changed().forEach(this::report);
            if (topics != null) {
                change.forgotten().forEach(name -> topics.remove(TOPICS + name));
            }
        } catch (RuntimeException e) {
            LOG.warn("the check of the alarms failed", e);
        }
    }

    private void report(Alarm alarm) {
        if (alarm.isActive()) {
            LOG.warn("alarm {}: {}", alarm.name(), alarm.message());
        } else {
            LOG.info("alarm {} has ended; it began at {}: {}", alarm.name(), alarm.since(), alarm.message());
        }
        String json = json(alarm);
        if (topics != null) {
            topics.publish(TOPICS + alarm.name(), json);
        }
        if (webhook != null) {
            webhook.send(json);
        }
    }

    /** The alarm as it is published and sent. */
    private String json(Alarm alarm) {
        return "{\"name\":" + quoted(alarm.name())
                + ",\"severity\":" + quoted(Tagged.of(alarm.severity()))
                + ",\"message\":" + quoted(alarm.message())
                + ",\"node\":" + quoted(node())
                + ",\"since\":" + quoted(alarm.since().toString())
                + ",\"until\":" + (alarm.until() == null ? "null" : quoted(String.valueOf(alarm.until())))
                + "}";
    }

    private String node() {
        Supplier<ClusterStatus> cluster = core.cluster();
        return cluster == null
                ? Instance.of(core.config())
                : cluster.get().self().nodeId();
    }

    private static String quoted(String text) {
        return '"' + StringEscapeUtils.escapeJson(text) + '"';
    }
}
