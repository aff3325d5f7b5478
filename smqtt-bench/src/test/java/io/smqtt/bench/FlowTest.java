// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FlowTest {

    private final Flow flow = new Flow();

    @Test
    void flowInOrderHasNoFaults() {
        for (int i = 0; i < 1000; i++) {
            assertThat(flow.receive(i)).isTrue();
        }
        assertThat(List.of(flow.unique(), flow.duplicates(), flow.outOfOrder(), flow.lost(1000), flow.gaps()))
                .containsExactly(1000L, 0L, 0L, 0L, 0L);
    }

    @Test
    void lostMessagesAtTheBeginningTheMiddleAndTheEndCount() {
        flow.receive(1);
        flow.receive(2);
        flow.receive(200);

        assertThat(flow.lost(203)).isEqualTo(200);
        assertThat(flow.gaps()).isEqualTo(198);
    }

    @Test
    void lateMessageIsOutOfOrderAndNotLost() {
        flow.receive(0);
        flow.receive(2);
        assertThat(flow.receive(1)).isTrue();

        assertThat(flow.outOfOrder()).isEqualTo(1);
        assertThat(flow.lost(3)).isZero();
        assertThat(flow.duplicates()).isZero();
    }

    @Test
    void secondArrivalIsDuplicateOnly() {
        flow.receive(0);
        flow.receive(1);
        assertThat(flow.receive(0)).isFalse();
        assertThat(flow.receive(1)).isFalse();

        assertThat(List.of(flow.unique(), flow.duplicates(), flow.outOfOrder(), flow.lost(2)))
                .containsExactly(2L, 2L, 0L, 0L);
    }

    @Test
    void countsAgreeWithAPlainSetUnderRandomFaults() {
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            List<Integer> arrivals = arrivals(random);
            Flow tested = new Flow();
            BitSet seen = new BitSet();
            int highest = -1;
            long duplicates = 0;
            long outOfOrder = 0;
            for (int sequence : arrivals) {
                if (seen.get(sequence)) {
                    duplicates++;
                } else if (sequence < highest) {
                    outOfOrder++;
                }
                seen.set(sequence);
                highest = Math.max(highest, sequence);
                tested.receive(sequence);
            }
            assertThat(List.of(tested.unique(), tested.duplicates(), tested.outOfOrder(), tested.lost(500)))
                    .as("seed %d", seed)
                    .containsExactly((long) seen.cardinality(), duplicates, outOfOrder, 500L - seen.cardinality());
        }
    }

    @Test
    void sharedTableTakesNoOffenceAtOrderAndKnowsMisroutedMessages() {
        FlowTable table = FlowTable.of(4, 2, true);
        table.receive(4, 1);
        table.receive(4, 0);
        assertThat(table.receive(9, 0)).isFalse();
        FlowTable.Faults faults = new FlowTable.Faults();
        table.addTo(faults, publisher -> publisher == 4 ? 2 : 7);

        assertThat(List.of(faults.expected, faults.unique, faults.lost, faults.outOfOrder, faults.misrouted))
                .containsExactly(9L, 2L, 7L, 0L, 1L);
    }

    @Test
    void openTableBeginsWithTheFirstMessageItSees() {
        FlowTable table = FlowTable.open();
        table.receive(70, 100);
        table.receive(70, 102);
        FlowTable.Faults faults = new FlowTable.Faults();
        table.addTo(faults, publisher -> 0);

        assertThat(List.of(faults.unique, faults.lost, faults.misrouted)).containsExactly(2L, 1L, 0L);
    }

    private static List<Integer> arrivals(Random random) {
        List<Integer> arrivals = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            int fate = random.nextInt(20);
            if (fate == 0) {
                continue;
            }
            arrivals.add(fate == 1 ? random.nextInt(arrivals.size() + 1) : arrivals.size(), i);
            if (fate == 2) {
                arrivals.add(i);
            }
        }
        return arrivals;
    }
}
