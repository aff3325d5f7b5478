// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * A snapshot of a store's state.
 *
 * @param healthy whether it accepts operations, see {@link BrokerStore#isHealthy()}
 * @param queuedBytes bytes of operations that wait to be written
 * @param diskBytes bytes of its files
 * @param submittedBytes bytes of submitted rows since it was opened
 * @param writtenBytes bytes written to files for them since it was opened: logs, tables, and compactions
 */
public record StoreFigures(boolean healthy, long queuedBytes, long diskBytes, long submittedBytes, long writtenBytes) {

    /**
     * Returns the write amplification.
     *
     * @return 1 or more in the long run; 0 if nothing was submitted
     */
    public double writeAmplification() {
        return submittedBytes == 0 ? 0 : (double) writtenBytes / submittedBytes;
    }
}
