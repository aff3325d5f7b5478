// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.Locale;

/** The run second by second, for a spreadsheet. */
final class CsvReport {

    private CsvReport() {}

    /** An interrupted run ends with a marker line. */
    static String of(LoadResult result) {
        StringBuilder out =
                new StringBuilder("seconds,connected,published_per_second,delivered_per_second,p50_us,p99_us,max_us\n");
        for (Sample sample : result.samples()) {
            out.append(String.format(
                    Locale.ROOT,
                    "%.3f,%d,%.1f,%.1f,%.1f,%.1f,%.1f%n",
                    sample.seconds(),
                    sample.connected(),
                    sample.publishedPerSecond(),
                    sample.deliveredPerSecond(),
                    sample.p50Micros(),
                    sample.p99Micros(),
                    sample.maxMicros()));
        }
        if (result.interrupted()) {
            out.append("# interrupted\n");
        }
        return out.toString();
    }
}
