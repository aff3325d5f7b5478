// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PaceScheduleTest {

    @Test
    void publishersTakeTurnsAtEvenDistances() {
        PaceSchedule schedule = new PaceSchedule(5_000, 1_000, 4);
        TreeSet<Long> due = new TreeSet<>();
        for (int publisher = 0; publisher < 4; publisher++) {
            for (int sequence = 0; sequence < 3; sequence++) {
                due.add(schedule.dueNanos(publisher, sequence));
            }
        }
        long expected = 5_000;
        for (long nanos : due) {
            assertThat(nanos).isEqualTo(expected);
            expected += 1_000_000;
        }
        assertThat(due).hasSize(12);
    }

    @Test
    void scheduleDoesNotDrift() {
        PaceSchedule schedule = new PaceSchedule(0, 3, 7);

        assertThat(schedule.dueNanos(0, 3L * 3600)).isEqualTo(7 * 3_600_000_000_000L);
    }

    @Test
    void lateMessagesKeepTheirDueTimes() {
        // A clock that stops for a second: what was due meanwhile is due still, none is skipped or moved.
        PaceSchedule schedule = new PaceSchedule(0, 100, 1);

        assertThat(schedule.dueBefore(0, 1_000_000_000L)).isEqualTo(100);
        assertThat(schedule.dueNanos(0, 50)).isEqualTo(500_000_000L);
    }

    @Test
    void messagesDueBeforeATimeAreThoseWithASmallerDueTime() {
        PaceSchedule schedule = new PaceSchedule(17, 777, 3);
        for (int publisher = 0; publisher < 3; publisher++) {
            for (long nanos = 0; nanos < 50_000_000; nanos += 777_777) {
                long count = schedule.dueBefore(publisher, nanos);
                assertThat(schedule.dueNanos(publisher, count)).isGreaterThanOrEqualTo(nanos);
                assertThat(count == 0 || schedule.dueNanos(publisher, count - 1) < nanos)
                        .isTrue();
            }
        }
    }

    @Test
    void limitOfAllIsSharedAsTurnsAreTaken() {
        LoadSettings settings = Results.settings(0, 10);

        assertThat(settings.limitOf(0, 4) + settings.limitOf(1, 4) + settings.limitOf(2, 4) + settings.limitOf(3, 4))
                .isEqualTo(10);
        assertThat(settings.limitOf(0, 4)).isEqualTo(3);
        assertThat(settings.limitOf(3, 4)).isEqualTo(2);
    }
}
