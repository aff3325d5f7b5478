// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.List;

/**
 * A part of a list. Immutable.
 *
 * @param total number of all entries of the list
 * @param rows the entries of the part, in the order of the list
 * @param last the hash of the last entry of the part; that of the request if it is empty
 * @param more whether entries follow
 * @param shortened whether entries of the part are missing because of its size
 * @param <T> type of an entry
 */
public record Slice<T>(int total, List<T> rows, long last, boolean more, boolean shortened) {

    /** Copies the list. */
    public Slice {
        rows = List.copyOf(rows);
    }

    /** The same part with what was read for its entries. */
    <R> Slice<R> with(List<R> read) {
        return new Slice<>(total, read, last, more, shortened);
    }
}
