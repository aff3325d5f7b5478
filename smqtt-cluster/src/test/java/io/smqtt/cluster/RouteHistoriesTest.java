// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random histories of subscriptions, faults, crashes and partitions; at their end every node knows every other's routes. */
@Tag("slow")
class RouteHistoriesTest {

    private static final Duration SETTLING = Duration.ofSeconds(30);

    @Test
    void allNodesKnowAllRoutesAfterAnyHistory() {
        RandomHistory.runEach(300, History::new);
    }

    private static final class History extends RandomHistory {

        private long epochs = 1_000;

        History(long seed) {
            super(seed);
            ClusterSettings usual = ClusterSettings.defaults();
            settings = new ClusterSettings(
                    usual.flushInterval(),
                    usual.digestInterval(),
                    usual.pullPatience(),
                    random.nextBoolean() ? Duration.ofSeconds(5) : usual.routeTtl(),
                    usual.retransmit(),
                    usual.frameBytes(),
                    1 + random.nextInt(20), // many parts
                    1 + random.nextInt(12), // so that more of them are asked for
                    random.nextInt(40), // a short memory, so that snapshots are wanted
                    usual.windowMessages(),
                    usual.windowBytes(),
                    usual.queueMessages(),
                    usual.queueBytes(),
                    usual.clearedTopics(),
                    usual.clearedBytes());
        }

        @Override
        void run() {
            int count = 2 + random.nextInt(4);
            for (int i = 0; i < count; i++) {
                nodes.add(start("n" + i));
            }
            int steps = 50 + random.nextInt(150);
            for (int i = 0; i < steps; i++) {
                step();
                simulation.run(Duration.ofMillis(random.nextInt(random.nextInt(10) == 0 ? 5_000 : 100)));
            }
            settle();
            check();
            long pulls = pulls();
            simulation.run(Duration.ofMinutes(1));
            check();
            assertThat(pulls()).as("questions in a quiet minute").isEqualTo(pulls);
        }

        @Override
        SimulatedNode start(String nodeId) {
            epochs += random.nextInt(10) == 0 ? -5 : 10; // now and then the clock has gone back
            return start(nodeId, epochs);
        }

        private void step() {
            SimulatedNode node = nodes.get(random.nextInt(nodes.size()));
            switch (random.nextInt(12)) {
                case 0 -> crashOrReturn(node);
                case 1 -> network.cut(node.nodeId(), "n" + random.nextInt(nodes.size()));
                case 2 -> cutOff(node.nodeId());
                case 3 -> network.healAll();
                case 4 -> faults(5, 300, 0.15, 3_000);
                case 5 -> burst(node);
                default -> change(node);
            }
        }

        private void crashOrReturn(SimulatedNode node) {
            if (node.isAlive()) {
                node.crash();
                if (random.nextBoolean()) {
                    return;
                }
            }
            nodes.set(nodes.indexOf(node), start(node.nodeId()));
        }

        private void burst(SimulatedNode node) {
            for (int i = random.nextInt(60); i > 0; i--) {
                change(node);
            }
        }

        private void change(SimulatedNode node) {
            if (!node.isAlive()) {
                return;
            }
            int number = random.nextInt(40);
            String filter = number < 5 ? "$share/g/f" + number : number < 10 ? "f/+/" + number : "f/" + number;
            boolean durable = random.nextBoolean();
            if (random.nextBoolean() || !node.unsubscribe(filter, durable)) {
                node.subscribe(filter, durable);
            }
        }

        private void settle() {
            for (SimulatedNode node : List.copyOf(nodes)) {
                if (!node.isAlive()) {
                    crashOrReturn(node);
                }
            }
            for (int i = 0; i < nodes.size(); i++) {
                if (!nodes.get(i).isAlive()) {
                    nodes.set(i, start(nodes.get(i).nodeId()));
                }
            }
            heal();
            simulation.run(SETTLING);
        }

        private void check() {
            for (SimulatedNode node : nodes) {
                assertThat(node.node().counters().malformedFrames()).isZero();
                assertThat(node.node().counters().repairs())
                        .as("repairs at %s", node.nodeId())
                        .isZero();
                for (SimulatedNode other : nodes) {
                    if (node != other) {
                        assertThat(node.reaches(other.nodeId())).isTrue();
                        assertThat(node.rowsOf(other.nodeId()))
                                .as("what %s knows of %s", node.nodeId(), other.nodeId())
                                .isEqualTo(other.expectedRows());
                    }
                }
            }
        }

        private long pulls() {
            return nodes.stream()
                    .mapToLong(node -> node.node().counters().pulls())
                    .sum();
        }
    }
}
