// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerModule;
import io.smqtt.spi.TrafficCounts;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/**
 * The topics below $SYS/broker, with the names and formats of mosquitto. A topic is published when its value has changed. The values are computed on a separate thread, one set
 * after the other; an event loop only publishes the changes.
 */
final class StatusTopics {

    private static final Logger LOG = LoggerFactory.getLogger(StatusTopics.class);

    private static final List<String> LOADS = List.of(
            "messages/received",
            "messages/sent",
            "bytes/received",
            "bytes/sent",
            "publish/received",
            "publish/sent",
            "publish/dropped",
            "connections",
            "sockets");

    private final BrokerModule.Core core;
    private final StatusPublisher publisher;
    private final BrokerMeters meters;
    private final Supplier<SessionTotals.Totals> totals;
    private final String version;
    private final long startNanos;

    // owned by the thread that computes the values
    private final Map<String, LoadAverage> loads = new LinkedHashMap<>();
    private final Map<String, String> shown = new HashMap<>();
    private long lastNanos;
    private long maximumOnline;

    private volatile @Nullable Disposable task;

    /**
     * Prepares the topics.
     *
     * @param publisher publishes the changes
     * @param totals called by the thread that computes the values; may take long
     * @param version the version of the program
     */
    StatusTopics(
            BrokerModule.Core core,
            StatusPublisher publisher,
            BrokerMeters meters,
            Supplier<SessionTotals.Totals> totals,
            String version) {
        this.core = core;
        this.publisher = publisher;
        this.meters = meters;
        this.totals = totals;
        this.version = version;
        startNanos = core.ticker().nanoTime();
        lastNanos = startNanos;
        for (String name : LOADS) {
            loads.put(name, new LoadAverage());
        }
    }

    /** Publishes now and then at an interval. */
    void start(Duration interval) {
        long nanos = interval.toNanos();
        task = Schedulers.boundedElastic().schedulePeriodically(this::update, 0, nanos, TimeUnit.NANOSECONDS);
    }

    /** Stops publishing; values that are already submitted may still be published. */
    void stop() {
        Disposable running = task;
        if (running != null) {
            running.dispose();
        }
    }

    /** Computes the values and lets the event loop publish the changes. A failure is logged, and the next interval is not affected. */
    void update() {
        try {
            Map<String, String> changed = new LinkedHashMap<>();
            values().forEach((name, text) -> {
                if (!text.equals(shown.put(name, text))) {
                    changed.put(name, text);
                }
            });
            publisher.publish(changed);
        } catch (RuntimeException e) {
            LOG.warn("publishing the $SYS topics failed", e);
        }
    }

    private Map<String, String> values() {
        long now = core.ticker().nanoTime();
        Map<String, String> values = new LinkedHashMap<>();
        values.put("version", "smqtt version " + version);
        values.put("uptime", TimeUnit.NANOSECONDS.toSeconds(now - startNanos) + " seconds");
        clients(values);
        messages(values);
        loads(values, now);
        put(values, "overload", meters.overload().level());
        Runtime runtime = Runtime.getRuntime();
        values.put("heap/current", Long.toString(runtime.totalMemory() - runtime.freeMemory()));
        values.put("heap/maximum", Long.toString(runtime.maxMemory()));
        return values;
    }

    private void clients(Map<String, String> values) {
        long online = meters.connections().online();
        long total = Math.max(online, core.sessions().all().size());
        maximumOnline = Math.max(maximumOnline, online);
        put(values, "clients/total", total);
        put(values, "clients/connected", online);
        put(values, "clients/active", online); // the old name
        put(values, "clients/disconnected", total - online);
        put(values, "clients/inactive", total - online); // the old name
        put(values, "clients/expired", meters.expiredSessions());
        put(values, "clients/maximum", maximumOnline);
    }

    private void messages(Map<String, String> values) {
        MessageCounts messages = meters.messages();
        put(values, "messages/received", MetricModule.sum(core, TrafficCounts::receivedPackets));
        put(values, "messages/sent", MetricModule.sum(core, TrafficCounts::sentPackets));
        put(values, "bytes/received", MetricModule.sum(core, TrafficCounts::receivedBytes));
        put(values, "bytes/sent", MetricModule.sum(core, TrafficCounts::sentBytes));
        put(values, "publish/messages/received", messages.received());
        put(values, "publish/messages/sent", messages.delivered());
        put(values, "publish/messages/dropped", messages.dropped());
        put(values, "publish/bytes/received", messages.receivedBytes());
        put(values, "publish/bytes/sent", messages.deliveredBytes());
        SessionTotals.Totals sums = totals.get();
        put(values, "messages/inflight", sums.inFlight());
        long stored = sums.queued() + core.router().retained().count();
        put(values, "store/messages/count", stored);
        put(values, "messages/stored", stored); // the old name
        put(
                values,
                "store/messages/bytes",
                sums.queuedBytes() + core.router().retained().bytes());
        put(values, "retained messages/count", core.router().retained().count());
        put(values, "subscriptions/count", core.router().index().ownSize());
        put(values, "shared_subscriptions/count", core.router().index().ownGroups());
    }

    private void loads(Map<String, String> values, long now) {
        double elapsed = Math.max(1e-3, (now - lastNanos) / 1e9);
        lastNanos = now;
        MessageCounts messages = meters.messages();
        load("messages/received").update(MetricModule.sum(core, TrafficCounts::receivedPackets), elapsed);
        load("messages/sent").update(MetricModule.sum(core, TrafficCounts::sentPackets), elapsed);
        load("bytes/received").update(MetricModule.sum(core, TrafficCounts::receivedBytes), elapsed);
        load("bytes/sent").update(MetricModule.sum(core, TrafficCounts::sentBytes), elapsed);
        load("publish/received").update(messages.received(), elapsed);
        load("publish/sent").update(messages.delivered(), elapsed);
        load("publish/dropped").update(messages.dropped(), elapsed);
        load("connections").update(meters.connections().accepted(), elapsed);
        load("sockets").update(meters.connections().opened(), elapsed);
        loads.forEach((name, load) -> {
            for (int i = 0; i < LoadAverage.count(); i++) {
                values.put(
                        "load/" + name + '/' + LoadAverage.level(i),
                        String.format(Locale.ROOT, "%.2f", load.perMinute(i)));
            }
        });
    }

    private LoadAverage load(String name) {
        LoadAverage load = loads.get(name);
        if (load == null) {
            throw new IllegalArgumentException(name);
        }
        return load;
    }

    private static void put(Map<String, String> values, String name, long value) {
        values.put(name, Long.toString(value));
    }
}
