// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.StoreWriter;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TakenNotesTest {

    /** What the store has. */
    private final Map<String, byte[]> stored = new LinkedHashMap<>();

    /** Flushes that are not committed, oldest first. */
    private final ArrayDeque<Flush> flushes = new ArrayDeque<>();

    private final Map<String, byte[]> written = new LinkedHashMap<>();
    private final StoreWriter writer = (StoreWriter) Proxy.newProxyInstance(
            StoreWriter.class.getClassLoader(), new Class<?>[] {StoreWriter.class}, (proxy, method, arguments) -> {
                assertThat(method.getName()).isEqualTo("putNote");
                written.put((String) arguments[0], (byte[]) arguments[1]);
                return null;
            });
    private TakenNotes notes = new TakenBefore().open(1).get(0);

    private record Flush(Map<String, byte[]> notes, StoreWaiter waiter) {}

    private void flush(long... deliveries) {
        LongStream.of(deliveries).forEach(notes::took);
        StoreWaiter waiter = Objects.requireNonNull(notes.write(writer));
        flushes.add(new Flush(Map.copyOf(written), waiter));
        written.clear();
    }

    private void commit(boolean kept) {
        Flush oldest = flushes.remove();
        if (kept) {
            stored.putAll(oldest.notes);
        }
        assertThat(oldest.waiter.completed(kept)).isFalse();
    }

    /** Reads the notes as the next start does, in the order of the store. */
    private TakenBefore restart() {
        TakenBefore before = new TakenBefore();
        stored.forEach((name, note) -> assertThat(before.found(name, note)).isTrue());
        notes = before.open(1).get(0);
        return before;
    }

    @Test
    void withoutDeliveriesNothingIsWritten() {
        assertThat(notes.write(writer)).isNull();
        assertThat(written).isEmpty();
    }

    @Test
    void aNoteIsExtendedUntilItHasAFew() {
        for (int i = 1; i <= 3 * TakenNotes.FEW; i++) {
            flush(i);
            commit(true);
        }

        assertThat(stored).hasSize(3);
        TakenBefore before = restart();
        assertThat(LongStream.rangeClosed(1, 3 * TakenNotes.FEW)).allMatch(before::knows);
        assertThat(before.knows(0)).isFalse();
        assertThat(before.knows(3 * TakenNotes.FEW + 1)).isFalse();
    }

    @Test
    void whatIsNotCommittedIsNotInAnotherNote() {
        flush(1);
        commit(true);
        flush(2);
        flush(3);
        commit(false);
        commit(true);
        flush(4);
        flush(5);
        commit(true);
        commit(true);

        TakenBefore before = restart();
        assertThat(List.of(1L, 3L, 4L, 5L)).allMatch(before::knows);
        assertThat(before.knows(2)).isFalse();
        assertThat(stored).hasSize(2);
    }

    @Test
    void theOldestNotesAreReplacedAlsoAfterARestart() {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < TakenNotes.NOTES; i++) {
                long first = (long) (round * TakenNotes.NOTES + i) * TakenNotes.FEW;
                flush(LongStream.range(first, first + TakenNotes.FEW).toArray());
                commit(true);
            }
            restart();
        }

        assertThat(stored).hasSize(TakenNotes.NOTES);
        TakenBefore before = restart();
        long end = 3L * TakenNotes.NOTES * TakenNotes.FEW;
        long begin = end - (long) TakenNotes.NOTES * TakenNotes.FEW;
        assertThat(LongStream.range(begin, end)).allMatch(before::knows);
        assertThat(before.knows(begin - 1)).isFalse();
    }

    @Test
    void notesOfLoopsThatNoLongerExistAreReplacedInTime() {
        for (int loop = 0; loop < 3; loop++) {
            stored.put("taken/" + loop + "/0", note(loop + 1, 100L * loop, TakenNotes.FEW));
        }

        TakenBefore before = restart();
        assertThat(List.of(0L, 100L, 200L)).allMatch(before::knows);
        for (int i = 0; i < TakenNotes.NOTES; i++) {
            flush(LongStream.range(1_000L + i * TakenNotes.FEW, 1_000L + (i + 1) * TakenNotes.FEW)
                    .toArray());
            commit(true);
        }

        assertThat(stored).hasSize(TakenNotes.NOTES).containsKeys("taken/1/0", "taken/2/0");
        before = restart();
        assertThat(List.of(0L, 100L, 200L)).noneMatch(before::knows);
        assertThat(before.knows(1_000)).isTrue();
    }

    private static byte[] note(long age, long first, int count) {
        ByteBuffer content = ByteBuffer.allocate((1 + count) * Long.BYTES).putLong(age);
        LongStream.range(first, first + count).forEach(content::putLong);
        return content.array();
    }

    @Test
    void deliveriesAreBounded() {
        int size = TakenNotes.CAPACITY / 4;
        for (int i = 0; i < 20; i++) {
            flush(LongStream.range((long) i * size, (long) (i + 1) * size).toArray());
            commit(true);
        }

        assertThat(stored.values().stream().mapToLong(note -> note.length).sum())
                .isLessThanOrEqualTo(8L * (TakenNotes.CAPACITY + 5));
        assertThat(LongStream.range(16L * size, 20L * size)).allMatch(restart()::knows);
        flush(-1);
        commit(true);
        assertThat(restart().knows(-1)).isTrue();
    }

    @Test
    void notesOfOtherPartsAndDamagedOnesAreNotUsed() {
        TakenBefore before = new TakenBefore();

        assertThat(before.found("horizon", new byte[16])).isFalse();
        assertThat(before.found("taken/0/1", new byte[15])).isTrue();
        assertThat(before.open(1)).hasSize(1);
        assertThat(before.isEmpty()).isTrue();
    }
}
