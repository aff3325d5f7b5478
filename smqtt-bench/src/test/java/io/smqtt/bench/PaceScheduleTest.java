// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

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
    void clockThatStandsStillMovesNoDueTime() {
        // Seen at 0 s and then only at 1 s: 100 messages are due by then, each at its own time.
        PaceSchedule schedule = new PaceSchedule(0, 100, 1);
        long clock = 1_000_000_000L;
        int sent = 0;
        while (schedule.dueNanos(0, sent) < clock) {
            assertThat(clock - schedule.dueNanos(0, sent)).isEqualTo(clock - sent * 10_000_000L);
            sent++;
        }
        assertThat(sent).isEqualTo(100);
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
