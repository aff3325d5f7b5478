// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.smqtt.BrokerModule;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.Matches;
import io.smqtt.routing.RouteTicket;
import io.smqtt.routing.Router;
import io.smqtt.routing.RoutingLoop;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The topics below $SYS/broker, with the names and texts of mosquitto. A topic is written when its value has changed. The
 * messages are retained in memory alone, whatever the store: after a restart they would be wrong. On one event loop.
 */
final class StatusTopics {

    private static final String ROOT = "$SYS/broker/";

    private final BrokerModule.Core core;
    private final RoutingLoop loop;
    private final BrokerMeters meters;
    private final SessionTotals totals;
    private final String version;
    private final long startNanos;
    private final Map<String, LoadAverage> loads = new LinkedHashMap<>();
    private final Map<String, String> shown = new HashMap<>();
    private final Matches matches = new Matches();
    private long lastNanos;
    private long maximumOnline;
    private volatile boolean stopped;

    StatusTopics(BrokerModule.Core core, BrokerMeters meters, SessionTotals totals, String version) {
        this.core = core;
        this.meters = meters;
        this.totals = totals;
        this.version = version;
        loop = core.router().loops().get(0);
        startNanos = core.ticker().nanoTime();
        lastNanos = startNanos;
        for (String name :
                new String[] {"publish/received", "publish/sent", "publish/dropped", "connections", "sockets"}) {
            loads.put(name, new LoadAverage());
        }
    }

    /** Begins to write, now and then at an interval. */
    void start(Duration interval) {
        loop.executor().execute(() -> tick(interval));
    }

    void stop() {
        stopped = true;
    }

    private void tick(Duration interval) {
        if (stopped || loop.executor().isShuttingDown()) {
            return;
        }
        update();
        loop.executor().schedule(() -> tick(interval), interval.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Writes what has changed. On the event loop. */
    void update() {
        values().forEach((name, text) -> {
            if (!text.equals(shown.put(name, text))) {
                write(ROOT + name, text);
            }
        });
    }

    private void write(String topic, String text) {
        Router router = core.router();
        ApplicationMessage message = ApplicationMessage.builder(topic)
                .payload(text)
                .qos(QoS.EXACTLY_ONCE)
                .retain(true)
                .build()
                .accepted(core.ticker().nanoTime(), null);
        router.retained().store(message);
        router.index().match(message.topic(), matches);
        boolean awaited = !matches.isEmpty();
        matches.clear();
        if (awaited) { // else it would be counted as a message that nobody wanted
            router.route(loop, message, RouteTicket.NONE);
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
        put(values, "publish/messages/received", messages.received());
        put(values, "publish/messages/sent", messages.delivered());
        put(values, "publish/messages/dropped", messages.dropped());
        put(values, "publish/bytes/received", messages.receivedBytes());
        put(values, "publish/bytes/sent", messages.deliveredBytes());
        SessionTotals.Totals sums = totals.get();
        put(values, "messages/inflight", sums.inFlight());
        put(
                values,
                "store/messages/count",
                sums.queued() + core.router().retained().count());
        put(values, "retained messages/count", core.router().retained().count());
        put(values, "subscriptions/count", core.router().index().size());
        put(values, "shared_subscriptions/count", sums.groups());
    }

    private void loads(Map<String, String> values, long now) {
        double elapsed = Math.max(1e-3, (now - lastNanos) / 1e9);
        lastNanos = now;
        MessageCounts messages = meters.messages();
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
