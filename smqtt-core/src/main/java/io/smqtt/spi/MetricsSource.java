// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.thread.AnyThread;

/** Metrics and health checks of one broker, for whatever shows them to operators. Never blocks. */
@AnyThread
public interface MetricsSource {

    /**
     * Reads all meters. Takes some milliseconds.
     *
     * @return lines in the text format of Prometheus
     */
    String scrape();

    /**
     * Checks whether the process works. What is not alive only a restart can mend.
     *
     * @return the result
     */
    HealthReport live();

    /**
     * Checks whether clients can be sent to this broker now.
     *
     * @return the result
     */
    HealthReport ready();
}
