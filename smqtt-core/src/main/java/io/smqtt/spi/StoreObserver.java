// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;

/** Observes stored data: retained messages, and the batches and the state of a {@link BrokerStore}. */
public non-sealed interface StoreObserver extends Observer {

    /** Observes nothing. */
    StoreObserver NONE = new StoreObserver() {};

    /**
     * The retained messages changed.
     *
     * @param count their number
     * @param bytes their bytes
     */
    default void retainedChanged(long count, long bytes) {}

    /**
     * A message was not retained because of the limits of the retained messages; the existing one of its topic stays. The message itself
     * is still delivered unless its publisher gets {@link ReasonCode#QUOTA_EXCEEDED}.
     *
     * @param count the number of retained messages
     * @param bytes their bytes
     */
    default void retainedRefused(long count, long bytes) {}

    /**
     * The store has committed a batch of operations, or has failed to. Called on the store's own thread, on which the next batch waits.
     *
     * @param operations the number of operations, 1 or more
     * @param bytes their bytes in the queue
     * @param nanos the duration, sync included; 0 if the store did not try
     * @param kept whether they are committed; false if it failed
     */
    default void storeCommitted(int operations, long bytes, long nanos, boolean kept) {}

    /**
     * The store's own thread begins a round of work, or has ended it: it writes a batch, waits for stable storage, measures.
     * A round that does not end indicates a disk that hangs. Not called while the store is idle.
     *
     * @param working true at the beginning, false at the end
     */
    default void storeWorking(boolean working) {}

    /**
     * The state of the store. Called about once a second, on the store's own thread.
     *
     * @param figures the current figures
     */
    default void storeMeasured(StoreFigures figures) {}
}
