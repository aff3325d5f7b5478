// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Selects a {@link Cut} of entries that are offered in any order, and keeps no others. The order is that of a hash with a seed of this
 * process, so that no client can choose its place. For one thread.
 *
 * @param <T> type of an entry
 */
final class Selection<T> {

    private static final long SEED = ThreadLocalRandom.current().nextLong();
    private static final long PRIME = 0x100000001b3L;

    private final Cut cut;
    private final int most;
    private final PriorityQueue<Entry<T>> kept = new PriorityQueue<>(Comparator.reverseOrder()); // the last one first
    private int total;
    private int following;

    Selection(Cut cut) {
        this.cut = cut;
        most = cut.skip() + cut.limit();
    }

    /**
     * An entry with its place.
     *
     * @param hash the place
     * @param item the entry
     * @param <T> type of the entry
     */
    private record Entry<T>(long hash, T item) implements Comparable<Entry<T>> {

        @Override
        public int compareTo(Entry<T> other) {
            return Long.compare(hash, other.hash);
        }
    }

    /** The place of an entry with up to three texts. */
    static long hash(String first, @Nullable String second, @Nullable String third) {
        long hash = mix(mix(mix(SEED, first), second), third);
        hash = (hash ^ (hash >>> 32)) * 0xd6e8feb86659fd93L;
        hash ^= hash >>> 32;
        return hash == Cut.START ? 0 : hash;
    }

    private static long mix(long start, @Nullable String text) {
        long hash = start;
        for (int i = 0; text != null && i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * PRIME;
        }
        return (hash ^ 0xffff) * PRIME;
    }

    /** Offers the next entry. */
    void add(long hash, T item) {
        total++;
        if (hash <= cut.after()) {
            return;
        }
        following++;
        if (kept.size() < most) {
            kept.add(new Entry<>(hash, item));
        } else if (most > 0 && hash < kept.element().hash) {
            kept.remove();
            kept.add(new Entry<>(hash, item));
        }
    }

    /** Returns the part of the list. */
    Slice<T> build() {
        List<Entry<T>> sorted = new ArrayList<>(kept);
        sorted.sort(Comparator.naturalOrder());
        List<Entry<T>> rows = sorted.subList(Math.min(cut.skip(), sorted.size()), sorted.size());
        long last = rows.isEmpty() ? cut.after() : rows.get(rows.size() - 1).hash;
        return new Slice<>(total, rows.stream().map(Entry::item).toList(), last, following > most);
    }
}
