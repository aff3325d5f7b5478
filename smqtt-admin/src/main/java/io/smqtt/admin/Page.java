// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The first entries of a list, and the number of all. Immutable.
 *
 * @param total number of all entries
 * @param shown the first entries
 * @param truncated whether requested entries are missing because the answer would be too long
 * @param <T> type of an entry
 */
public record Page<T>(int total, List<T> shown, boolean truncated) {

    /** Copies the list. */
    public Page {
        shown = List.copyOf(shown);
    }

    /**
     * Collects a page and keeps only the shown entries. For one thread.
     *
     * @param <S> type of the source of an entry
     * @param <T> type of an entry
     */
    public static final class Builder<S, T> {

        private final int limit;
        private final Function<? super S, ? extends T> shape;
        private final ToLongFunction<? super T> size;
        private final List<T> shown = new ArrayList<>();
        private long room;
        private int total;
        private boolean truncated;

        /**
         * Creates an empty page.
         *
         * @param limit maximum number of shown entries
         * @param maxBytes maximum size of the shown entries
         * @param shape makes an entry; called for shown entries only
         * @param size returns the size of an entry in bytes
         */
        public Builder(
                int limit, long maxBytes, Function<? super S, ? extends T> shape, ToLongFunction<? super T> size) {
            this.limit = limit;
            this.shape = shape;
            this.size = size;
            room = maxBytes;
        }

        /**
         * Counts an entry, and shows it if it fits.
         *
         * @param one the source of the entry
         */
        public void add(S one) {
            total++;
            if (truncated || shown.size() == limit) {
                return;
            }
            T entry = shape.apply(one);
            room -= size.applyAsLong(entry);
            truncated = room < 0;
            if (!truncated) {
                shown.add(entry);
            }
        }

        /**
         * Returns the page.
         *
         * @return the entries so far
         */
        public Page<T> build() {
            return new Page<>(total, shown, truncated);
        }
    }
}
