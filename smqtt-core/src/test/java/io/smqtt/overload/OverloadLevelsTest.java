// SPDX-License-Identifier: Apache-2.0
package io.smqtt.overload;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.OverloadConfig;
import io.smqtt.overload.OverloadSignal.State;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OverloadLevelsTest {

    private final OverloadLevels levels = new OverloadLevels(OverloadConfig.defaults());
    private long nanos = -7;

    private int after(State state, String time) {
        Duration left = Duration.parse(time);
        int level = levels.update(state, nanos);
        while (left.toMillis() > 0) {
            nanos += Duration.ofMillis(250).toNanos();
            left = left.minusMillis(250);
            level = levels.update(state, nanos);
        }
        return level;
    }

    @Test
    void aLevelRisesAfterTwoSecondsAndTheNextAfterTwoMore() {
        assertThat(after(State.EXCEEDED, "PT1.75S")).isZero();
        assertThat(after(State.EXCEEDED, "PT0.25S")).isEqualTo(1);
        assertThat(after(State.EXCEEDED, "PT1.75S")).isEqualTo(1);
        assertThat(after(State.EXCEEDED, "PT0.25S")).isEqualTo(2);
        assertThat(after(State.EXCEEDED, "PT2S")).isEqualTo(3);
        assertThat(after(State.EXCEEDED, "PT1M")).isEqualTo(3);
    }

    @Test
    void aShortPeakChangesNothing() {
        for (int i = 0; i < 100; i++) {
            assertThat(after(State.EXCEEDED, "PT1.75S")).isZero();
            assertThat(after(State.RAISED, "PT0.5S")).isZero();
        }
    }

    @Test
    void betweenTheThresholdsTheLevelFallsSlowly() {
        assertThat(after(State.EXCEEDED, "PT4S")).isEqualTo(2);
        assertThat(after(State.RAISED, "PT29.75S")).isEqualTo(2);
        assertThat(after(State.RAISED, "PT0.25S")).isEqualTo(1);
        assertThat(after(State.RAISED, "PT29.75S")).isEqualTo(1);
        assertThat(after(State.RAISED, "PT0.25S")).isZero();
    }

    @Test
    void aPeakBetweenTheThresholdsBeginsTheTimeAnew() {
        assertThat(after(State.EXCEEDED, "PT4S")).isEqualTo(2);
        for (int i = 0; i < 10; i++) {
            assertThat(after(State.RAISED, "PT29S")).isEqualTo(2);
            assertThat(after(State.EXCEEDED, "PT0.5S")).isEqualTo(2);
        }
    }

    @Test
    void calmMustLast() {
        assertThat(after(State.EXCEEDED, "PT4S")).isEqualTo(2);
        assertThat(after(State.CALM, "PT4.75S")).isEqualTo(2);
        assertThat(after(State.RAISED, "PT0.25S")).isEqualTo(2);
        assertThat(after(State.CALM, "PT4.75S")).isEqualTo(2);
        assertThat(after(State.CALM, "PT0.25S")).isEqualTo(1);
    }

    @Test
    void itFallsStepByStep() {
        assertThat(after(State.EXCEEDED, "PT6S")).isEqualTo(3);
        assertThat(after(State.CALM, "PT5S")).isEqualTo(2);
        assertThat(after(State.CALM, "PT5S")).isEqualTo(1);
        assertThat(after(State.CALM, "PT5S")).isZero();
        assertThat(after(State.CALM, "PT1M")).isZero();
    }

    @Test
    void aPauseOfTheWholeProcessIsOneStepAtMost() {
        levels.update(State.EXCEEDED, nanos);
        nanos += Duration.ofMinutes(5).toNanos();
        assertThat(levels.update(State.EXCEEDED, nanos)).isEqualTo(1);
        assertThat(levels.update(State.CALM, nanos)).isEqualTo(1);
    }

    @Test
    void whateverHappensALevelTakesItsTime() {
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            OverloadLevels tried = new OverloadLevels(OverloadConfig.defaults());
            long now = random.nextLong();
            long changed = now;
            int before = 0;
            for (int i = 0; i < 500; i++) {
                now += Duration.ofMillis(1 + random.nextInt(700)).toNanos();
                State state = State.values()[random.nextInt(10) < 7 ? (i / 50) % 3 : random.nextInt(3)];
                int level = tried.update(state, now);
                if (level != before) {
                    Duration least = level > before ? Duration.ofSeconds(2) : Duration.ofSeconds(5);
                    assertThat(Math.abs(level - before)).as("seed %d", seed).isEqualTo(1);
                    assertThat(level).as("seed %d", seed).isBetween(0, Overload.HIGHEST);
                    assertThat(now - changed).as("seed %d", seed).isGreaterThanOrEqualTo(least.toNanos());
                    changed = now;
                }
                before = level;
            }
        }
    }
}
