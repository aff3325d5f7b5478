// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.RuleStatus;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class RuleCountsTest {

    private static final int MESSAGES = 200_000;

    private final RuleCounts counts = new RuleCounts();

    private void count(int message) {
        counts.received.increment();
        if (message % 5 == 0) {
            counts.noResult.increment();
        } else if (message % 5 == 1) {
            counts.loops.increment();
        } else {
            counts.matched.increment();
            (message % 3 == 0 ? counts.dead : counts.success).increment();
        }
    }

    @Test
    void accountClosesAtAnyMoment() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        Thread action = new Thread(() -> {
            for (int i = 0; i < MESSAGES; i++) {
                count(i);
            }
            done.countDown();
        });
        action.start();
        RuleStatus.Counts before = counts.snapshot(0, 0);
        while (done.getCount() > 0) {
            RuleStatus.Counts now = counts.snapshot(0, 0);
            assertThat(now.pending()).isNotNegative();
            assertThat(now.queued()).isNotNegative();
            assertThat(now.received()).isEqualTo(now.pending() + now.noResult() + now.loops() + now.matched());
            assertThat(now.matched()).isEqualTo(now.success() + now.dead() + now.dropped() + now.queued());
            assertThat(now.matched()).isGreaterThanOrEqualTo(before.matched());
            before = now;
        }
        action.join();

        RuleStatus.Counts last = counts.snapshot(0, 0);
        assertThat(last.received()).isEqualTo(MESSAGES);
        assertThat(last.pending()).isZero();
        assertThat(last.queued()).isZero();
    }

    @Test
    void whatAnActionLeavesAtItsEndStaysInTheQueueOrIsDropped() {
        counts.received.add(7);
        counts.matched.add(4);
        counts.success.increment();

        counts.left(true, false);
        counts.left(true, true);
        counts.left(false, false);
        counts.left(false, true);

        RuleStatus.Counts all = counts.snapshot(0, 0);
        assertThat(all.received()).isEqualTo(5);
        assertThat(all.matched()).isEqualTo(4);
        assertThat(all.dropped()).isEqualTo(2);
        assertThat(all.queued()).isEqualTo(1);
        assertThat(all.pending()).isEqualTo(1);
        assertThat(all.received()).isEqualTo(all.pending() + all.matched());
    }

    @Test
    void whatIsNotYetEvaluatedIsPending() {
        counts.received.add(3);
        counts.noResult.increment();

        assertThat(counts.snapshot(0, 0).pending()).isEqualTo(2);
    }

    /** The end of an action and an answer of its sink at the same time. */
    @Test
    void deliveryIsSettledOnce() {
        Delivery answered = new Delivery(null, 1, 1);
        Delivery ended = new Delivery(null, 2, 1);

        assertThat(answered.settle()).isTrue();
        assertThat(answered.abandon()).isFalse();
        assertThat(ended.settle()).isFalse();
        assertThat(ended.abandon()).isTrue();
        assertThat(ended.settle()).isFalse();
        assertThat(ended.refuse("late")).isFalse();
    }
}
