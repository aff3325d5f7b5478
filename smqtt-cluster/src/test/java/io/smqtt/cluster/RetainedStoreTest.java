// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Retained messages of nodes that restart with their stores: versions and removals are there again. */
class RetainedStoreTest {

    private static final Duration WHILE = Duration.ofSeconds(5);

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

    private SimulatedNode restarted(SimulatedNode stopped) {
        SimulatedNode next = node(stopped.nodeId());
        next.recover(stopped.store(), stopped.note());
        return next;
    }

    private void stop(SimulatedNode... nodes) {
        simulation.run(Duration.ofMillis(100)); // its store is written
        for (SimulatedNode node : nodes) {
            node.crash();
        }
        simulation.run(WHILE);
    }

    private void restartAll() {
        stop(a, b, c);
        a = restarted(a);
        b = restarted(b);
        simulation.run(WHILE);
        c = restarted(c);
        simulation.run(Duration.ofSeconds(20));
    }

    private void allRetain(Map<String, String> expected) {
        for (SimulatedNode node : List.of(a, b, c)) {
            assertThat(node.tree()).as(node.nodeId()).isEqualTo(expected);
            assertThat(node.node().retained().entries().hashes())
                    .as(node.nodeId())
                    .isEqualTo(a.node().retained().entries().hashes());
        }
    }

    @Test
    void whatOneNodeChangedWhileTheOthersWereDownStaysAfterARestartOfAll() {
        a.retain("updated", "old");
        a.retain("removed", "old");
        a.retain("untouched", "old");
        simulation.run(WHILE);
        stop(a, b);
        c.retain("updated", "new");
        c.retain("removed", "");
        restartAll();

        allRetain(Map.of("updated", "new", "untouched", "old"));
    }

    @Test
    void theNodeThatStartsLastDoesNotWin() {
        a.retain("updated", "old");
        a.retain("removed", "old");
        simulation.run(WHILE);
        stop(c);
        b.retain("updated", "new");
        a.retain("removed", "");
        restartAll();

        allRetain(Map.of("updated", "new"));
    }

    @Test
    void aChangeAfterTheRestartIsLaterThoughTheClockWentBack() {
        c.clockIsAhead(Duration.ofDays(3).toMillis());
        c.retain("t", "of a clock that is ahead");
        simulation.run(WHILE);
        restartAll();
        c.retain("t", "last");
        simulation.run(WHILE);

        allRetain(Map.of("t", "last"));
    }

    /** The version of a removal that left nothing in the store is not given to a message of the next run. */
    @Test
    void twoRunsOfANodeGiveDifferentVersionsThoughItsClockWentBack() {
        c.clockIsAhead(Duration.ofDays(3).toMillis());
        c.retain("known to all", "x");
        simulation.run(WHILE);
        network.faults(new Faults(Duration.ZERO, Duration.ZERO, true, 1, 0, WHILE)); // all frames are lost
        a.retain("t", "known to one node");
        simulation.run(Duration.ofMillis(20));
        network.faults(Faults.NONE);
        c.clockIsAhead(0);
        c.retain("t", "");
        simulation.run(Duration.ofMillis(20));
        assertThat(a.tree()).doesNotContainKey("t");
        assertThat(c.store()).containsOnlyKeys("known to all");
        c.crash();
        c = restarted(c);
        simulation.run(Duration.ofMillis(1)); // it has heard of no other node
        c.retain("t", "new");
        simulation.run(Duration.ofSeconds(20));

        allRetain(c.tree());
    }

    @Test
    void aMessageAfterARestartOfAllIsLaterThanForgottenRemovalsThoughTheClocksWentBack() {
        stop(a, b, c);
        settings = VariedSettings.remembering(0, ClusterSettings.defaults().clearedBytes());
        start();
        a.clockIsAhead(Duration.ofDays(3).toMillis());
        a.retain("t", "old");
        simulation.run(WHILE);
        a.retain("t", "");
        simulation.run(WHILE);
        assertThat(a.store()).isEmpty();
        restartAll();
        a.retain("t", "new");
        simulation.run(Duration.ofSeconds(20));

        allRetain(Map.of("t", "new"));
    }

    @Test
    void aRemovalOfAMessageThatOnlyAnAbsentNodeHasIsStoredToo() {
        network.cut("a", "c");
        network.cut("b", "c");
        network.cut("c", "a");
        network.cut("c", "b");
        simulation.run(WHILE);
        c.retain("t", "old");
        simulation.run(Duration.ofSeconds(20));
        a.retain("t", "");
        simulation.run(WHILE);
        network.healAll();
        stop(c, a, b);
        a = restarted(a);
        b = restarted(b);
        simulation.run(WHILE);
        c = restarted(c);
        simulation.run(Duration.ofSeconds(20));

        allRetain(Map.of());
    }

    @Test
    void aRemovalThatWasForgottenDoesNotLetItsMessageReviveAfterARestartOfAll() {
        stop(a, b, c);
        settings = VariedSettings.remembering(20, ClusterSettings.defaults().clearedBytes());
        start();
        a.retain("removed", "old");
        a.retain("stays", "old");
        simulation.run(WHILE);
        stop(a, b);
        c.retain("removed", "");
        for (int i = 0; i < 100; i++) {
            c.retain("t/" + i, "x");
            c.retain("t/" + i, "");
        }
        simulation.run(WHILE);
        assertThat(c.store()).doesNotContainKey("removed").hasSize(21); // it is bounded as well
        restartAll();

        allRetain(Map.of("stays", "old"));
    }

    @Test
    void aMessageThatWasPublishedApartStaysAlsoWhenAnotherNodeBringsIt() {
        stop(a, b, c);
        settings = VariedSettings.remembering(20, ClusterSettings.defaults().clearedBytes());
        start();
        a.retain("known", "x");
        simulation.run(WHILE);
        for (String other : List.of("a", "b")) {
            network.cut(other, "c");
            network.cut("c", other);
        }
        simulation.run(Duration.ofSeconds(20));
        for (int i = 0; i < 300; i++) {
            c.retain("apart/" + i, "x");
        }
        simulation.run(WHILE);
        for (int i = 0; i < 500; i++) { // in each partition, and most of them are forgotten
            a.retain("t/" + i, "x");
            a.retain("t/" + i, "");
            b.retain("here/" + i, "x");
        }
        simulation.run(Duration.ofSeconds(20));
        network.healAll();
        network.cut("a", "c"); // first c meets b
        network.cut("c", "a");
        simulation.run(Duration.ofSeconds(20));
        network.healAll();
        simulation.run(Duration.ofSeconds(20));

        assertThat(c.tree()).hasSize(801);
        allRetain(c.tree());
    }

    @Test
    void removalsLeaveTheStoreWhenTheyAreForgotten() {
        settings = VariedSettings.digestsEach(Duration.ofMinutes(1));
        restartAll();
        a.retain("removed", "old");
        a.retain("removed", "");
        simulation.run(WHILE);
        assertThat(b.store()).containsOnlyKeys("removed");
        simulation.run(Duration.ofHours(25));

        for (SimulatedNode node : List.of(a, b, c)) {
            assertThat(node.store()).as(node.nodeId()).isEmpty();
        }
    }

    @Test
    void removalsOfUnknownTopicsAreNotStored() {
        for (int i = 0; i < 1_000; i++) {
            a.retain("never/" + i, "");
        }
        simulation.run(WHILE);

        for (SimulatedNode node : List.of(a, b, c)) {
            assertThat(node.store()).as(node.nodeId()).isEmpty();
        }
    }
}
