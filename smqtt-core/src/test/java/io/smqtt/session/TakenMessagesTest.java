// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TakenMessagesTest {

    private final TakenMessages taken = new TakenMessages();

    @Test
    void allSessionsThatHaveTakenAMessageAreKnown() {
        long[] keys = new long[1_000];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = TakenMessages.newKey();
            taken.took(keys[i], 77);
        }

        for (long key : keys) {
            assertThat(taken.knows(key, 77)).isTrue();
        }
        assertThat(taken.knows(TakenMessages.newKey(), 77)).isFalse();
        assertThat(taken.knows(keys[0], 78)).isFalse();
    }

    @Test
    void theLastMessagesOfASessionAreKnown() { // their identifiers follow each other
        long key = TakenMessages.newKey();
        int count = 4 * TakenMessages.CAPACITY;
        for (int id = 1; id <= count; id++) {
            taken.took(key, id);
        }

        for (int id = count - TakenMessages.CAPACITY / 16; id <= count; id++) {
            assertThat(taken.knows(key, id)).isTrue();
        }
        assertThat(taken.knows(key, 1)).isFalse();
    }

    @Test
    void noTwoSessionsHaveTheSameKey() {
        Set<Long> keys = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            assertThat(keys.add(TakenMessages.newKey())).isTrue();
        }
    }
}
