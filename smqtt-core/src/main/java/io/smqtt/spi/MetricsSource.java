// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;
import java.util.List;

/** Metrics and health checks of one broker. Does not block. */
@AnyThread
public interface MetricsSource {

    /**
     * Reads all meters. Takes some milliseconds.
     *
     * @return lines in the text format of Prometheus
     */
    String scrape();

    /**
     * Reads the main figures. Takes some microseconds; the sums over all sessions are at most read every 10 s.
     *
     * @return the figures of the moment; zeros before the start of the broker
     */
    BrokerFigures figures();

    /**
     * Checks whether the process works. Fails only for a state that needs a restart.
     *
     * @return the result
     */
    HealthReport live();

    /**
     * Checks whether clients can connect.
     *
     * @return the result
     */
    HealthReport ready();

    /**
     * Returns the alarms of this node: those that last, then the latest that have ended, each from the newest to the oldest.
     *
     * @return a snapshot; bounded
     */
    default List<Alarm> alarms() {
        return List.of();
    }
}
