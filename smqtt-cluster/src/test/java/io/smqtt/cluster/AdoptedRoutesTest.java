// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The announcement of the filters of adopted sessions. */
class AdoptedRoutesTest {

    private final Map<String, Integer> announced = new TreeMap<>();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final AdoptedRoutes routes = new AdoptedRoutes(
            (filter, difference, durable) -> announced.merge(filter, difference, Integer::sum), tasks::add);
    private int done;

    private int count() {
        return announced.values().stream().mapToInt(Integer::intValue).sum();
    }

    private void announceAll() {
        routes.announce("home", () -> done++);
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
    }

    @Test
    void filtersAreAnnouncedInParts() {
        for (int i = 0; i < 2 * AdoptedRoutes.AT_ONCE; i++) {
            routes.change("home", "f/" + i, 1);
            routes.change("home", "all", 1);
        }
        assertThat(announced).isEmpty();
        routes.announce("home", () -> done++);
        assertThat(count()).isEqualTo(AdoptedRoutes.AT_ONCE);
        int parts = 1;
        while (!tasks.isEmpty()) {
            assertThat(done).isZero();
            tasks.remove().run();
            parts++;
        }
        assertThat(done).isOne();
        assertThat(parts).isEqualTo(4);
        assertThat(announced).hasSize(2 * AdoptedRoutes.AT_ONCE + 1).containsEntry("all", 2 * AdoptedRoutes.AT_ONCE);
    }

    @Test
    void aChangeBetweenTwoPartsIsCounted() {
        for (int i = 0; i < 2 * AdoptedRoutes.AT_ONCE; i++) {
            routes.change("home", "f/" + i, 1);
        }
        routes.announce("home", () -> done++);
        routes.change("home", "f/0", -1); // announced
        routes.change("home", "f/" + (2 * AdoptedRoutes.AT_ONCE - 1), -1); // not yet
        routes.change("home", "new", 1);
        assertThat(announced).containsEntry("f/0", 0).containsEntry("new", 1);
        announceAll();

        announced.values().removeIf(number -> number == 0);
        assertThat(announced)
                .hasSize(2 * AdoptedRoutes.AT_ONCE - 1)
                .doesNotContainKeys("f/0", "f/" + (2 * AdoptedRoutes.AT_ONCE - 1));
        assertThat(announced.values()).containsOnly(1);
    }

    @Test
    void aSubscriptionAfterTheLastOneHasGoneIsAnnounced() {
        routes.change("home", "one", 1);
        announceAll();
        routes.change("home", "one", -1);

        routes.change("home", "two", 1);

        assertThat(announced).containsEntry("one", 0).containsEntry("two", 1);
    }

    @Test
    void anAdoptionWithoutFiltersAnnouncesLaterOnes() {
        announceAll();
        assertThat(done).isOne();

        routes.change("home", "merged", 1);

        assertThat(announced).containsEntry("merged", 1);
    }

    @Test
    void theNextAdoptionWaitsForItsAnnouncementAgain() {
        routes.change("home", "one", 1);
        announceAll();
        routes.end("home");
        routes.change("home", "one", -1);
        assertThat(count()).isZero();

        routes.change("home", "one", 1);

        assertThat(count()).isZero();
        announceAll();
        assertThat(count()).isOne();
    }
}
