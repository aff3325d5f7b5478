// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

/**
 * Statistics of a store since it was opened.
 *
 * @param commits batches that were kept
 * @param operations operations in them
 * @param commitNanos time that the batches took together, syncing included
 * @param queuedBytes bytes of operations that wait for a batch at the moment
 * @param diskBytes what the files take, about a second ago
 * @param submittedBytes bytes of rows given to the database, about a second ago
 * @param writtenBytes what the database has written for them, about a second ago
 */
public record StoreStatistics(
        long commits,
        long operations,
        long commitNanos,
        long queuedBytes,
        long diskBytes,
        long submittedBytes,
        long writtenBytes) {}
