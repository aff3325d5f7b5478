// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** The result for programs. Times are microseconds unless a name says otherwise. */
final class JsonReport {

    private static final double[] PERCENTILES = {50, 75, 90, 95, 99, 99.9, 99.99};

    private JsonReport() {}

    static String of(LoadResult result, List<String> brokenLimits) {
        Map<String, Object> root = new LinkedHashMap<>();
        LoadFigures figures = result.figures();
        root.put("run", result.name());
        root.put("target", result.target());
        root.put("interrupted", result.interrupted());
        root.put("clients", result.clients());
        root.put("connect_failures", result.connectFailures());
        root.put("connect_seconds", result.connectSeconds());
        root.put("connect_us", histogram(figures.connect));
        root.put("qos", result.settings().qos());
        root.put("payload_bytes", result.settings().payloadBytes());
        root.put("rate", result.settings().perSecond());
        root.put("window", result.settings().window());
        root.put("in_flight", result.settings().inFlight());
        root.put("measured_seconds", result.measuredSeconds());
        root.put("published", counted(figures.published, result.publishedPerSecond()));
        root.put("delivered", counted(figures.delivered, result.deliveredPerSecond()));
        root.put("faults", faults(result));
        root.put("latency_us", histogram(figures.latency));
        root.put("schedule_lag_us", histogram(figures.lag));
        root.put("extra", result.extra());
        root.put("broker", broker(result));
        root.put("samples", samples(result.samples()));
        root.put("broken_limits", brokenLimits);
        StringBuilder out = new StringBuilder();
        write(out, root);
        return out.append('\n').toString();
    }

    private static Map<String, Object> counted(long total, double perSecond) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("total", total);
        map.put("per_second", perSecond);
        return map;
    }

    private static Map<String, Object> faults(LoadResult result) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("expected", result.faults().expected);
        map.put("unique", result.faults().unique);
        map.put("lost", result.faults().lost);
        map.put("duplicated", result.faults().duplicated);
        map.put("out_of_order", result.faults().outOfOrder);
        map.put("misrouted", result.faults().misrouted);
        map.put("connections_lost", result.figures().connectionsLost);
        map.put("unexpected_acknowledgements", result.figures().badAcknowledgements);
        map.put("refused", result.figures().refusedAcknowledgements);
        map.put("window_stalls", result.figures().windowStalls);
        return map;
    }

    private static @Nullable Map<String, Object> histogram(Histogram histogram) {
        if (histogram.getTotalCount() == 0) {
            return null;
        }
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("count", histogram.getTotalCount());
        map.put("min", histogram.getMinValue() / 1e3);
        map.put("mean", histogram.getMean() / 1e3);
        for (double percentile : PERCENTILES) {
            String name = percentile == Math.rint(percentile)
                    ? Long.toString((long) percentile)
                    : Double.toString(percentile);
            map.put("p" + name, histogram.getValueAtPercentile(percentile) / 1e3);
        }
        map.put("max", histogram.getMaxValue() / 1e3);
        return map;
    }

    private static @Nullable Map<String, Object> broker(LoadResult result) {
        ProcessUse use = result.broker();
        if (use == null) {
            return null;
        }
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("cpu_seconds", use.cpuSeconds());
        map.put("us_per_delivered", result.brokerMicrosPerDelivered());
        map.put("resident_bytes", use.residentBytes());
        return map;
    }

    private static List<Map<String, Object>> samples(List<Sample> samples) {
        List<Map<String, Object>> list = new ArrayList<>();
        for (Sample sample : samples) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("seconds", sample.seconds());
            map.put("connected", sample.connected());
            map.put("published_per_second", sample.publishedPerSecond());
            map.put("delivered_per_second", sample.deliveredPerSecond());
            map.put("p50_us", sample.p50Micros());
            map.put("p99_us", sample.p99Micros());
            map.put("max_us", sample.maxMicros());
            list.add(map);
        }
        return list;
    }

    private static void write(StringBuilder out, @Nullable Object value) {
        if (value instanceof Map) {
            char separator = '{';
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(separator);
                quoted(out, String.valueOf(entry.getKey()));
                out.append(':');
                write(out, entry.getValue());
                separator = ',';
            }
            out.append(separator == '{' ? "{}" : "}");
        } else if (value instanceof List) {
            char separator = '[';
            for (Object element : (List<?>) value) {
                out.append(separator);
                write(out, element);
                separator = ',';
            }
            out.append(separator == '[' ? "[]" : "]");
        } else if (value instanceof Double) {
            double number = (Double) value;
            out.append(Double.isFinite(number) ? String.format(Locale.ROOT, "%.3f", number) : "null");
        } else if (value instanceof String) {
            quoted(out, (String) value);
        } else {
            out.append(value);
        }
    }

    private static void quoted(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
