// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A line plot as SVG text: linear axes from zero, a few round ticks, a legend. */
final class SvgPlot {

    private static final int WIDTH = 720;
    private static final int HEIGHT = 240;
    private static final int LEFT = 70;
    private static final int BOTTOM = 30;
    private static final int TOP = 24;
    private static final int RIGHT = 12;
    private static final int TICKS = 5;
    private static final String[] COLOURS = {"#1565c0", "#c62828", "#2e7d32"};

    private final String title;
    private final List<String> labels = new ArrayList<>();
    private final List<double[]> lines = new ArrayList<>();
    private final double[] x;
    private final List<String> xTicks;

    /**
     * @param title the title above it
     * @param x the x values of all lines
     * @param xTicks labels at the values of x; empty for numbers
     */
    SvgPlot(String title, double[] x, List<String> xTicks) {
        this.title = title;
        this.x = x;
        this.xTicks = xTicks;
    }

    SvgPlot line(String label, double[] y) {
        labels.add(label);
        lines.add(y);
        return this;
    }

    String svg() {
        StringBuilder out = new StringBuilder(4096);
        out.append("<svg viewBox=\"0 0 " + WIDTH + " " + HEIGHT + "\" width=\"" + WIDTH + "\" role=\"img\">\n")
                .append("<text x=\"4\" y=\"14\" class=\"t\">")
                .append(title)
                .append("</text>\n");
        double highest = highest();
        double step = step(highest / TICKS);
        for (double tick = 0; tick <= highest + step / 2; tick += step) {
            double y = y(tick, highest);
            out.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"g\"/><text x=\"%d\" y=\"%.1f\" class=\"y\">%s</text>%n",
                    LEFT,
                    y,
                    WIDTH - RIGHT,
                    y,
                    LEFT - 6,
                    y + 4,
                    number(tick)));
        }
        xAxis(out);
        for (int i = 0; i < lines.size(); i++) {
            drawLine(out, i, highest);
        }
        return out.append("</svg>\n").toString();
    }

    private void drawLine(StringBuilder out, int index, double highest) {
        String colour = COLOURS[index % COLOURS.length];
        out.append("<polyline fill=\"none\" stroke-width=\"1.5\" stroke=\"")
                .append(colour)
                .append("\" points=\"");
        double[] values = lines.get(index);
        for (int i = 0; i < values.length; i++) {
            out.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(x[i]), y(values[i], highest)));
        }
        out.append("\"/>\n<text x=\"" + (WIDTH - RIGHT - 90 * (lines.size() - index)) + "\" y=\"14\" fill=\"" + colour
                + "\">" + labels.get(index) + "</text>\n");
    }

    private void xAxis(StringBuilder out) {
        if (xTicks.isEmpty()) {
            double step = step(xHighest() / TICKS);
            for (double tick = 0; tick <= xHighest() + 1e-9; tick += step) {
                xTick(out, tick, number(tick));
            }
        } else {
            for (int i = 0; i < x.length; i++) {
                xTick(out, x[i], xTicks.get(i));
            }
        }
    }

    private void xTick(StringBuilder out, double at, String text) {
        out.append(String.format(
                Locale.ROOT, "<text x=\"%.1f\" y=\"%d\" class=\"x\">%s</text>%n", x(at), HEIGHT - 10, text));
    }

    private double highest() {
        double highest = 0;
        for (double[] line : lines) {
            for (double value : line) {
                highest = Math.max(highest, value);
            }
        }
        return highest > 0 ? highest : 1;
    }

    private double xHighest() {
        return x.length == 0 || x[x.length - 1] <= 0 ? 1 : x[x.length - 1];
    }

    private double x(double value) {
        return LEFT + value / xHighest() * (WIDTH - LEFT - RIGHT);
    }

    private static double y(double value, double highest) {
        return HEIGHT - BOTTOM - value / highest * (HEIGHT - BOTTOM - TOP);
    }

    /** Rounds up to 1, 2 or 5 times a power of ten. */
    static double step(double atLeast) {
        double power = Math.pow(10, Math.floor(Math.log10(atLeast)));
        double digit = atLeast / power;
        return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    }

    private static String number(double value) {
        if (value >= 1e6) {
            return String.format(Locale.ROOT, "%.1fM", value / 1e6);
        }
        if (value >= 1e4) {
            return String.format(Locale.ROOT, "%.0fk", value / 1e3);
        }
        return value == Math.rint(value)
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, value < 0.1 ? "%.3f" : "%.1f", value);
    }
}
