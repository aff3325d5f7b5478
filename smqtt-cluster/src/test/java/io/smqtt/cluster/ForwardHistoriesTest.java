// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random histories of messages between nodes whose network loses, doubles, delays and cuts, and of which some crash. What
 * holds in every one of them: an acknowledged message arrives where it is wanted, nothing arrives twice at one run of a node,
 * one publisher's messages keep their order, and every publisher gets its answer. With stores, which fail now and then, an acknowledged
 * message arrives although its node has crashed; at QoS 1 it may then arrive again.
 */
@Tag("slow")
class ForwardHistoriesTest {

    @Test
    void acknowledgedMessagesArriveOnceAndInOrderInAnyHistory() {
        RandomHistory.runEach(150, seed -> new History(seed, false));
    }

    @Test
    void acknowledgedMessagesSurviveTheirNodeInAnyHistory() {
        RandomHistory.runEach(150, seed -> new History(seed, true));
    }

    /** What became of a published message. */
    private static final class Published implements RouteTicket {

        private final String topic;
        private final QoS qos;
        private final Set<SimulatedNode> wanted = new HashSet<>();
        private final boolean patient;
        private int holds;
        private int releases;
        private boolean failed;

        Published(String topic, QoS qos, boolean patient) {
            this.topic = topic;
            this.qos = qos;
            this.patient = patient;
        }

        @Override
        public boolean waitsForRoom() {
            return patient;
        }

        boolean isOpen() {
            return releases < holds;
        }

        @Override
        public void hold() {
            holds++;
        }

        @Override
        public void release(boolean success) {
            releases++;
            failed |= !success;
        }
    }

    private static final class History extends RandomHistory {

        private static final int NODES = 3;
        private static final int TOPICS = 4;

        private final List<SimulatedNode> runs = new ArrayList<>();
        private final Map<Long, Published> published = new HashMap<>();
        private final Map<Long, SimulatedNode> publishers = new HashMap<>();
        private final Map<String, ManualStore> stores = new HashMap<>();
        private final boolean stored;
        private final ParkLimits limits;
        private long number;

        History(long seed, boolean stored) {
            super(seed);
            this.stored = stored;
            limits = new ParkLimits(Duration.ofHours(1), stored && random.nextBoolean() ? 20_000 : 1 << 24, true);
            ClusterSettings usual = ClusterSettings.defaults();
            settings = new ClusterSettings(
                    usual.flushInterval(),
                    usual.digestInterval(),
                    usual.pullPatience(),
                    usual.routeTtl(),
                    usual.retransmit(),
                    300 + random.nextInt(2_000),
                    1 + random.nextInt(20),
                    usual.snapshotFrames(),
                    usual.keptChanges(),
                    1 + random.nextInt(50),
                    usual.windowBytes(),
                    usual.queueMessages(),
                    usual.queueBytes(),
                    usual.clearedTopics(),
                    usual.clearedBytes());
        }

        @Override
        void run() {
            for (int i = 0; i < NODES; i++) {
                nodes.add(start("n" + i));
            }
            simulation.run(Duration.ofSeconds(3));
            int steps = 100 + random.nextInt(200);
            for (int i = 0; i < steps; i++) {
                step();
                simulation.run(Duration.ofMillis(random.nextInt(random.nextInt(20) == 0 ? 4_000 : 30)));
            }
            heal();
            stores.values().forEach(ManualStore::heal);
            simulation.run(Duration.ofMinutes(1));
            check();
        }

        @Override
        SimulatedNode start(String nodeId, long millis) {
            return stored
                    ? new SimulatedNode(
                            simulation,
                            network,
                            nodeId,
                            NodeIdentity.epoch(millis, random),
                            settings,
                            limits,
                            stores.compute(nodeId, (key, last) -> reopened(last)))
                    : super.start(nodeId, millis);
        }

        private ManualStore reopened(@Nullable ManualStore last) {
            if (last == null) {
                return new ManualStore(simulation);
            }
            last.kill();
            return last.reopened(simulation);
        }

        @Override
        SimulatedNode start(String nodeId) {
            SimulatedNode node = super.start(nodeId);
            node.takesUpTo(Duration.ofMillis(random.nextInt(2) * 50).toNanos());
            for (int topic = 0; topic < TOPICS; topic++) { // as one with a store finds them again
                node.subscribe("t/" + topic);
            }
            runs.add(node);
            return node;
        }

