// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/**
 * Limits of a log.
 *
 * @param releaseBytes the bytes from which entries are removed that all members have
 * @param awayBytes the bytes from which entries are removed although a member that is away does not have them: it gets a checkpoint
 * @param awayEntries the number of entries with the same effect
 * @param emptyEntries the number of entries from which a member whose log is empty gets a checkpoint in place of them
 */
record LogLimits(long releaseBytes, long awayBytes, long awayEntries, long emptyEntries) {

    private static final long MIB = 1L << 20;

    LogLimits {
        if (releaseBytes <= 0 || awayBytes <= 0 || awayEntries <= 0 || emptyEntries <= 0) {
            throw new IllegalArgumentException("limits of a log must be positive");
        }
    }

    /** 64 MiB that all have; 512 MiB or a million entries while one is away; a thousand for an empty log. */
    static LogLimits defaults() {
        return new LogLimits(64 * MIB, 512 * MIB, 1_000_000, 1_000);
    }
}
