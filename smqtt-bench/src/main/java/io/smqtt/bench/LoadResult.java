// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a run came to.
 *
 * @param name of the scenario or command
 * @param target where the load went
 * @param settings of the messages
 * @param clients how many were asked for
 * @param connectFailures how many of them could not be connected
 * @param firstFailure why the first of them could not; empty if none
 * @param connectSeconds until all were connected and subscribed
 * @param measuredSeconds how long was measured
 * @param figures counts and histograms
 * @param faults lost, duplicated and reordered messages of the whole run
 * @param samples second by second
 * @param lastDeliveredMillis from the first connection to the last delivery
 * @param extra figures of this scenario alone, by name with unit
 * @param broker what the broker's process used while it was measured, if its process was named
 * @param interrupted whether it ended before its time, by a signal
 */
record LoadResult(
        String name,
        String target,
        LoadSettings settings,
        int clients,
        int connectFailures,
        String firstFailure,
        double connectSeconds,
        double measuredSeconds,
        LoadFigures figures,
        FlowTable.Faults faults,
        List<Sample> samples,
        double lastDeliveredMillis,
        Map<String, Double> extra,
        @Nullable ProcessUse broker,
        boolean interrupted) {

    LoadResult withExtra(String newName, Map<String, Double> figuresOfScenario) {
        return new LoadResult(
                newName,
                target,
                settings,
                clients,
                connectFailures,
                firstFailure,
                connectSeconds,
                measuredSeconds,
                figures,
                faults,
                samples,
                lastDeliveredMillis,
                figuresOfScenario,
                broker,
                interrupted);
    }

    double publishedPerSecond() {
        return measuredSeconds > 0 ? figures.measuredPublished / measuredSeconds : 0;
    }

    double deliveredPerSecond() {
        return measuredSeconds > 0 ? figures.measuredDelivered / measuredSeconds : 0;
    }

    /** Microseconds; {@code percentile} from 0 to 100. */
    double latencyMicros(double percentile) {
        return figures.latency.getTotalCount() == 0 ? 0 : figures.latency.getValueAtPercentile(percentile) / 1e3;
    }

    /** The broker's CPU time per delivered message, microseconds; 0 if unknown. */
    double brokerMicrosPerDelivered() {
        return broker == null || figures.measuredDelivered == 0
                ? 0
                : broker.cpuSeconds() * 1e6 / figures.measuredDelivered;
    }
}
