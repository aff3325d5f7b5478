// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HistoryTest {

    private static final long START = 1_000_000_000_000L;

    private final History history = new History();
    private long now = START;

    private void add(int samples) {
        for (int i = 0; i < samples; i++) {
            now += 10_000;
            float[] sample = new float[Series.values().length];
            sample[Series.RECEIVED.ordinal()] = 7;
            sample[Series.ONLINE.ordinal()] = i % 6;
            sample[Series.CPU.ordinal()] = 0.25f;
            history.add(now, sample);
        }
    }

    @Test
    void theFinestSamplesThatCoverTheTimeAreRead() {
        add(6 * 60 * 24 * 8); // eight days

        assertThat(history.latest(now, 60)).hasSize(6);
        assertThat(history.latest(now, 3_600)).hasSize(360);
        assertThat(history.latest(now, 7_200)).hasSize(120);
        assertThat(history.latest(now, 86_400)).hasSize(1_440);
        assertThat(history.latest(now, 7 * 86_400)).hasSize(1_008);
    }

    @Test
    void countsAreAddedAndTheGreatestOfTheOthersIsKept() {
        add(60);

        Map<String, Object> minute = history.latest(now, 86_400).get(9);
        assertThat(minute)
                .containsEntry("time_stamp", now)
                .containsEntry("interval", 60)
                .containsEntry("received", 42L)
                .containsEntry("live_connections", 5L)
                .containsEntry("cpu", 0.25);
        assertThat(history.latest(now, 7 * 86_400))
                .singleElement()
                .satisfies(sample -> assertThat(sample).containsEntry("received", 420L));
    }

    @Test
    void samplesAreInOrder() {
        add(500); // more than the finest ring holds

        List<Object> times = history.latest(now, 3_600).stream()
                .map(one -> one.get("time_stamp"))
                .toList();
        assertThat(times).hasSize(360).isSorted().endsWith(now);
    }

    @Test
    void aPauseLeavesOldSamplesOut() {
        add(360);

        assertThat(history.latest(now + 3_600_000, 3_600)).isEmpty();
    }

    @Test
    void aBrokerWithoutSamplesHasNone() {
        assertThat(history.latest(START, 60)).isEmpty();
    }
}
