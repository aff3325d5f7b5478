// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.topic.SharedFilter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GroupCallsTest {

    private static final SharedFilter GROUP = SharedFilter.of("$share/g/t");

    private final Set<SharedFilter> takers = new HashSet<>();
    private final Set<SharedFilter> holding = new HashSet<>();
    private final List<Frame> sent = new ArrayList<>();
    private final List<Runnable> later = new ArrayList<>();
    private final GroupCalls calls =
            new GroupCalls(ClusterSettings.defaults(), sent::add, later::add, new GroupCalls.Local() {

                @Override
                public boolean canTakeMore(SharedFilter group) {
                    return takers.contains(group);
                }

                @Override
                public boolean holds(SharedFilter group) {
                    return holding.contains(group);
                }
            });

    private void pass() {
        List<Runnable> due = List.copyOf(later);
        later.clear();
        due.forEach(Runnable::run);
    }

    private void digests(int count) {
        for (int i = 0; i < count; i++) {
            calls.digest();
        }
    }

    private static Frame call(boolean wants, SharedFilter group) {
        return new Frame.GroupCall(wants, List.of(group.toString()));
    }

    private void hold(SharedFilter group, boolean elsewhere) {
        holding.add(group);
        calls.held(group, elsewhere);
    }

    @Test
    void aCallIsRepeatedWhileMessagesWait() {
        hold(GROUP, true);
        pass();
        assertThat(sent).containsExactly(call(false, GROUP));

        sent.clear(); // lost, or no other node was there
        digests(GroupCalls.DIGESTS_PER_REPETITION - 1);
        assertThat(sent).isEmpty();
        digests(1);
        assertThat(sent).containsExactly(call(false, GROUP));

        digests(GroupCalls.DIGESTS_PER_REPETITION);
        assertThat(sent).hasSize(2);

        sent.clear();
        holding.clear();
        digests(2 * GroupCalls.DIGESTS_PER_REPETITION);
        assertThat(sent).isEmpty();
        assertThat(calls.greeting()).isEmpty();
    }

    @Test
    void aGroupIsAnnouncedLaterIfNoMemberWasKnownElsewhere() {
        hold(GROUP, false);
        pass();
        assertThat(sent).isEmpty();

        digests(GroupCalls.DIGESTS_PER_REPETITION);

        assertThat(sent).containsExactly(call(false, GROUP));
    }

    @Test
    void allGroupsHaveTheirTurn() {
        int count = 2 * ClusterSettings.defaults().rowsPerFrame() + 1;
        List<SharedFilter> groups = IntStream.range(0, count)
                .mapToObj(i -> SharedFilter.of("$share/g/" + i))
                .toList();
        groups.forEach(group -> hold(group, false));

        digests(GroupCalls.DIGESTS_PER_REPETITION);
        assertThat(sent).hasSize(1); // one frame each time
        digests(2 * GroupCalls.DIGESTS_PER_REPETITION);

        assertThat(sent.stream().flatMap(frame -> ((Frame.GroupCall) frame).groups().stream()))
                .containsExactlyInAnyOrderElementsOf(
                        groups.stream().map(SharedFilter::toString).toList());
    }

    @Test
    void aNodeWithAMemberAsksForWhatWaitsElsewhere() {
        takers.add(GROUP);
        calls.heardHeld(List.of(GROUP, SharedFilter.of("$share/g/other")));
        pass();
        assertThat(sent).containsExactly(call(true, GROUP));
    }
}
