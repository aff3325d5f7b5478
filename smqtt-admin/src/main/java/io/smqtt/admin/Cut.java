// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

/**
 * The part of a list that is requested. Lists are ordered by a hash of their entries, which is the same as long as the node runs.
 *
 * @param after the hash of the last entry before the part; {@link #START} for the beginning
 * @param skip number of further entries to leave out
 * @param limit maximum number of entries, 0 to {@link BrokerView#MAX_ENTRIES}
 */
public record Cut(long after, int skip, int limit) {

    /** Before all entries. */
    public static final long START = Long.MIN_VALUE;
}