        private void step() {
            int choice = random.nextInt(60);
            int index = random.nextInt(NODES);
            SimulatedNode node = nodes.get(index);
            if (choice == 0) {
                node.crash();
                nodes.set(index, start(node.nodeId()));
            } else if (choice == 1) {
                network.cut(node.nodeId(), "n" + random.nextInt(NODES));
            } else if (choice == 2) {
                network.healAll();
            } else if (choice == 3) {
                faults(3, 50, 0.1, 2_000);
            } else if (choice == 4 && stored) {
                ManualStore disk = Objects.requireNonNull(stores.get(node.nodeId()));
                if (disk.isHealthy()) {
                    disk.fail();
                } else {
                    disk.heal();
                }
            } else {
                publish(node, 1 + random.nextInt(30));
            }
        }

        private void publish(SimulatedNode node, int messages) {
            for (int i = 0; i < messages; i++) {
                Published next = new Published(
                        "t/" + random.nextInt(TOPICS), QoS.of(random.nextInt(3)), stored && random.nextBoolean());
                long id = ++number;
                published.put(id, next);
                publishers.put(id, node);
                for (SimulatedNode other : nodes) {
                    if (other != node && node.rowsOf(other.nodeId()).containsKey(next.topic)) {
                        next.wanted.add(other);
                    }
                }
                node.publish(next.topic, id, next.qos, next.qos == QoS.AT_MOST_ONCE ? RouteTicket.NONE : next);
            }
        }

        private void check() {
            Map<SimulatedNode, Set<Long>> arrived = new HashMap<>();
            Map<String, Set<Long>> atEarlierRuns = new HashMap<>();
            for (SimulatedNode node : runs) {
                Map<String, Long> last = new HashMap<>();
                Set<Long> earlier = atEarlierRuns.computeIfAbsent(node.nodeId(), key -> new HashSet<>());
                Set<Long> seen = arrived.computeIfAbsent(node, key -> new HashSet<>());
                for (SimulatedNode.Arrival arrival : node.arrivals()) {
                    Published message = published.get(arrival.number());
                    boolean first = seen.add(arrival.number());
                    assertThat(first || mayComeAgain(arrival))
                            .as("message %s arrives once", arrival)
                            .isTrue();
                    assertThat(arrival.topic()).isEqualTo(message.topic);
                    if (!first || (stored && earlier.contains(arrival.number()))) {
                        continue;
                    }
                    // what is not kept for absent nodes does not wait for what is
                    String line = arrival.from() + (arrival.qos() == QoS.AT_MOST_ONCE ? " at most once" : "");
                    Long before = last.put(line, arrival.number());
                    assertThat(before == null || before < arrival.number())
                            .as("message %s after %s", arrival, before)
                            .isTrue();
                }
                earlier.addAll(seen);
            }
            published.forEach((id, message) -> check(id, message, arrived));
        }

        /** What had been parked is sent again if its node does not know whether it arrived; at QoS 2 it is recognized. */
        private boolean mayComeAgain(SimulatedNode.Arrival arrival) {
            return stored
                    && arrival.qos() == QoS.AT_LEAST_ONCE
                    && !publishers.get(arrival.number()).isAlive();
        }

        private void check(long id, Published message, Map<SimulatedNode, Set<Long>> arrived) {
            if (!publishers.get(id).isAlive() && (!stored || message.isOpen())) {
                return; // what it had parked died with it
            }
            assertThat(message.releases).as("answers to message %d", id).isEqualTo(message.holds);
            if (message.qos == QoS.AT_MOST_ONCE || message.failed) {
                return;
            }
            for (SimulatedNode node : message.wanted) {
                assertThat(arrivedAtAnyRun(node.nodeId(), id, arrived))
                        .as("message %d has arrived at %s", id, node.nodeId())
                        .isTrue();
            }
        }

        private static boolean arrivedAtAnyRun(String nodeId, long id, Map<SimulatedNode, Set<Long>> arrived) {
            return arrived.entrySet().stream()
                    .anyMatch(run -> run.getKey().nodeId().equals(nodeId)
                            && run.getValue().contains(id));
        }
    }
}
