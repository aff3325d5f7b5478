// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeadlineWheelTest {

    private long nanos = -5_000_000_000L; // a monotonic clock may be negative
    private final DeadlineWheel wheel = new DeadlineWheel(() -> nanos);
    private final List<String> happened = new ArrayList<>();

    private class Named extends Deadline {
        private final String name;
        Runnable then = () -> {};
        int times;

        Named(String name) {
            this.name = name;
        }

        @Override
        protected void expired() {
            times++;
            happened.add(name);
            then.run();
        }
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
        wheel.advance();
    }

    @Test
    void neverExpiresEarlyAndAtMostTwoTicksLate() {
        Random random = new Random(11);
        for (int i = 0; i < 200; i++) {
            nanos += random.nextInt(100_000_000);
            Named deadline = new Named("d" + i);
            long delayMillis = random.nextInt(300_000);
            wheel.arm(deadline, delayMillis);
            long armed = nanos;
            while (deadline.times == 0) {
                pass(Duration.ofMillis(10));
            }
            assertThat(nanos - armed)
                    .isBetween(delayMillis * 1_000_000, (delayMillis + 2 * DeadlineWheel.TICK_MILLIS) * 1_000_000L);
        }
    }

    @Test
    void expiresEverythingDueAfterALongPauseAndNothingElse() {
        Named soon = new Named("soon");
        Named later = new Named("later");
        Named muchLater = new Named("much later");
        wheel.arm(soon, 50);
        wheel.arm(later, Duration.ofMinutes(5).toMillis());
        wheel.arm(muchLater, Duration.ofDays(2).toMillis());

        pass(Duration.ofHours(10));

        assertThat(happened).containsExactlyInAnyOrder("soon", "later");
        assertThat(muchLater.isArmed()).isTrue();
        pass(Duration.ofHours(39));
        assertThat(happened).contains("much later");
    }

    @Test
    void mayBeArmedAgainFromWithin() {
        Named recurring = new Named("again");
        recurring.then = () -> wheel.arm(recurring, 0);
        wheel.arm(recurring, 0);

        for (int i = 0; i < 50; i++) {
            pass(Duration.ofMillis(DeadlineWheel.TICK_MILLIS));
        }

        assertThat(recurring.times).isBetween(48, 50);
        assertThat(recurring.isArmed()).isTrue();
    }

    @Test
    void mayCancelItsNeighboursFromWithin() {
        List<Named> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Named deadline = new Named("d" + i);
            all.add(deadline);
            wheel.arm(deadline, 100);
        }
        for (Named deadline : all) {
            deadline.then =
                    () -> all.stream().filter(other -> other != deadline).forEach(Deadline::cancel);
        }

        pass(Duration.ofSeconds(1));

        assertThat(happened).hasSize(1);
        assertThat(all).noneMatch(Deadline::isArmed);
    }

    @Test
    void armingAnewPutsOffAndCancellingTakesAway() {
        Named deadline = new Named("d");
        wheel.arm(deadline, 1_000);
        pass(Duration.ofMillis(900));
        wheel.arm(deadline, 1_000);
        pass(Duration.ofMillis(900));
        assertThat(happened).isEmpty();

        deadline.cancel();
        deadline.cancel();
        pass(Duration.ofDays(1));

        assertThat(happened).isEmpty();
    }

    @Test
    void aFailingDeadlineStopsNoOther() {
        Named failing = new Named("failing");
        failing.then = () -> {
            throw new IllegalStateException("on purpose");
        };
        wheel.arm(new Named("first"), 100);
        wheel.arm(failing, 100);
        wheel.arm(new Named("last"), 100);

        pass(Duration.ofSeconds(1));

        assertThat(happened).containsExactlyInAnyOrder("first", "failing", "last");
    }

    @Test
    void keepsItsEntriesUnderRandomUse() {
        Random random = new Random(5);
        List<Named> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            all.add(new Named("d" + i));
        }
        for (int step = 0; step < 20_000; step++) {
            Named deadline = all.get(random.nextInt(all.size()));
            if (random.nextInt(3) == 0) {
                deadline.cancel();
                assertThat(deadline.isArmed()).isFalse();
            } else {
                wheel.arm(deadline, random.nextInt(200_000));
            }
            pass(Duration.ofMillis(random.nextInt(30)));
        }
        pass(Duration.ofDays(1));
        assertThat(all).noneMatch(Deadline::isArmed);
    }
}
