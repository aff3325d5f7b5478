// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** The result for a terminal: one line per figure. Latency lines are left out if nothing was measured. */
final class SummaryTable {

    private SummaryTable() {}

    static String of(LoadResult result) {
        Map<String, String> rows = rows(result);
        int width = rows.keySet().stream().mapToInt(String::length).max().orElse(0);
        StringBuilder text = new StringBuilder();
        rows.forEach((name, value) -> text.append(name)
                .append(" ".repeat(width - name.length() + 2))
                .append(value)
                .append('\n'));
        return text.toString();
    }

    /** Name and value of every line, in order. */
    static Map<String, String> rows(LoadResult result) {
        Map<String, String> rows = new LinkedHashMap<>();
        LoadFigures figures = result.figures();
        LoadSettings settings = result.settings();
        rows.put("run", result.name() + " at " + result.target());
        if (result.interrupted()) {
            rows.put("interrupted", String.format(Locale.ROOT, "after %.1f s of measuring", result.measuredSeconds()));
        }
        rows.put("clients", clients(result));
        rows.put("connect", connect(result));
        if (figures.published > 0) {
            rows.put("messages", "QoS " + settings.qos() + ", " + settings.payloadBytes() + " B, " + pace(settings));
        }
        if (figures.published > 0) {
            rows.put("published", count(figures.published, result.publishedPerSecond()));
        }
        if (figures.delivered > 0) {
            rows.put("delivered", count(figures.delivered, result.deliveredPerSecond()));
        }
        FlowTable.Faults faults = result.faults();
        if (figures.delivered > 0 || faults.expected > 0) {
            rows.put(
                    "lost / duplicated / out of order",
                    faults.lost + " / " + faults.duplicated + " / " + faults.outOfOrder);
        }
        if (figures.latency.getTotalCount() > 0) {
            rows.put("latency p50 / p90 / p99", times(result, 50, 90, 99));
            rows.put("latency p99.9 / p99.99 / max", times(result, 99.9, 99.99, 100));
        }
        if (settings.perSecond() > 0 && figures.lag.getTotalCount() > 0) {
            rows.put("sent late p99", time(figures.lag.getValueAtPercentile(99)) + " (this tool, in the latency)");
        }
        result.extra()
                .forEach((name, value) -> rows.put(
                        name, String.format(Locale.ROOT, value == Math.rint(value) ? "%,.0f" : "%,.1f", value)));
        faults(rows, figures, faults);
        ProcessUse broker = result.broker();
        if (broker != null) {
            rows.put("broker CPU", brokerCpu(result, broker));
            rows.put(
                    "broker memory",
                    String.format(Locale.ROOT, "%.1f MiB resident", broker.residentBytes() / 1048576.0));
        }
        return rows;
    }

    private static void faults(Map<String, String> rows, LoadFigures figures, FlowTable.Faults faults) {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("connections lost", figures.connectionsLost);
        counts.put("acknowledgements unexpected", figures.badAcknowledgements);
        counts.put("messages refused", figures.refusedAcknowledgements);
        counts.put("messages of others", figures.foreign);
        counts.put("messages misrouted", faults.misrouted);
        counts.put("windows given up", figures.windowStalls);
        counts.forEach((name, value) -> {
            if (value > 0) {
                rows.put(name, Long.toString(value));
            }
        });
    }

    private static String clients(LoadResult result) {
        String text = result.clients() + " asked for, " + result.figures().connected + " connected";
        return result.connectFailures() == 0
                ? text
                : text + ", " + result.connectFailures() + " failed: " + result.firstFailure();
    }

    private static String connect(LoadResult result) {
        LoadFigures figures = result.figures();
        double perSecond = result.connectSeconds() > 0 ? figures.connect.getTotalCount() / result.connectSeconds() : 0;
        return String.format(
                Locale.ROOT,
                "%.2f s, %.0f/s, CONNACK p50 %s p99 %s",
                result.connectSeconds(),
                perSecond,
                time(figures.connect.getValueAtPercentile(50)),
                time(figures.connect.getValueAtPercentile(99)));
    }

    private static String pace(LoadSettings settings) {
        if (settings.perSecond() > 0) {
            return String.format(Locale.ROOT, "open loop at %.1f/s", settings.perSecond());
        }
        return "closed loop, window " + settings.window() + ", in flight " + settings.inFlight();
    }

    private static String count(long all, double perSecond) {
        return perSecond == 0
                ? Long.toString(all)
                : String.format(Locale.ROOT, "%d, %.1f/s while measured", all, perSecond);
    }

    private static String times(LoadResult result, double... percentiles) {
        StringBuilder text = new StringBuilder();
        for (double percentile : percentiles) {
            text.append(text.length() == 0 ? "" : " / ")
                    .append(time(result.figures().latency.getValueAtPercentile(percentile)));
        }
        return text.toString();
    }

    private static String time(long nanos) {
        return DurationText.of(Duration.ofNanos(nanos));
    }

    private static String brokerCpu(LoadResult result, ProcessUse broker) {
        String seconds = String.format(Locale.ROOT, "%.2f s while measured", broker.cpuSeconds());
        return result.figures().measuredDelivered == 0
                ? seconds
                : seconds
                        + String.format(
                                Locale.ROOT, ", %.2f us per delivered message", result.brokerMicrosPerDelivered());
    }
}
