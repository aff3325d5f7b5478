// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The result of a run.
 *
 * @param name the scenario or command
 * @param target the target of the load
 * @param settings the message settings
 * @param clients number of requested clients
 * @param connectFailures number of clients that could not be connected
 * @param firstFailure the first of these failures; empty if none
 * @param connectSeconds time until all were connected and subscribed
 * @param measuredSeconds duration of the measurement
 * @param figures counts and histograms
 * @param faults lost, duplicated and reordered messages of the whole run
 * @param samples second by second
 * @param lastDeliveredMillis time from the first connection to the last delivery
 * @param extra figures of this scenario only, by name with unit
 * @param broker resource use of the broker's process during the measurement, if its process is known
 * @param interrupted whether a signal ended it early
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
