// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.routing.RouteTicket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HeldPublishersTest {

    private static final LimitsConfig LIMITS = InProcess.limits(LimitsConfig.defaults(), 10, 10_000);

    private final AtomicInteger mostAtOnce = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();
    private final ScheduledThreadPoolExecutor loop = new ScheduledThreadPoolExecutor(1) {
        @Override
        protected void afterExecute(Runnable task, Throwable failure) {
            mostAtOnce.accumulateAndGet(atOnce.getAndSet(0), Math::max);
        }
    };
    private final QueueBudget budget = new QueueBudget(1 << 20);
    private final ConsumerPressure pressure = new ConsumerPressure("c", LIMITS, loop, budget);
    private final List<Integer> released = new ArrayList<>();

    @AfterEach
    void stop() {
        loop.shutdownNow();
    }

    private final class Ticket implements RouteTicket {
        private final int number;
        private final boolean ofApplication;
        private final CountDownLatch all;

        Ticket(int number, boolean ofApplication, CountDownLatch all) {
            this.number = number;
            this.ofApplication = ofApplication;
            this.all = all;
        }

        @Override
        public void hold() {
            // is not counted
        }

        @Override
        public void release(boolean success) {
            released.add(number);
            atOnce.incrementAndGet();
            all.countDown();
        }

        @Override
        public boolean isOfApplication() {
            return ofApplication;
        }
    }

    @Test
    void publishesOfThisProcessGoOnAFewAtATime() throws Exception {
        int count = 5_000;
        pressure.set("c", LIMITS, true, Duration.ofMillis(1_500));
        CountDownLatch all = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            pressure.hold(new Ticket(-1, false, all), 1);
        }
        for (int i = 0; i < count; i++) {
            pressure.hold(new Ticket(i, true, all), 1);
        }
        assertThat(all.await(30, TimeUnit.SECONDS)).isTrue();
        loop.submit(() -> {}).get();
        assertThat(released).doesNotContain(-1).isSorted();
        assertThat(mostAtOnce).hasPositiveValue().hasValueLessThan(1_000);
        assertThat(budget.held()).isEqualTo(count);
    }

    @Test
    void whoHasWaitedLongestGoesFirst() {
        CountDownLatch all = new CountDownLatch(20);
        pressure.set("c", LIMITS, true, Duration.ofHours(1));
        for (int i = 0; i < 20; i++) {
            pressure.hold(new Ticket(i, i % 3 == 0, all), 1);
        }
        pressure.left(25, 25);
        assertThat(released).containsExactly(0, 1, 2, 3, 4);
        pressure.releaseAll();
        assertThat(released).hasSize(20).isSorted();
        assertThat(budget.held()).isZero();
    }
}
