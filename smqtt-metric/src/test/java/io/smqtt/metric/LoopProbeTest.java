// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LoopProbeTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final LoopProbe probe = new LoopProbe(ImmediateEventExecutor.INSTANCE, 0, registry);

    @Test
    void delaysAreCountedByTheirLength() {
        record(0);
        record(3);
        record(20);
        record(21);

        assertThat(delays().count()).isEqualTo(4);
        assertThat(within(1)).isEqualTo(1);
        assertThat(within(5)).isEqualTo(2);
        assertThat(within(20)).isEqualTo(3);
        assertThat(within(50)).isEqualTo(4);
    }

    @Test
    void aLongDelayCountsForEachSampleThatItKeptFromBeingTaken() {
        record(350);

        assertThat(delays().count()).isEqualTo(4);
        assertThat(delays().totalTime(TimeUnit.MILLISECONDS)).isEqualTo(350 + 250 + 150 + 50);
        assertThat(within(200)).isEqualTo(2);
    }

    @Test
    void aDelayOfHoursHasTheSamplesOfAMinute() {
        record(TimeUnit.HOURS.toMillis(2));

        assertThat(delays().count()).isEqualTo(600);
    }

    private void record(long millis) {
        probe.record(TimeUnit.MILLISECONDS.toNanos(millis), System.nanoTime());
    }

    private Timer delays() {
        return registry.get("smqtt.eventloop.delay").tag("loop", "0").timer();
    }

    private long within(long millis) {
        return Arrays.stream(delays().takeSnapshot().histogramCounts())
                .filter(bucket -> bucket.bucket(TimeUnit.MILLISECONDS) == millis)
                .mapToLong(bucket -> (long) bucket.count())
                .sum();
    }
}
