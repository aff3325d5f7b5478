// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * A snapshot of a store's state.
 *
 * @param healthy whether it takes operations, see {@link BrokerStore#isHealthy()}
 * @param queuedBytes bytes of operations that wait to be written
 * @param diskBytes what its files take
 * @param submittedBytes bytes of rows that were given to it to be written, since it was opened
 * @param writtenBytes what it has written to files for them, since it was opened: logs, tables, and tables put together anew
 */
public record StoreFigures(boolean healthy, long queuedBytes, long diskBytes, long submittedBytes, long writtenBytes) {

    /**
     * How often each byte was written so far.
     *
     * @return 1 or more in the long run; 0 if nothing was submitted
     */
    public double writeAmplification() {
        return submittedBytes == 0 ? 0 : (double) writtenBytes / submittedBytes;
    }
}
