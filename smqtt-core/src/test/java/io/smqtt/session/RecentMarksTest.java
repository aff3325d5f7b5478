// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RecentMarksTest {

    private final RecentMarks marks = new RecentMarks();

    private static ApplicationMessage message() {
        return ApplicationMessage.builder("t").payload("x").build();
    }

    @Test
    void allSessionsThatHaveTakenAMessageAreKnownWhenItGetsItsMarkAfterwards() {
        ApplicationMessage message = message();
        long[] keys = new long[1_000];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = RecentMarks.newKey();
            marks.took(keys[i], message);
        }
        message.mark(77);
        marks.settle();

        for (long key : keys) {
            assertThat(marks.knows(key, 77)).isTrue();
        }
        assertThat(marks.knows(RecentMarks.newKey(), 77)).isFalse();
        assertThat(marks.knows(keys[0], 78)).isFalse();
    }

    @Test
    void theNextMessageSettlesTheOneBefore() {
        ApplicationMessage message = message();
        long key = RecentMarks.newKey();
        marks.took(key, message);
        message.mark(77);
        marks.took(key, message());

        assertThat(marks.knows(key, 77)).isTrue();
    }

    @Test
    void noTwoSessionsHaveTheSameKey() {
        Set<Long> keys = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            assertThat(keys.add(RecentMarks.newKey())).isTrue();
        }
    }
}
