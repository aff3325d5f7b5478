// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.Election;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ElectionTest {

    private static final List<String> NODES = List.of("n1", "n2", "n3");

    private static List<String> chosen(String bridge, String... away) {
        SimulatedNodes nodes = new SimulatedNodes(NODES.toArray(String[]::new));
        List<String> failed = List.of(away);
        failed.forEach(nodes::fails);
        return NODES.stream()
                .filter(node -> !failed.contains(node) && Election.isChosen(bridge, nodes.view(node, 0)))
                .toList();
    }

    @Test
    void exactlyOneNodeIsChosenAndAnotherOneWhenItFails() {
        for (int i = 0; i < 100; i++) {
            String bridge = "bridge" + i;
            List<String> first = chosen(bridge);
            assertThat(first).hasSize(1);
            for (String node : NODES) { // the failure of another node moves nothing
                assertThat(chosen(bridge, node)).hasSize(1);
                assertThat(chosen(bridge, node).equals(first)).isEqualTo(!first.contains(node));
            }
        }
    }

    @Test
    void bridgesAreSpreadOverTheNodes() {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 300; i++) {
            counts.merge(chosen("bridge" + i).get(0), 1, Integer::sum);
        }

        assertThat(counts.values()).hasSize(3).allMatch(count -> count > 60);
    }

    @Test
    void aNodeThatReachesTooFewOthersIsNotChosen() {
        SimulatedNodes nodes = new SimulatedNodes("n1", "n2");
        nodes.fails("n2");

        assertThat(Election.isChosen("cloud", nodes.view("n1", 0))).isTrue();
        assertThat(Election.isChosen("cloud", nodes.view("n1", 2))).isFalse();
    }
}
