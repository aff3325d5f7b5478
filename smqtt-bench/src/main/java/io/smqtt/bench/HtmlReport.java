// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/** The result as one self-contained page: table and plots, no script, no external files. */
final class HtmlReport {

    private static final double[] PERCENTILES = {0, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};

    private static final String STYLE = "body{font:15px sans-serif;margin:2em auto;max-width:760px;padding:0 1em}"
            + "table{border-collapse:collapse}td{padding:3px 14px 3px 0;border-bottom:1px solid #ddd}"
            + "svg{max-width:100%;margin:1em 0;font:12px sans-serif}.g{stroke:#e0e0e0}.y{text-anchor:end}"
            + ".x{text-anchor:middle}.t{font-weight:bold}.bad{color:#c62828;font-weight:bold}";

    private HtmlReport() {}

    static String of(LoadResult result, List<String> brokenLimits) {
        StringBuilder out = new StringBuilder(16_384);
        out.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>")
                .append(escaped(result.name()))
                .append("</title><style>")
                .append(STYLE)
                .append("</style></head><body>\n<h1>")
                .append(escaped(result.name()))
                .append("</h1>\n");
        brokenLimits.forEach(
                limit -> out.append("<p class=\"bad\">").append(escaped(limit)).append("</p>\n"));
        if (result.interrupted()) {
            out.append("<p class=\"bad\">Interrupted: this is what was measured until then.</p>\n");
        }
        out.append("<table>\n");
        SummaryTable.rows(result)
                .forEach((name, value) -> out.append("<tr><td>")
                        .append(escaped(name))
                        .append("</td><td>")
                        .append(escaped(value))
                        .append("</td></tr>\n"));
        out.append("</table>\n");
        plots(out, result);
        return out.append("</body></html>\n").toString();
    }

    private static void plots(StringBuilder out, LoadResult result) {
        List<Sample> samples = result.samples();
        if (!samples.isEmpty()) {
            double[] seconds = column(samples, Sample::seconds);
            out.append(new SvgPlot("messages per second, over seconds", seconds, List.of())
                    .line("published", column(samples, Sample::publishedPerSecond))
                    .line("delivered", column(samples, Sample::deliveredPerSecond))
                    .svg());
            out.append(new SvgPlot("latency in ms, over seconds", seconds, List.of())
                    .line("p50", column(samples, sample -> sample.p50Micros() / 1e3))
                    .line("p99", column(samples, sample -> sample.p99Micros() / 1e3))
                    .svg());
        }
        Histogram latency = result.figures().latency;
        if (latency.getTotalCount() > 0) {
            out.append(distribution(latency));
        }
    }

    /** Percentiles at equal distances per factor of the share above them, so that the tail can be seen. */
    private static String distribution(Histogram latency) {
        double[] x = new double[PERCENTILES.length];
        double[] y = new double[PERCENTILES.length];
        String[] ticks = new String[PERCENTILES.length];
        for (int i = 0; i < x.length; i++) {
            x[i] = Math.log10(100 / (100 - PERCENTILES[i]));
            y[i] = latency.getValueAtPercentile(PERCENTILES[i]) / 1e6;
            ticks[i] = PERCENTILES[i] == Math.rint(PERCENTILES[i])
                    ? Long.toString((long) PERCENTILES[i])
                    : Double.toString(PERCENTILES[i]);
        }
        return new SvgPlot("latency in ms, over percentiles", x, List.of(ticks))
                .line("latency", y)
                .svg();
    }

    private static double[] column(List<Sample> samples, ToDoubleFunction<Sample> value) {
        return samples.stream().mapToDouble(value).toArray();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
