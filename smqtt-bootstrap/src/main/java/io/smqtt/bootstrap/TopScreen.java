// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.time.Duration;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The screen of {@code smqtt top}: the broker's rates between two scrapes, within 100 columns. */
final class TopScreen {

    private static final int REASONS = 4;

    private final Scrape before;
    private final Scrape now;
    private final StringBuilder text = new StringBuilder(2_048);

    private TopScreen(Scrape before, Scrape now) {
        this.before = before;
        this.now = now;
    }

    /** {@return some lines, each with its end} */
    static String of(String where, Scrape before, Scrape now) {
        TopScreen screen = new TopScreen(before, now);
        screen.process(where);
        screen.clients();
        screen.messages();
        screen.times();
        screen.loops();
        screen.store();
        screen.cluster();
        return screen.text.toString();
    }

    private void line(String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    }

    private void process(String where) {
        Duration up = Duration.ofSeconds((long) now.sum("process_uptime_seconds"));
        line(
                "smqtt at %s, up %dd %02d:%02d:%02d",
                where, up.toDays(), up.toHoursPart(), up.toMinutesPart(), up.toSecondsPart());
        line(
                "process      CPU %.0f %% of a core   heap %s of %s   buffers %s   open files %,.0f of %,.0f",
                now.rate(before, "process_cpu_time_ns_total") / 1e7,
                bytes(now.sum("jvm_memory_used_bytes", "area=\"heap\"")),
                bytes(heapLimit()),
                bytes(now.sum("netty_allocator_memory_used", "memory_type=\"direct\"")),
                now.sum("process_files_open_files"),
                now.sum("process_files_max_files"));
    }

    /** A pool without a limit of its own says -1. */
    private double heapLimit() {
        return now.series().entrySet().stream()
                .filter(entry -> entry.getKey().startsWith("jvm_memory_max_bytes{")
                        && entry.getKey().contains("area=\"heap\""))
                .mapToDouble(entry -> Math.max(0, entry.getValue()))
                .sum();
    }

    private void clients() {
        line(
                "clients      %,.0f online   %,.0f sessions   %,.0f subscriptions   %,.0f shared groups   %,.0f retained",
                now.sum("smqtt_clients_online"),
                now.sum("smqtt_sessions_active"),
                now.sum("smqtt_subscriptions_active"),
                now.sum("smqtt_subscriptions_groups"),
                now.sum("smqtt_retained_messages"));
        line(
                "connections  %s/s opened   %s/s closed   %s/s CONNECT accepted   %s/s refused",
                number(now.rate(before, "smqtt_connections_opened_total")),
                number(now.rate(before, "smqtt_connections_closed_total")),
                number(now.rate(before, "smqtt_clients_accepted_total")),
                number(now.rate(before, "smqtt_clients_rejected_total")
                        + now.rate(before, "smqtt_connections_refused_total")));
    }

    private void messages() {
        line("");
        line("%-12s %14s %18s   %s", "messages", "per second", "in all", "QoS 0 / 1 / 2 per second");
        flow("received", "smqtt_messages_received_total", "smqtt_payload_received_bytes_total");
        flow("delivered", "smqtt_messages_delivered_total", "smqtt_payload_delivered_bytes_total");
        line(
                "  %-10s %14s %,18.0f   %s",
                "dropped",
                number(now.rate(before, "smqtt_messages_dropped_total")),
                now.sum("smqtt_messages_dropped_total"),
                reasons("smqtt_messages_dropped_total"));
        line(
                "  %-10s %14s %,18.0f   %s",
                "refused",
                number(now.rate(before, "smqtt_messages_refused_total")),
                now.sum("smqtt_messages_refused_total"),
                reasons("smqtt_messages_refused_total"));
        line(
                "  %-10s %,14.0f in queues   %,.0f in flight   %,.0f pending",
                "now",
                now.sum("smqtt_messages_waiting"),
                now.sum("smqtt_messages_inflight"),
                now.sum("smqtt_messages_pending"));
    }

