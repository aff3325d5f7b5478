// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Removals that are made good when the disk is well again. */
class PendingRemovalsTest {

    @TempDir
    Path directory;

    private final PendingRemovals pendingRemovals = new PendingRemovals();
    private DirectStore direct;

    @BeforeEach
    void open() throws Exception {
        direct = new DirectStore(directory.resolve("db"), StoreSettings.defaults());
    }

    @AfterEach
    void close() {
        direct.close();
    }

    private void fail(Consumer<DirectStore.Flush> content) {
        pendingRemovals.add(direct.flush(content));
    }

    private List<String> removals() {
        List<String> removals = new ArrayList<>();
        pendingRemovals.forEach((kind, session, number) -> removals.add(kind + " " + session + " " + number));
        return removals;
    }

    @Test
    void whatIsTriedAgainAndAgainIsOwedOnce() {
        for (int i = 0; i < 3; i++) {
            fail(flush -> {
                flush.remove(1, 8);
                flush.remove(1, 7);
                flush.remove(2, 7);
                flush.released(1, 7);
            });
        }

        assertThat(removals())
                .containsExactlyInAnyOrder(
                        "REMOVE_MESSAGE 1 7", "REMOVE_MESSAGE 1 8", "REMOVE_MESSAGE 2 7", "REMOVE_RECEIVED 1 7");
        pendingRemovals.clear();
        assertThat(removals()).isEmpty();
    }

    /** Without a row it would have the number of an earlier message, which subscribers may have taken. */
    @Test
    void aReleasedIdentifierThatGetsANumberIsNotLeftWithoutOne() {
        fail(flush -> {
            flush.released(1, 7, 40);
            flush.released(1, 9);
            flush.released(1, 0, 41); // the number from which others are derived: the former one stays
        });

        assertThat(removals()).containsExactlyInAnyOrder("PUT_RELEASED 1 7", "REMOVE_RECEIVED 1 9");
        pendingRemovals.clear();
        assertThat(removals()).isEmpty();
    }

    @Test
    void removalsInAnyOrderAreAllOwed() {
        Random random = new Random(1);
        Set<String> expected = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            long session = random.nextInt(3);
            long number = random.nextInt(3_000);
            expected.add("REMOVE_MESSAGE " + session + " " + number);
            fail(flush -> flush.remove(session, number));
        }

        assertThat(removals()).hasSameSizeAs(expected).hasSameElementsAs(expected);
    }

    @Test
    void moreThanAMillionAreOwed() {
        int count = PendingRemovals.MOST_RANGES + 100_000;
        fail(flush -> {
            for (int i = 1; i <= count; i++) {
                flush.remove(i % 100, i / 100);
            }
        });
        fail(flush -> flush.remove(100, 1));

        long[] counted = new long[1];
        pendingRemovals.forEach((kind, session, number) -> counted[0]++);
        assertThat(counted[0]).isEqualTo(count + 1);
    }
}
