// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

/**
 * Statistics of a store since it was opened.
 *
 * @param commits successful batches
 * @param operations operations in them
 * @param commitNanos total time of the batches, sync included
 * @param queuedBytes bytes of operations that wait for a batch
 * @param diskBytes bytes of the files, about a second ago
 * @param submittedBytes bytes of rows given to the database, about a second ago
 * @param writtenBytes bytes that the database has written for them, about a second ago
 */
public record StoreStatistics(
        long commits,
        long operations,
        long commitNanos,
        long queuedBytes,
        long diskBytes,
        long submittedBytes,
        long writtenBytes) {}
