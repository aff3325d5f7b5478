// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The first of many entries, and how many there are. Immutable.
 *
 * @param total how many there are
 * @param shown the first of them
 * @param truncated whether some that were asked for are missing because the answer would be too long
 * @param <T> one entry
 */
public record Page<T>(int total, List<T> shown, boolean truncated) {

    /** Copies the list. */
    public Page {
        shown = List.copyOf(shown);
    }

    /**
     * Collects a page and keeps no more than it shows. For one thread.
     *
     * @param <S> what is added
     * @param <T> one entry of the page
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
         * @param limit how many entries it shows at most
         * @param maxBytes how many bytes these have together at most
         * @param shape makes an entry; called for those that are shown
         * @param size the bytes of an entry
         */
        public Builder(
                int limit, long maxBytes, Function<? super S, ? extends T> shape, ToLongFunction<? super T> size) {
            this.limit = limit;
            this.shape = shape;
            this.size = size;
            room = maxBytes;
        }

        /**
         * Counts one, and shows it while there is room.
         *
         * @param one what there is
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
         * Ends the page.
         *
         * @return what was added
         */
        public Page<T> build() {
            return new Page<>(total, shown, truncated);
        }
    }
}
