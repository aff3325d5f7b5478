// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Results that were never measured. */
final class Results {

    private Results() {}

    static LoadSettings settings(double perSecond, long limit) {
        return new LoadSettings(
                1,
                128,
                false,
                List.of(),
                perSecond,
                32,
                32,
                limit,
                Duration.ZERO,
                Duration.ofSeconds(10),
                Duration.ofSeconds(1));
    }

    /** 1,000 messages in 10 s with latencies of 1 ms to 1 s in even steps, one of them lost, two doubled. */
    static LoadResult sample(String name) {
        LoadFigures figures = new LoadFigures();
        for (int i = 1; i <= 1000; i++) {
            figures.recordLatency(i * 1_000_000L, true);
        }
        figures.connected = 20;
        figures.published = 1000;
        figures.measuredPublished = 1000;
        figures.delivered = 1001;
        figures.measuredDelivered = 1000;
        figures.connect.recordValue(2_000_000);
        figures.lag.recordValue(5_000);
        FlowTable.Faults faults = new FlowTable.Faults();
        faults.expected = 1000;
        faults.unique = 999;
        faults.lost = 1;
        faults.duplicated = 2;
        return new LoadResult(
                name,
                "mqtt://h:1",
                settings(100, 0),
                20,
                0,
                "",
                0.5,
                10,
                figures,
                faults,
                List.of(new Sample(1, 20, 90, 80, 500, 900, 1000), new Sample(2, 20, 110.25, 100, 500, 900, 1000)),
                0,
                Map.of(),
                new ProcessUse(2, 3 << 20),
                false);
    }
}
