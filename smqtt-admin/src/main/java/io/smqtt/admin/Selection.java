// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Selects a {@link Cut} of entries that are offered in any order, and keeps no others, nor more than {@link ListRoom} has. The order is that of a hash with a seed of this
 * process, so that no client can choose its place. For one thread.
 *
 * @param <T> type of an entry
 */
final class Selection<T> {

    private static final long SEED = ThreadLocalRandom.current().nextLong();
    private static final long PRIME = 0x100000001b3L;

    private final Cut cut;
    private final ToLongFunction<? super T> bytes;
    private final int most;
    private final PriorityQueue<Entry<T>> kept = new PriorityQueue<>(Comparator.reverseOrder()); // the last one first
    private int total;
    private int following;

    Selection(Cut cut, ToLongFunction<? super T> bytes) {
        this.cut = cut;
        this.bytes = bytes;
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

    /** Returns the part of the list, as far as it has room in an answer. */
    Slice<T> build() {
        List<Entry<T>> sorted = new ArrayList<>(kept);
        sorted.sort(Comparator.naturalOrder());
        List<Entry<T>> asked = sorted.subList(Math.min(cut.skip(), sorted.size()), sorted.size());
        List<Entry<T>> rows = asked.subList(0, ListRoom.fitting(asked, entry -> bytes.applyAsLong(entry.item)));
        boolean shortened = rows.size() < asked.size();
        long last = rows.isEmpty() ? cut.after() : rows.get(rows.size() - 1).hash;
        return new Slice<>(
                total, rows.stream().map(Entry::item).toList(), last, following > most || shortened, shortened);
    }
}
