// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The figures of one scrape in Prometheus' text format.
 *
 * @param series the value of each series, by its name and labels as they are written
 * @param nanos when they were read, by a clock that never steps back
 */
public record Scrape(Map<String, Double> series, long nanos) {

    /** Copies the map, in its order. */
    public Scrape {
        series = Collections.unmodifiableMap(new LinkedHashMap<>(series));
    }

    /**
     * Reads the answer of {@code /metrics}.
     *
     * @param text lines in Prometheus' text format; others are left out
     * @param nanos when it was read, by a clock that never steps back
     * @return the figures
     */
    public static Scrape parse(String text, long nanos) {
        Map<String, Double> series = new TreeMap<>();
        text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).forEach(line -> {
            int blank = line.lastIndexOf(' ');
            if (blank > 0) {
                try {
                    series.put(line.substring(0, blank).strip(), Double.valueOf(line.substring(blank + 1)));
                } catch (NumberFormatException e) {
                    // not a figure: whoever answers there is no broker, which shows when there are none at all
                }
            }
        });
        return new Scrape(series, nanos);
    }

    /** The sum of all series of a name that have some labels, such as {@code area="heap"}; 0 if there are none. */
    double sum(String name, String... labels) {
        return series.entrySet().stream()
                .filter(entry -> matches(entry.getKey(), name, labels))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    /** The same without series below 0. */
    double sumOfPositive(String name, String... labels) {
        return series.entrySet().stream()
                .filter(entry -> matches(entry.getKey(), name, labels))
                .mapToDouble(entry -> Math.max(0, entry.getValue()))
                .sum();
    }

    /**
     * Tells whether there is a meter.
     *
     * @param name its name
     * @return true if there is a series of it
     */
    public boolean has(String name) {
        return series.keySet().stream().anyMatch(key -> matches(key, name));
    }

    /**
     * The values of a name by one of its labels, added up where others differ.
     *
     * @param name the name
     * @param label the label
     * @return the values in the order of the label
     */
    public Map<String, Double> by(String name, String label) {
        Map<String, Double> values = new TreeMap<>();
        String begin = label + "=\"";
        series.forEach((key, value) -> {
            int at = matches(key, name) ? key.indexOf(begin) : -1;
            if (at >= 0) {
                int from = at + begin.length();
                values.merge(key.substring(from, key.indexOf('"', from)), value, Double::sum);
            }
        });
        return values;
    }

    /** How much a counter has risen per second since an earlier scrape. */
    double rate(Scrape earlier, String name, String... labels) {
        return perSecond(earlier, sum(name, labels), earlier.sum(name, labels));
    }

    /** The same for each value of a label. */
    Map<String, Double> rates(Scrape earlier, String name, String label) {
        Map<String, Double> before = earlier.by(name, label);
        Map<String, Double> rates = by(name, label);
        rates.replaceAll((key, value) -> perSecond(earlier, value, before.getOrDefault(key, 0.0)));
        return rates;
    }

    /** The mean in seconds of what a timer has seen since an earlier scrape; not a number if that is nothing. */
    double mean(Scrape earlier, String timer) {
        double count = sum(timer + "_count") - earlier.sum(timer + "_count");
        double total = sum(timer + "_sum") - earlier.sum(timer + "_sum");
        return count <= 0 ? Double.NaN : total / count;
    }

    private double perSecond(Scrape earlier, double now, double before) {
        double seconds = (nanos - earlier.nanos) / 1e9;
        return seconds <= 0 ? 0 : Math.max(0, now - before) / seconds; // a restart counts from 0
    }

    private static boolean matches(String key, String name, String... labels) {
        boolean same = key.startsWith(name) && (key.length() == name.length() || key.charAt(name.length()) == '{');
        for (String label : labels) {
            same = same && key.contains(label);
        }
        return same;
    }
}
