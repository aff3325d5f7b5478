// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Delays of due tasks on all event loops of a broker, as {@code smqtt.eventloop.delay} counts them.
 *
 * @param counts by a time in seconds, how many delays were within it
 */
record LoopDelays(NavigableMap<Double, Double> counts) {

    /** Reads them from the meters of a broker. */
    static LoopDelays of(Scrape scrape) {
        NavigableMap<Double, Double> counts = new TreeMap<>();
        scrape.of("smqtt_eventloop_delay_seconds_bucket{")
                .forEach(line -> counts.merge(bound(line), Scrape.value(line), Double::sum));
        if (counts.isEmpty()) {
            throw new IllegalStateException("there is no smqtt.eventloop.delay");
        }
        return new LoopDelays(counts);
    }

    private static double bound(String line) {
        String text = line.replaceAll(".*le=\"([^\"]+)\".*", "$1");
        return text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
    }

    /** The delays since others of the same broker. */
    LoopDelays since(LoopDelays before) {
        NavigableMap<Double, Double> later = new TreeMap<>();
        counts.forEach((bound, count) -> later.put(bound, count - before.counts.getOrDefault(bound, 0.0)));
        return new LoopDelays(later);
    }

    private double all() {
        return counts.getOrDefault(Double.POSITIVE_INFINITY, 0.0);
    }

    /** The time in milliseconds within which a share of the delays was, as Prometheus estimates it. */
    double millis(double share) {
        double wanted = share * all();
        double from = 0;
        double before = 0;
        for (Map.Entry<Double, Double> bucket : counts.entrySet()) {
            double to = bucket.getKey();
            double count = bucket.getValue();
            if (count >= wanted) {
                return Double.isInfinite(to) || count == before
                        ? from * 1e3
                        : (from + (to - from) * (wanted - before) / (count - before)) * 1e3;
            }
            from = to;
            before = count;
        }
        return from * 1e3;
    }

    /** The share of the delays that were longer than a bound of the histogram. */
    double shareAbove(double seconds) {
        return 1 - counts.getOrDefault(seconds, 0.0) / all();
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%.0f delays: 50 %% within %.1f ms, 99 %% within %.1f ms, 99.9 %% within %.1f ms, %.2f %% above 20 ms",
                all(),
                millis(0.5),
                millis(0.99),
                millis(0.999),
                100 * shareAbove(0.02));
    }
}
