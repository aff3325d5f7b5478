// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.ManualTicker;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Checks of a node that many clients ask for. */
class RecentReadinessTest {

    @Test
    void anAnswerIsUsedForATenthOfASecond() {
        ManualTicker ticker = new ManualTicker();
        AtomicBoolean ready = new AtomicBoolean(true);
        AtomicInteger asked = new AtomicInteger();
        RecentReadiness readiness = new RecentReadiness(
                () -> {
                    asked.incrementAndGet();
                    return ready.get();
                },
                ticker);

        assertThat(readiness.getAsBoolean()).isTrue();
        ready.set(false);
        ticker.advance(Duration.ofMillis(99));
        assertThat(readiness.getAsBoolean()).isTrue();
        assertThat(asked).hasValue(1);

        ticker.advance(Duration.ofMillis(1));
        assertThat(readiness.getAsBoolean()).isFalse();
        assertThat(asked).hasValue(2);
    }
}
