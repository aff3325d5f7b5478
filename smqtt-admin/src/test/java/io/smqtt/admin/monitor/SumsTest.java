// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SumsTest {

    private static Map<String, Object> sample(long timeMillis, long received) {
        return Map.of("time_stamp", timeMillis, "interval", 10, "received", received);
    }

    @Test
    void samplesOfNodesThatReadAtDifferentMomentsAreJoined() {
        List<Map<String, Object>> sums = Sums.ofHistories(List.of(
                List.of(sample(80_001, 1), sample(90_000, 2), sample(99_999, 4)),
                List.of(sample(86_000, 10), sample(96_004, 20))));

        assertThat(sums)
                .containsExactly(
                        Map.of("time_stamp", 80_001L, "interval", 10, "received", 1L),
                        Map.of("time_stamp", 90_000L, "interval", 10L, "received", 12L),
                        Map.of("time_stamp", 99_999L, "interval", 10L, "received", 24L));
    }

    @Test
    void nodesWithoutHistoryAddNothing() {
        assertThat(Sums.ofHistories(List.of(List.of(), List.of()))).isEmpty();
        assertThat(Sums.ofHistories(List.of(List.of(), List.of(sample(10_000, 3)))))
                .containsExactly(sample(10_000, 3));
    }

    @Test
    void ratesBecomeWhole() {
        assertThat(Sums.whole(Map.of("sent_msg_rate", 2.6, "cpu", 0.25)))
                .isEqualTo(Map.of("sent_msg_rate", 3L, "cpu", 0.25));
    }
}
