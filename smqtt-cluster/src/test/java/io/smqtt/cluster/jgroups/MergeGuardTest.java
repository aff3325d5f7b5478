// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.jgroups;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.View;
import org.jgroups.stack.Protocol;
import org.jgroups.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MergeGuardTest {

    private final Address a = UUID.randomUUID();
    private final Address b = UUID.randomUUID();
    private final Address self = UUID.randomUUID();
    private final List<Event> passed = new ArrayList<>();
    private final MergeGuard guard = new MergeGuard();

    @BeforeEach
    void putInAStack() {
        guard.setUpProtocol(new Protocol() {
            @Override
            public Object up(Event event) {
                passed.add(event);
                return null;
            }
        });
        guard.setDownProtocol(new Protocol() {
            @Override
            public Object down(Event event) {
                return null;
            }
        });
        guard.setAddress(self);
    }

    private static View view(long id, Address... members) {
        return View.create(members[0], id, members);
    }

    private void install(View view) {
        guard.down(new Event(Event.VIEW_CHANGE, view));
    }

    private Event seen(Map<Address, View> views) {
        passed.clear();
        guard.up(new Event(Event.MERGE, views));
        assertThat(passed).hasSizeLessThan(2);
        return passed.isEmpty() ? null : passed.get(0);
    }

    private void expectFailed(Map<Address, View> views, Address... failed) {
        Event event = seen(views);
        assertThat(event).isNotNull();
        assertThat(event.getType()).isEqualTo(Event.SUSPECT);
        Collection<Address> suspects = event.getArg();
        assertThat(suspects).containsExactlyInAnyOrder(failed);
    }

    private void expectMerge(Map<Address, View> views) {
        Event event = seen(views);
        assertThat(event).isNotNull();
        assertThat(event.getType()).isEqualTo(Event.MERGE);
    }

    @Test
    void partitionsMergeIfTheirCoordinatorsAnswer() {
        install(view(4, self));
        expectMerge(Map.of(self, view(4, self), a, view(4, a, b)));
        assertThat(seen(Map.of(self, view(4, self), b, view(4, a, b)))).isNull();
        expectMerge(Map.of(self, view(4, self), a, view(7, a, b), b, view(7, a, b)));
    }

    @Test
    void whoIsExcludedTakesAllOfThatViewForFailed() {
        View before = view(3, a, b, self);
        install(before);
        View without = view(4, a, b);
        expectFailed(Map.of(self, before, b, without), a, b);
        expectFailed(Map.of(self, before, a, without, b, without), a, b);
        expectFailed(Map.of(self, before, b, view(4, b)), b);
    }

    @Test
    void whoHasFollowedAnotherNodeIsFailed() {
        View own = view(4, self, b);
        install(own);
        expectFailed(Map.of(self, own, b, view(4, a, b)), b);
    }

    @Test
    void whoIsBehindIsNotFailed() {
        View own = view(5, a, b, self);
        install(own);
        expectMerge(Map.of(self, own, b, view(4, b), a, own));
        expectMerge(Map.of(self, own, b, view(6, a, b, self), a, own));
    }

    @Test
    void otherEventsPass() {
        install(view(3, a, b, self));
        guard.up(new Event(Event.SUSPECT, List.of(a)));
        assertThat(passed).hasSize(1);
    }
}
