// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random histories of retained messages on nodes that are cut off, crash and come back; at their end all nodes retain the same. */
@Tag("slow")
class RetainedHistoriesTest {

    @Test
    void allNodesRetainTheSameAfterAnyHistory() {
        RandomHistory.runEach(300, History::new);
    }

    private static final class History extends RandomHistory {

        private static final int TOPICS = 12;

        private int number;

        History(long seed) {
            super(seed);
            if (random.nextBoolean()) { // a short memory of what was removed
                ClusterSettings usual = ClusterSettings.defaults();
                settings = new ClusterSettings(
                        usual.flushInterval(),
                        usual.digestInterval(),
                        usual.pullPatience(),
                        usual.routeTtl(),
                        usual.retransmit(),
                        usual.frameBytes(),
                        1 + random.nextInt(20),
                        usual.snapshotFrames(),
                        usual.keptChanges(),
                        usual.windowMessages(),
                        usual.windowBytes(),
                        usual.queueMessages(),
                        usual.queueBytes(),
                        random.nextInt(6),
                        usual.clearedBytes());
            }
        }

        @Override
        void run() {
            int count = 2 + random.nextInt(3);
            for (int i = 0; i < count; i++) {
                nodes.add(startWithClock("n" + i));
            }
            int steps = 50 + random.nextInt(150);
            for (int i = 0; i < steps; i++) {
                step();
                simulation.run(Duration.ofMillis(random.nextInt(random.nextInt(10) == 0 ? 3_000 : 20)));
            }
            heal();
            simulation.run(Duration.ofSeconds(20));
            allRetain(agreed());
            theLastWordStays(Duration.ofSeconds(1));
            if (random.nextBoolean()) {
                restartAll();
                theLastWordStays(Duration.ofSeconds(20));
            }
        }

        private Map<String, String> agreed() {
            return new TreeMap<>(nodes.get(0).tree());
        }

        private void allRetain(Map<String, String> expected) {
            for (SimulatedNode node : nodes) {
                assertThat(node.tree()).as("%s", node.nodeId()).isEqualTo(expected);
            }
        }

        /** With their stores and other clocks. */
        private void restartAll() {
            nodes.forEach(SimulatedNode::crash);
            nodes.replaceAll(stopped -> {
                SimulatedNode node = startWithClock(stopped.nodeId());
                node.recover(stopped.store(), stopped.note());
                return node;
            });
            simulation.run(Duration.ofMillis(1));
        }

        /** Once all nodes retain the same, what is retained last stays, wherever that is, even if clocks differ. */
        private void theLastWordStays(Duration until) {
            Map<String, String> expected = agreed();
            for (int topic = 0; topic < TOPICS; topic += 2) {
                SimulatedNode node = nodes.get(random.nextInt(nodes.size()));
                String payload = random.nextInt(3) == 0 ? "" : "last " + ++number;
                node.retain("t/" + topic, payload);
                if (payload.isEmpty()) {
                    expected.remove("t/" + topic);
                } else {
                    expected.put("t/" + topic, payload);
                }
            }
            simulation.run(until);
            allRetain(expected);
            if (settings.clearedTopics() < TOPICS) { // what is forgotten depends on the order in which it came
                simulation.run(Duration.ofSeconds(10));
            }
            long repairs = repairs();
            simulation.run(Duration.ofMinutes(1));
            assertThat(repairs()).as("repairs in a quiet minute").isEqualTo(repairs);
        }

        private long repairs() {
            return nodes.stream()
                    .mapToLong(node -> node.node().retained().status().compared())
                    .sum();
        }

        private SimulatedNode startWithClock(String nodeId) {
            SimulatedNode node = start(nodeId);
            long days = random.nextInt(4) == 0 ? random.nextInt(5) - 2 : 0;
            node.clockIsAhead(Duration.ofDays(days).toMillis() + random.nextInt(10_000) - 5_000);
            return node;
        }

        /** With nothing, with messages of a store without versions, or with a store. */
        private SimulatedNode again(SimulatedNode crashed) {
            SimulatedNode node = startWithClock(crashed.nodeId());
            switch (random.nextInt(3)) {
                case 0 -> crashed.tree().forEach(node::recover);
                case 1 -> node.recover(crashed.store(), crashed.note());
                default -> {}
            }
            return node;
        }

        private void step() {
            int index = random.nextInt(nodes.size());
            SimulatedNode node = nodes.get(index);
            switch (random.nextInt(20)) {
                case 0 -> {
                    node.crash();
                    nodes.set(index, again(node));
                }
                case 1 -> network.cut(node.nodeId(), "n" + random.nextInt(nodes.size()));
                case 2 -> cutOff(node.nodeId());
                case 3 -> network.healAll();
                case 4 -> faults(3, 100, 0.15, 2_000);
                default -> {
                    String payload = random.nextInt(3) == 0 ? "" : Integer.toString(++number);
                    node.retain("t/" + random.nextInt(TOPICS), payload);
                }
            }
        }
    }
}
