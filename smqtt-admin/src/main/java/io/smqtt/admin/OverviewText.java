// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.time.Duration;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** An {@link Overview} as text for people. */
final class OverviewText {

    private static final int REASONS = 4;

    private final Overview now;
    private final StringBuilder text = new StringBuilder(2_048);

    private OverviewText(Overview now) {
        this.now = now;
    }

    static String of(String where, Overview now) {
        OverviewText screen = new OverviewText(now);
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
        Overview.Resources process = now.resources();
        Duration up = Duration.ofSeconds((long) process.uptimeSeconds());
        line(
                "smqtt at %s, up %dd %02d:%02d:%02d",
                where, up.toDays(), up.toHoursPart(), up.toMinutesPart(), up.toSecondsPart());
        line(
                "process      CPU %.0f %% of a core   heap %s of %s   buffers %s   open files %,.0f of %,.0f",
                process.cpuShare() * 100,
                bytes(process.heapBytes()),
                bytes(process.maxHeapBytes()),
                bytes(process.bufferBytes()),
                process.openFiles(),
                process.maxFiles());
    }

    private void clients() {
        Overview.Clients clients = now.clients();
        line(
                "clients      %,.0f online   %,.0f sessions   %,.0f subscriptions   %,.0f shared groups   %,.0f retained",
                clients.online(),
                clients.sessions(),
                clients.subscriptions(),
                clients.sharedGroups(),
                clients.retainedMessages());
        line(
                "connections  %s/s opened   %s/s closed   %s/s CONNECT accepted   %s/s refused",
                number(clients.openedPerSecond()),
                number(clients.closedPerSecond()),
                number(clients.acceptedPerSecond()),
                number(clients.refusedPerSecond()));
    }

    private void messages() {
        Overview.Messages messages = now.messages();
        line("");
        line("%-12s %14s %18s   %s", "messages", "per second", "in all", "QoS 0 / 1 / 2 per second");
        flow("received", messages.received());
        flow("delivered", messages.delivered());
        loss("dropped", messages.dropped());
        loss("refused", messages.refused());
        line(
                "  %-10s %,14.0f in queues   %,.0f in flight   %,.0f pending",
                "now", messages.queued(), messages.inFlight(), messages.pending());
    }

    private void flow(String what, Overview.Flow flow) {
        line(
                "  %-10s %14s %,18.0f   %s   %s/s",
                what,
                number(flow.perSecond()),
                flow.total(),
                flow.perSecondByQos().values().stream()
                        .map(OverviewText::number)
                        .collect(Collectors.joining(" / ")),
                bytes(flow.bytesPerSecond()));
    }

    private void loss(String what, Overview.Loss loss) {
        line("  %-10s %14s %,18.0f   %s", what, number(loss.perSecond()), loss.total(), reasons(loss));
    }

    /** Rates by reason, highest first; or totals by reason, if all rates are 0. */
    private static String reasons(Overview.Loss loss) {
        String current = most(loss.perSecondByReason(), "/s");
        return current.isEmpty() ? most(loss.totalByReason(), " in all") : current;
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
                seconds(now.times().deliverySeconds()), seconds(now.times().routingSeconds()));
    }

    private void loops() {
        for (Overview.Loop loop : now.loops()) {
            line(
                    "event loop   %2s %4.0f %% busy   %s late at most   %,.0f tasks wait",
                    loop.name(), loop.cpuShare() * 100, seconds(loop.lagSeconds()), loop.pendingTasks());
        }
    }

    private void store() {
        Overview.Store store = now.store();
        if (store != null) {
            line(
                    "store        %s   %s commits/s   %s operations/s   %s each   %s waiting   %s on disk",
                    store.healthy() ? "healthy" : "FAILING",
                    number(store.commitsPerSecond()),
                    number(store.operationsPerSecond()),
                    seconds(store.commitSeconds()),
                    bytes(store.queuedBytes()),
                    bytes(store.diskBytes()));
        }
    }

    private void cluster() {
        Overview.Cluster cluster = now.cluster();
        if (cluster != null) {
            line(
                    "cluster      %,.0f of %,.0f nodes   %s messages/s forwarded   %,.0f queued   %,.0f parked   %,.0f routes",
                    cluster.members(),
                    cluster.knownMembers(),
                    number(cluster.forwardedPerSecond()),
                    cluster.queued(),
                    cluster.parked(),
                    cluster.routes());
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
