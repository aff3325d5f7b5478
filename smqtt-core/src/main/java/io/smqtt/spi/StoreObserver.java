// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.message.ReasonCode;

/** Observes what is kept: retained messages, and the batches and the state of a {@link BrokerStore}. */
public non-sealed interface StoreObserver extends Observer {

    /** Observes nothing. */
    StoreObserver NONE = new StoreObserver() {};

    /**
     * The retained messages changed.
     *
     * @param count how many there are
     * @param bytes what they hold
     */
    default void retainedChanged(long count, long bytes) {}

    /**
     * A message was not retained because of the limits of the retained messages; what its topic had stays. The message
     * itself still goes to its subscribers unless its publisher is told {@link ReasonCode#QUOTA_EXCEEDED}.
     *
     * @param count how many retained messages there are
     * @param bytes what they hold
     */
    default void retainedRefused(long count, long bytes) {}

    /**
     * The store made a batch of operations safe, or could not. Told by the store's own thread, which the next batch waits for.
     *
     * @param operations how many operations, 1 or more
     * @param bytes what they held while they waited
     * @param nanos how long it took, the wait for stable storage included; 0 if the store did not even try
     * @param kept whether they are safe; false if it failed
     */
    default void storeCommitted(int operations, long bytes, long nanos, boolean kept) {}

    /**
     * The store's own thread begins a round of work, or has ended it: it writes a batch, waits for stable storage, measures.
     * A round that has begun and does not end is a disk that hangs. Not told while there is nothing to do.
     *
     * @param working true at the beginning, false at the end
     */
    default void storeWorking(boolean working) {}

    /**
     * How the store is. Told about once a second, by the store's own thread.
     *
     * @param figures of this moment
     */
    default void storeMeasured(StoreFigures figures) {}
}
