// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/** The broker's monotonic clock. All expiries and deadlines use it, so that steps of the wall clock have no effect. */
@FunctionalInterface
public interface Ticker {

    /** The system's monotonic clock. */
    Ticker SYSTEM = System::nanoTime;

    /**
     * Reads the clock.
     *
     * @return nanoseconds since an arbitrary start
     */
    long nanoTime();
}
