// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HomeReturnTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final HomeReturn home = new HomeReturn();
    private long now = -5 * SECOND;

    private boolean isDueAfter(long nanos, long term) {
        now += nanos;
        return home.isDue(now, term);
    }

    @Test
    void itAsksWhenItHasFollowedForSomeTime() {
        assertThat(isDueAfter(0, 3)).isFalse();
        assertThat(isDueAfter(HomeReturn.FIRST_NANOS - 1, 3)).isFalse();
        assertThat(isDueAfter(1, 3)).isTrue();
        assertThat(isDueAfter(SECOND - 1, 3)).as("asked a moment before").isFalse();
        assertThat(isDueAfter(1, 3)).isTrue();
    }

    @Test
    void anotherLeaderOrNoneBeginsTheTimeAnew() {
        isDueAfter(0, 3);
        assertThat(isDueAfter(3 * SECOND, 4)).isFalse();
        assertThat(isDueAfter(SECOND, -1)).isFalse();
        assertThat(isDueAfter(SECOND, 4)).isFalse();
        assertThat(isDueAfter(2 * SECOND, 4)).isTrue();
    }

    @Test
    void aLeaderDoesNotAsk() {
        home.leads(now);
        assertThat(isDueAfter(0, 3)).isFalse();
        assertThat(isDueAfter(10 * SECOND, 3)).isFalse();
    }

    @Test
    void aHomeThatComesAndGoesWaitsLongerEachTime() {
        long patience = HomeReturn.FIRST_NANOS;
        for (int i = 0; i < 20; i++) {
            isDueAfter(0, i);
            assertThat(isDueAfter(patience - 1, i)).isFalse();
            assertThat(isDueAfter(1, i)).isTrue();
            home.leads(now);
            now += SECOND;
            home.lost(now);
            patience = Math.min(HomeReturn.LONGEST_NANOS, 2 * patience);
        }
        assertThat(patience).isEqualTo(HomeReturn.LONGEST_NANOS);

        home.leads(now);
        now += HomeReturn.SOON_NANOS;
        home.lost(now);
        isDueAfter(0, 99);
        assertThat(isDueAfter(HomeReturn.FIRST_NANOS, 99)).isTrue();
    }
}
