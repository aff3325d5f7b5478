// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Random histories of retained messages on nodes that are cut off, crash and come back; at their end all nodes retain the same. */
class RetainedHistoriesTest {

    @Test
    void allNodesRetainTheSameAfterAnyHistory() {
        for (long seed : Seeds.some(300)) {
            new History(seed).run();
        }
    }

    private static final class History {

        private static final int TOPICS = 12;

        private final Simulation simulation;
        private final SimulatedNetwork network;
        private final Random random;
        private final String context;
        private final List<SimulatedNode> nodes = new ArrayList<>();
        private long epochs = 1;
        private int number;

        History(long seed) {
            simulation = new Simulation(seed);
            network = new SimulatedNetwork(simulation);
            random = simulation.random();
            context = "seed " + seed + ": -Dsmqtt.seed=" + seed;
        }

        void run() {
            int count = 2 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                nodes.add(start("n" + i, Map.of()));
            }
            int steps = 50 + random.nextInt(150);
            for (int i = 0; i < steps; i++) {
                step();
                simulation.run(Duration.ofMillis(random.nextInt(random.nextInt(10) == 0 ? 3_000 : 20)));
            }
            network.faults(Faults.NONE);
            network.healAll();
            simulation.run(Duration.ofSeconds(20));
            Map<String, String> agreed = nodes.get(0).tree();
            for (SimulatedNode node : nodes) {
                assertThat(node.tree()).as("%s, %s", node.nodeId(), context).isEqualTo(agreed);
            }
            theLastWordStays();
        }

        /** Once all is calm, what is retained last stays, wherever that is, even if clocks differ. */
        private void theLastWordStays() {
            Map<String, String> expected = new TreeMap<>(nodes.get(0).tree());
            for (int topic = 0; topic < TOPICS; topic += 2) {
                SimulatedNode node = nodes.get(random.nextInt(nodes.size()));
                String payload = random.nextInt(3) == 0 ? "" : "last " + topic;
                node.retain("t/" + topic, payload);
                if (payload.isEmpty()) {
                    expected.remove("t/" + topic);
                } else {
                    expected.put("t/" + topic, payload);
                }
            }
            simulation.run(Duration.ofSeconds(1));
            for (SimulatedNode node : nodes) {
                assertThat(node.tree()).as("%s, %s", node.nodeId(), context).isEqualTo(expected);
            }
            long repairs = repairs();
            simulation.run(Duration.ofMinutes(1));
            assertThat(repairs()).as("repairs in a quiet minute, %s", context).isEqualTo(repairs);
        }

        private long repairs() {
            return nodes.stream()
                    .mapToLong(node -> node.node().retained().repairs())
                    .sum();
        }

        private SimulatedNode start(String nodeId, Map<String, String> stored) {
            SimulatedNode node = new SimulatedNode(
                    simulation, network, nodeId, NodeIdentity.epoch(epochs++, random), ClusterSettings.defaults());
            node.clockIsAhead(random.nextInt(10_000) - 5_000);
            stored.forEach(node::recover);
            return node;
        }

        private void step() {
            int index = random.nextInt(nodes.size());
            SimulatedNode node = nodes.get(index);
            switch (random.nextInt(20)) {
                case 0 -> {
                    node.crash();
                    boolean stored = random.nextBoolean();
                    nodes.set(index, start(node.nodeId(), stored ? node.tree() : Map.of()));
                }
                case 1 -> network.cut(node.nodeId(), "n" + random.nextInt(nodes.size()));
                case 2 -> {
                    for (SimulatedNode other : nodes) {
                        network.cut(node.nodeId(), other.nodeId());
                        network.cut(other.nodeId(), node.nodeId());
                    }
                }
                case 3 -> network.healAll();
                case 4 ->
                    network.faults(new Faults(
                            Duration.ofMillis(random.nextInt(3)),
                            Duration.ofMillis(3 + random.nextInt(100)),
                            random.nextBoolean(),
                            random.nextInt(3) * 0.15,
                            random.nextInt(3) * 0.1,
                            Duration.ofMillis(50 + random.nextInt(2_000))));
                default -> {
                    String payload = random.nextInt(3) == 0 ? "" : Integer.toString(++number);
                    node.retain("t/" + random.nextInt(TOPICS), payload);
                }
            }
        }
    }
}