    private void flow(String what, String counter, String payload) {
        Map<String, Double> byQos = now.rates(before, counter, "qos");
        line(
                "  %-10s %14s %,18.0f   %s   %s/s",
                what,
                number(now.rate(before, counter)),
                now.sum(counter),
                byQos.values().stream().map(TopScreen::number).collect(Collectors.joining(" / ")),
                bytes(now.rate(before, payload)));
    }

    /** What happens now, most often first; or, if nothing does, what has happened. */
    private String reasons(String counter) {
        Map<String, Double> rates = now.rates(before, counter, "reason");
        String current = most(rates, "/s");
        return current.isEmpty() ? most(now.by(counter, "reason"), " in all") : current;
    }

    private static String most(Map<String, Double> values, String unit) {
        return values.entrySet().stream()
                .filter(entry -> entry.getValue() > 0)
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(REASONS)
                .map(entry -> entry.getKey() + ' ' + number(entry.getValue()) + unit)
                .collect(Collectors.joining(", "));
    }

    private void times() {
        line("");
        line(
                "times        delivery %s   routing %s   (means since the last look; one message in 1,024)",
                seconds(now.mean(before, "smqtt_delivery_time_seconds")),
                seconds(now.mean(before, "smqtt_route_time_seconds")));
    }

    private void loops() {
        Map<String, Double> lags = now.by("smqtt_eventloop_lag_seconds", "loop");
        Map<String, Double> tasks = now.by("smqtt_eventloop_pending_tasks", "loop");
        now.rates(before, "smqtt_eventloop_cpu_seconds_total", "loop")
                .forEach((loop, cpu) -> line(
                        "event loop   %2s %4.0f %% busy   %s late at most   %,.0f tasks wait",
                        loop, cpu * 100, seconds(lags.getOrDefault(loop, Double.NaN)), tasks.getOrDefault(loop, 0.0)));
    }

    private void store() {
        if (now.sum("smqtt_store_disk_bytes") == 0 && now.sum("smqtt_store_commit_seconds_count") == 0) {
            return;
        }
        line(
                "store        %s   %s commits/s   %s operations/s   %s each   %s waiting   %s on disk",
                now.sum("smqtt_store_healthy") > 0 ? "healthy" : "FAILING",
                number(now.rate(before, "smqtt_store_commit_seconds_count")),
                number(now.rate(before, "smqtt_store_operations_total")),
                seconds(now.mean(before, "smqtt_store_commit_seconds")),
                bytes(now.sum("smqtt_store_queue_bytes")),
                bytes(now.sum("smqtt_store_disk_bytes")));
    }

    private void cluster() {
        if (now.has("smqtt_cluster_members")) {
            line(
                    "cluster      %,.0f of %,.0f nodes   %s messages/s forwarded   %,.0f queued   %,.0f parked   %,.0f routes",
                    now.sum("smqtt_cluster_members"),
                    now.sum("smqtt_cluster_members_known"),
                    number(now.rate(before, "smqtt_cluster_forwarded_total")),
                    now.sum("smqtt_cluster_queue"),
                    now.sum("smqtt_cluster_parked"),
                    now.sum("smqtt_cluster_routes_own") + now.sum("smqtt_cluster_routes_remote"));
        }
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value > 0 && value < 10 ? "%,.1f" : "%,.0f", value);
    }

    private static String bytes(double value) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        int unit = 0;
        double scaled = value;
        while (scaled >= 1_024 && unit < units.length - 1) {
            scaled /= 1_024;
            unit++;
        }
        return String.format(Locale.ROOT, unit == 0 ? "%.0f %s" : "%.1f %s", scaled, units[unit]);
    }

    private static String seconds(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        if (value < 1e-3) {
            return String.format(Locale.ROOT, "%.0f µs", value * 1e6);
        }
        return value < 1
                ? String.format(Locale.ROOT, "%.1f ms", value * 1e3)
                : String.format(Locale.ROOT, "%.1f s", value);
    }
}
