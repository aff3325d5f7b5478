// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.session.QueueBudget;
import org.junit.jupiter.api.Test;

/** How long publishers are slowed for the queue of one peer. */
class PeerPressureTest {

    private final QueueBudget budget = new QueueBudget(Long.MAX_VALUE);
    private final PeerPressure pressure = new PeerPressure(budget);

    private void ticks(int count, boolean isQuarterFull) {
        for (int i = 0; i < count; i++) {
            pressure.tick(isQuarterFull);
        }
    }

    @Test
    void aPeerThatReceivesQuicklySlowsPublishersUntilAQuarterIsLeft() {
        pressure.adjust(true, true, true);
        assertThat(budget.isExceeded()).isTrue();
        pressure.adjust(true, false, true);
        assertThat(budget.isExceeded()).isTrue();
        pressure.adjust(true, false, false);
        assertThat(budget.isExceeded()).isFalse();
        assertThat(pressure.isSlow()).isFalse();
    }

    @Test
    void aSlowPeerSlowsNobodyBeforeItHasBeenQuickForAWhile() {
        pressure.adjust(true, true, true);
        ticks(PeerPressure.LONGEST_TICKS, true);
        assertThat(budget.isExceeded()).isFalse();
        assertThat(pressure.isSlow()).isTrue();

        ticks(PeerPressure.CALM_TICKS - 1, false);
        pressure.adjust(true, true, true);
        assertThat(budget.isExceeded()).isFalse();
        ticks(1, true);
        ticks(PeerPressure.CALM_TICKS - 1, false);
        assertThat(pressure.isSlow()).isTrue();
        ticks(1, false);
        assertThat(pressure.isSlow()).isFalse();
        pressure.adjust(true, true, true);
        assertThat(budget.isExceeded()).isTrue();
    }

    @Test
    void aPeerThatIsKnownToTakeLittleSlowsNobodyAtAll() {
        ticks(PeerPressure.LONGEST_TICKS + 1, true);
        pressure.accepted(0.2);
        pressure.adjust(true, true, true);
        assertThat(budget.isExceeded()).isFalse();
        assertThat(pressure.isSlow()).isTrue();
    }

    @Test
    void aPeerThatTakesMuchSlowsPublishersForAWhileEvenIfItsQueueGrowsSlowly() {
        for (int i = 0; i <= PeerPressure.LONGEST_TICKS; i++) {
            pressure.tick(true);
            pressure.accepted(0.1);
        }
        pressure.adjust(true, true, true);
        assertThat(budget.isExceeded()).isTrue();
        assertThat(pressure.isSlow()).isFalse();
    }

    @Test
    void whatAPeerTookLongAgoDoesNotCount() {
        pressure.accepted(10);
        ticks(PeerPressure.LONGEST_TICKS + 1, true);
        pressure.adjust(true, true, true);
        assertThat(pressure.isSlow()).isTrue();
    }

    @Test
    void aBurstSlowsPublishersBeforeItIsKnownHowMuchThePeerTakes() {
        ticks(PeerPressure.LONGEST_TICKS, true);
        pressure.adjust(true, true, true);
        assertThat(budget.isExceeded()).isTrue();
    }

    @Test
    void aPeerThatIsGoneSlowsNobody() {
        pressure.adjust(true, true, true);
        pressure.adjust(false, true, true);
        assertThat(budget.isExceeded()).isFalse();
    }
}
