// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The limits of a successful run.
 *
 * @param maxP99 maximum 99th percentile of the end-to-end latency
 * @param maxP999 maximum 99.9th percentile of it
 * @param maxLoss maximum number of lost messages
 * @param maxDuplicates maximum number of duplicates
 * @param minRate minimum deliveries per second
 */
record Limits(
        @Nullable Duration maxP99,
        @Nullable Duration maxP999,
        @Nullable Long maxLoss,
        @Nullable Long maxDuplicates,
        @Nullable Double minRate) {

    /** One line per broken limit, with its flag. */
    List<String> brokenBy(LoadResult result) {
        List<String> broken = new ArrayList<>();
        latency(broken, "--max-p99", maxP99, result, 99);
        latency(broken, "--max-p999", maxP999, result, 99.9);
        count(broken, "--max-loss", maxLoss, result.faults().lost, "lost");
        count(broken, "--max-duplicates", maxDuplicates, result.faults().duplicated, "duplicated");
        if (minRate != null && result.deliveredPerSecond() < minRate) {
            broken.add(String.format(
                    Locale.ROOT, "--min-rate %.0f: %.0f deliveries/s", minRate, result.deliveredPerSecond()));
        }
        return broken;
    }

    private static void latency(
            List<String> broken, String flag, @Nullable Duration most, LoadResult result, double percentile) {
        if (most == null) {
            return;
        }
        if (result.figures().latency.getTotalCount() == 0) {
            broken.add(flag + " " + DurationText.of(most) + ": no message was measured");
        } else if (result.latencyMicros(percentile) > most.toNanos() / 1e3) {
            long nanos = Math.round(result.latencyMicros(percentile) * 1e3);
            broken.add(flag + " " + DurationText.of(most) + ": the latency is "
                    + DurationText.of(Duration.ofNanos(nanos)));
        }
    }

    private static void count(List<String> broken, String flag, @Nullable Long most, long count, String what) {
        if (most != null && count > most) {
            broken.add(flag + " " + most + ": " + count + " messages were " + what);
        }
    }
}
