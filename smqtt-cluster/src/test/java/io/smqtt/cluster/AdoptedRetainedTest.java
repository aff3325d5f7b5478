// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedMerge;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.topic.TopicName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Retained messages in the store of a node that has failed, whose store another one has adopted: what it alone had stored is merged by version. */
class AdoptedRetainedTest {

    private static final Duration WHILE = Duration.ofSeconds(5);
    private static final Duration COMPARED = Duration.ofSeconds(20);

    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private ClusterSettings settings = ClusterSettings.defaults();
    private SimulatedNode a;
    private SimulatedNode b;
    private SimulatedNode c;
    private long epoch;

    @BeforeEach
    void start() {
        a = node("a");
        b = node("b");
        c = node("c");
        simulation.run(WHILE);
    }

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, ++epoch, settings);
    }

    /** No frame of this node arrives any more: what it stores now is known to it, and its replicas. */
    private void isolate(SimulatedNode node) {
        for (SimulatedNode other : List.of(a, b, c)) {
            if (other != node) {
                network.cut(node.nodeId(), other.nodeId());
                network.cut(other.nodeId(), node.nodeId());
            }
        }
        simulation.run(WHILE);
    }

    private void crash(SimulatedNode node) {
        simulation.run(Duration.ofMillis(100)); // its store is written
        node.crash();
        simulation.run(WHILE);
    }

    private static void read(SimulatedNode home, RetainedMerge into) {
        home.store().forEach((topic, row) -> {
            String payload = row.payload();
            if (payload == null) {
                into.foundRemoval(TopicName.of(topic), Objects.requireNonNull(row.version()));
            } else {
                into.found(
                        ApplicationMessage.builder(topic)
                                .payload(payload)
                                .retain(true)
                                .build(),
                        row.version());
            }
        });
        into.begin();
    }

    /** Another node adopts the store; returns how many rows are newer there. */
    private int adopt(SimulatedNode adopter, SimulatedNode home) {
        int[] newer = {0};
        AdoptedRetained found = new AdoptedRetained(home.nodeId(), adopter.node()::retained, merge -> {
            newer[0] = merge.size();
            merge.into(adopter.node());
        });
        read(home, found);
        simulation.run(COMPARED);
        return newer[0];
    }

    private static void retain(Map<String, String> expected, SimulatedNode... nodes) {
        for (SimulatedNode node : nodes) {
            assertThat(node.tree()).as(node.nodeId()).isEqualTo(expected);
            assertThat(node.node().retained().entries().hashes())
                    .as(node.nodeId())
                    .isEqualTo(nodes[0].node().retained().entries().hashes());
        }
    }

    @Test
    void whatTheFailedNodeAloneHadStoredReachesAllNodes() {
        a.retain("updated", "old");
        a.retain("removed", "old");
        a.retain("untouched", "x");
        simulation.run(WHILE);
        isolate(c);
        c.retain("updated", "new");
        c.retain("removed", "");
        c.retain("added", "y");
        c.retain("$smqtt/user/alice", "z");
        crash(c);

        assertThat(adopt(a, c)).isEqualTo(4);

        Map<String, String> all = Map.of("updated", "new", "untouched", "x", "added", "y", "$smqtt/user/alice", "z");
        retain(all, a, b);
        assertThat(a.store().get("added").version())
                .isEqualTo(c.store().get("added").version());
        assertThat(adopt(b, c)).as("newer rows for a second adopter").isZero();
        network.healAll();
        SimulatedNode returned = node("c");
        returned.recover(c.store(), c.note());
        simulation.run(COMPARED);
        retain(all, a, b, returned);
    }

    @Test
    void rowsThatAreKnownAreNotStoredAgain() {
        for (int i = 0; i < 3_000; i++) {
            a.retain("t/" + i, "x");
        }
        simulation.run(WHILE);
        isolate(c);
        c.retain("t/7", "new");
        crash(c);
        int before = a.retainedFromElsewhere();

        assertThat(adopt(a, c)).isOne();

        assertThat(a.retainedFromElsewhere() - before).isOne();
        assertThat(a.tree()).hasSize(3_000).containsEntry("t/7", "new");
    }

    @Test
    void allRowsAreMergedThoughManyAreNewer() {
        isolate(c);
        for (int i = 0; i < 1_500; i++) {
            c.retain("t/" + i, "x");
        }
        crash(c);

        assertThat(adopt(a, c)).isEqualTo(1_500);

        retain(c.tree(), a, b);
        assertThat(b.tree()).hasSize(1_500);
    }

    @Test
    void whatChangedSinceTheFailureStays() {
        a.retain("updated", "old");
        a.retain("removed", "old");
        simulation.run(WHILE);
        crash(c);
        a.retain("updated", "new");
        b.retain("removed", "");
        simulation.run(WHILE);

        assertThat(adopt(a, c)).isZero();

        retain(Map.of("updated", "new"), a, b);
    }

    @Test
    void aMessageWhoseRemovalWasForgottenIsNotBack() {
        simulation.run(WHILE);
        for (SimulatedNode node : List.of(a, b, c)) {
            crash(node);
        }
        settings = VariedSettings.remembering(0, ClusterSettings.defaults().clearedBytes());
        start();
        a.retain("removed", "old");
        simulation.run(COMPARED);
        crash(c);
        a.retain("removed", "");
        simulation.run(COMPARED);
        assertThat(a.store()).isEmpty();

        adopt(a, c);

        assertThat(a.tree()).isEmpty();
        assertThat(b.tree()).isEmpty();
    }

    @Test
    void aMessageWithoutAVersionIsTakenIfItsTopicIsUnknown() {
        a.retain("known", "x");
        simulation.run(WHILE);
        crash(c);
        c.store().put("known", new SimulatedNode.Stored("older", null));
        c.store().put("unknown", new SimulatedNode.Stored("y", null));

        assertThat(adopt(a, c)).isOne();

        retain(Map.of("known", "x", "unknown", "y"), a, b);
    }

    @Test
    void topicsOfTheFailedNodeItselfStayThere() {
        crash(c);
        c.store().put("$SYS/version", new SimulatedNode.Stored("x", new RetainedVersion(1, "c")));

        assertThat(adopt(a, c)).isZero();
    }

    @Test
    void whatIsFoundBeforeTheStartOfTheClusterIsMergedThen() {
        isolate(c);
        c.retain("t", "x");
        crash(c);
        FoundRetained ofBroker = new FoundRetained();

        read(c, ofBroker.merging("c"));
        simulation.run(WHILE);
        assertThat(a.tree()).isEmpty();
        ofBroker.giveTo(a.node());
        ofBroker.given(a.node());
        simulation.run(COMPARED);

        retain(Map.of("t", "x"), a, b);
    }
}
