// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LoginQueueTest {

    private final LoginQueue<String> queue = new LoginQueue<>(6);

    @Test
    void networksTakeTurnsAndWithinThemUsers() {
        offer("a", "x", "1");
        offer("a", "x", "2");
        offer("a", "y", "3");
        offer("b", "x", "4");
        offer("c", "x", "5");

        assertThat(drained()).containsExactly("1", "4", "5", "3", "2");
        assertThat(queue.size()).isZero();
    }

    @Test
    void aFullQueueRefusesTheNewestOfTheNetworkThatHasMost() {
        for (int i = 0; i < 6; i++) {
            offer("a", "x", "a" + i);
        }

        assertThat(queue.offer("a", "x", "late")).isEqualTo("late");
        assertThat(queue.offer("b", "x", "b0")).isEqualTo("a5");
        assertThat(queue.offer("b", "x", "b1")).isEqualTo("a4");
        assertThat(queue.offer("b", "x", "b2")).isEqualTo("a3");
        assertThat(queue.offer("b", "x", "b3")).as("both have as many").isEqualTo("b3");
        assertThat(drained()).containsExactly("a0", "b0", "a1", "b1", "a2", "b2");
    }

    @Test
    void aFullQueueOfOneNetworkRefusesTheNewestOfTheUserWhoHasMost() {
        for (int i = 0; i < 6; i++) {
            offer("a", "x", "x" + i);
        }

        assertThat(queue.offer("a", "y", "y0")).isEqualTo("x5");
        assertThat(drained()).containsExactly("x0", "y0", "x1", "x2", "x3", "x4");
    }

    @Test
    void aLoginThatLeavesGivesItsPlaceBack() {
        offer("a", "x", "1");
        offer("a", "x", "2");
        queue.remove("a", "x", "1");
        queue.remove("a", "x", "1");
        queue.remove("b", "x", "2");

        assertThat(queue.size()).isEqualTo(1);
        assertThat(drained()).containsExactly("2");
    }

    @Test
    void whateverComesAndGoesIsServedRefusedOrRemovedOnce() {
        Random random = new Random(20_261_122);
        Map<String, String> outcomes = new HashMap<>();
        List<String[]> offered = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            int what = random.nextInt(10);
            if (what < 7) {
                String[] login = {"n" + random.nextInt(5), "u" + random.nextInt(3), "l" + i};
                offered.add(login);
                String refused = queue.offer(login[0], login[1], login[2]);
                if (refused != null) {
                    assertThat(outcomes.put(refused, "refused")).isNull();
                }
            } else if (what < 9) {
                String served = queue.poll();
                if (served != null) {
                    assertThat(outcomes.put(served, "served")).isNull();
                }
            } else if (!offered.isEmpty()) {
                String[] login = offered.get(Math.max(0, offered.size() - 1 - random.nextInt(8)));
                int before = queue.size();
                queue.remove(login[0], login[1], login[2]);
                if (queue.size() < before) {
                    assertThat(outcomes.put(login[2], "removed")).isNull();
                }
            }
            assertThat(queue.size()).isBetween(0, 6);
        }
        drained().forEach(login -> outcomes.put(login, "served"));
        assertThat(outcomes).hasSameSizeAs(offered);
    }

    private void offer(String network, String user, String login) {
        assertThat(queue.offer(network, user, login)).isNull();
    }

    private List<String> drained() {
        List<String> all = new ArrayList<>();
        for (String login = queue.poll(); login != null; login = queue.poll()) {
            all.add(login);
        }
        return all;
    }
}
