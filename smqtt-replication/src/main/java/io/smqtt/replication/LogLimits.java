// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/**
 * Limits of a log.
 *
 * @param releaseBytes the bytes from which entries are removed that all members have
 * @param awayBytes the bytes from which entries are removed although a member that is away does not have them: it gets a checkpoint
 * @param awayEntries the number of entries with the same effect
 */
record LogLimits(long releaseBytes, long awayBytes, long awayEntries) {

    private static final long MIB = 1L << 20;

    LogLimits {
        if (releaseBytes <= 0 || awayBytes <= 0 || awayEntries <= 0) {
            throw new IllegalArgumentException("limits of a log must be positive");
        }
    }

    /** 64 MiB that all have; 512 MiB or a million entries while one is away. */
    static LogLimits defaults() {
        return new LogLimits(64 * MIB, 512 * MIB, 1_000_000);
    }
}
