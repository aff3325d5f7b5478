// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.metric.Alarms.Condition;
import io.smqtt.spi.Alarm;
import io.smqtt.spi.Alarm.Severity;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AlarmsTest {

    private static final Condition LOW = new Condition(Severity.WARNING, "low");
    private static final Map<String, Condition> NONE = Map.of();

    private final Alarms alarms = new Alarms();
    private Instant now = Instant.parse("2026-11-23T10:00:00Z");
    private long nanos = -5;

    private Alarms.Change after(Duration time, Map<String, Condition> conditions) {
        now = now.plus(time);
        nanos += time.toNanos();
        return alarms.update(conditions, now, nanos);
    }

    @Test
    void anAlarmBeginsWithItsConditionAndEndsAfterCalm() {
        Instant begin = now.plusSeconds(5);
        assertThat(after(Duration.ofSeconds(5), Map.of("disk_low", LOW)).changed())
                .containsExactly(new Alarm("disk_low", Severity.WARNING, "low", begin, null));
        Condition lower = new Condition(Severity.WARNING, "lower");
        assertThat(after(Duration.ofSeconds(5), Map.of("disk_low", lower)).changed())
                .isEmpty();
        assertThat(alarms.snapshot()).containsExactly(new Alarm("disk_low", Severity.WARNING, "lower", begin, null));

        assertThat(after(Alarms.CALM.minusNanos(1), NONE).changed()).isEmpty();
        assertThat(after(Duration.ofSeconds(1), Map.of("disk_low", LOW)).changed())
                .isEmpty(); // the same alarm
        List<Alarm> ended = after(Alarms.CALM, NONE).changed();

        assertThat(ended).containsExactly(new Alarm("disk_low", Severity.WARNING, "low", begin, now));
        assertThat(alarms.snapshot()).isEqualTo(ended);
        assertThat(after(Duration.ofHours(1), NONE).changed()).isEmpty();
    }

    @Test
    void lastingAlarmsComeFirstAndTheNewestOfEachKind() {
        after(Duration.ofSeconds(1), Map.of("a", LOW));
        after(Alarms.CALM, Map.of("b", LOW));
        after(Duration.ofSeconds(1), Map.of("b", LOW, "c", LOW));

        assertThat(alarms.snapshot()).extracting(Alarm::name).containsExactly("c", "b", "a");
        assertThat(alarms.snapshot()).extracting(Alarm::isActive).containsExactly(true, true, false);
    }

    @Test
    void onlyTheLatestEndedOnesAreRemembered() {
        after(Duration.ZERO, Map.of("first", LOW));
        after(Alarms.CALM, NONE);
        for (int i = 0; i < Alarms.MOST_ENDED - 1; i++) {
            after(Duration.ZERO, Map.of("again", LOW));
            assertThat(after(Alarms.CALM, NONE).forgotten()).isEmpty();
        }
        assertThat(alarms.snapshot()).hasSize(Alarms.MOST_ENDED);

        after(Duration.ZERO, Map.of("again", LOW));
        assertThat(after(Alarms.CALM, NONE).forgotten()).containsExactly("first");
        after(Duration.ZERO, Map.of("again", LOW));
        assertThat(after(Alarms.CALM, NONE).forgotten()).isEmpty(); // another one of this name is remembered
        assertThat(alarms.snapshot()).hasSize(Alarms.MOST_ENDED);
    }
}
