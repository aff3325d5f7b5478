// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;

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
}
