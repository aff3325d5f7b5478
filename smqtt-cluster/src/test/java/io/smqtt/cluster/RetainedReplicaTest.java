// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What nodes keep of retained messages that are removed, have expired or are refused, and how one that joins gets them. */
class RetainedReplicaTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration SWEEP = Duration.ofSeconds(30);
    private static final int FEW = 50;

    private Simulation simulation = new Simulation(5);
    private SimulatedNetwork network = new SimulatedNetwork(simulation);

    static long[] seeds() {
        return Seeds.some(30);
    }

    private SimulatedNode node(String nodeId) {
        return node(nodeId, ClusterSettings.defaults());
    }

    private SimulatedNode node(String nodeId, ClusterSettings settings) {
        return new SimulatedNode(simulation, network, nodeId, 1, settings);
    }

    private static ClusterStatus.Retained status(SimulatedNode node) {
        return node.node().retained().status();
    }

    private static RetainedEntries entries(SimulatedNode node) {
        return node.node().retained().entries();
    }

    private static RetainedEntries.Entry entry(SimulatedNode node, String topic) {
        return Objects.requireNonNull(entries(node).get(topic), topic);
    }

    @Test
    void clearsOfWhatNobodyKnowsLeaveNothing() {
        List<SimulatedNode> nodes = List.of(node("a"), node("b"), node("c"));
        simulation.run(WHILE);
        for (int i = 0; i < 2 * RecentClears.MOST; i++) {
            nodes.get(0).retain("never/" + i, "");
        }
        simulation.run(WHILE);

        for (SimulatedNode node : nodes) {
            assertThat(entries(node).isEmpty()).isTrue();
            assertThat(node.node().retained().recent().size()).isEqualTo(RecentClears.MOST);
        }
        simulation.run(Duration.ofMinutes(2));
        for (SimulatedNode node : nodes) {
            assertThat(node.node().retained().recent().size()).isZero();
            assertThat(node.retainedFromElsewhere()).isZero();
            assertThat(status(node)).isEqualTo(ClusterStatus.Retained.NONE);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aClearThatOvertakesItsMessageWins(long seed) {
        simulation = new Simulation(seed);
        network = new SimulatedNetwork(simulation);
        List<SimulatedNode> nodes = List.of(node("a"), node("b"), node("c"));
        simulation.run(WHILE);
        network.faults(
                new Faults(Duration.ofMillis(20), Duration.ofMillis(400), false, 0.3, 0.1, Duration.ofSeconds(1)));
        nodes.get(0).retain("t", "late");
        simulation.run(Duration.ofMillis(10)); // it has left, and has not arrived
        assertThat(nodes.get(1).tree()).isEmpty();
        nodes.get(1).retain("t", "");
        simulation.run(WHILE);
        network.faults(Faults.NONE);
        simulation.run(Duration.ofSeconds(20));

        for (SimulatedNode node : nodes) {
            assertThat(node.tree()).as(node.nodeId()).isEmpty();
            assertThat(entries(node).hashes()).isEqualTo(entries(nodes.get(0)).hashes());
        }
    }

    @Test
    void aClearOnOneSideOfACutWinsThoughItsMessageIsKnownOnlyOnTheOther() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        simulation.run(WHILE);
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(WHILE);
        a.retain("t", "old");
        simulation.run(Duration.ofMinutes(2));
        b.retain("t", "");
        simulation.run(Duration.ofMinutes(2));
        network.healAll();
        simulation.run(Duration.ofSeconds(10));

        assertThat(a.tree()).isEmpty();
        assertThat(b.tree()).isEmpty();
    }

    @Tag("slow")
    @Test
    void whatIsRemovedOrHasExpiredKeepsItsTopicAndVersionOnly() {
        SimulatedNode a = node("a", VariedSettings.digestsEach(Duration.ofMinutes(1)));
        SimulatedNode b = node("b", VariedSettings.digestsEach(Duration.ofMinutes(1)));
        simulation.run(WHILE);
        a.retain("removed", "x".repeat(1_000));
        a.retain("expiring", "y".repeat(1_000), Duration.ofSeconds(5));
        simulation.run(WHILE);
        RetainedVersion version = entry(b, "expiring").version();
        a.retain("removed", "");
        simulation.run(Duration.ofHours(1));

        for (SimulatedNode node : List.of(a, b)) {
            assertThat(entry(node, "removed").message()).isNull();
            assertThat(entry(node, "expiring").message()).isNull();
            assertThat(entry(node, "expiring").version()).isEqualTo(version);
            assertThat(status(node).cleared()).isEqualTo(2);
        }
        assertThat(entries(b).hashes()).isEqualTo(entries(a).hashes());

        simulation.run(Duration.ofHours(25));
        for (SimulatedNode node : List.of(a, b)) {
            assertThat(entries(node).isEmpty()).isTrue();
            assertThat(status(node).clearedBytes()).isZero();
            assertThat(status(node).forgotten()).isZero();
        }
    }

    @Test
    void ofWhatIsRemovedTheOldestIsForgottenFirstAndOnAllNodesTheSame() {
        ClusterSettings settings = VariedSettings.remembering(FEW, Long.MAX_VALUE);
        List<SimulatedNode> nodes = List.of(node("a", settings), node("b", settings), node("c", settings));
        simulation.run(WHILE);
        for (int i = 0; i < 10 * FEW; i++) {
            nodes.get(i % 3).retain("t/" + i, "x");
            simulation.run(Duration.ofMillis(20));
            nodes.get((i + 1) % 3).retain("t/" + i, "");
        }
        simulation.run(WHILE);

        for (SimulatedNode node : nodes) {
            assertThat(status(node).cleared()).isEqualTo(FEW);
            assertThat(status(node).forgotten()).isEqualTo(9 * FEW);
            assertThat(entries(node).get("t/" + (9 * FEW - 1))).isNull();
            assertThat(entry(node, "t/" + 9 * FEW).isCleared()).isTrue();
            assertThat(entries(node).hashes()).isEqualTo(entries(nodes.get(0)).hashes());
            assertThat(node.tree()).isEmpty();
        }
    }

    @Test
    void whatIsRemovedIsBoundedInBytesToo() {
        ClusterSettings settings = VariedSettings.remembering(Integer.MAX_VALUE, 100_000);
        SimulatedNode a = node("a", settings);
        SimulatedNode b = node("b", settings);
        simulation.run(WHILE);
        for (int i = 0; i < 100; i++) {
            a.retain("t/" + "x".repeat(5_000) + i, "x");
            a.retain("t/" + "x".repeat(5_000) + i, "");
        }
        simulation.run(WHILE);

        for (SimulatedNode node : List.of(a, b)) {
            assertThat(status(node).clearedBytes()).isBetween(1L, 100_000L);
            assertThat(status(node).cleared()).isEqualTo(9);
        }
        assertThat(status(a).forgotten()).isEqualTo(91);
    }

    @Test
    void aNodeThatWasAwayBringsBackNeitherWhatIsRememberedNorWhatWasForgotten() {
        ClusterSettings settings = VariedSettings.remembering(FEW, Long.MAX_VALUE);
        SimulatedNode a = node("a", settings);
        SimulatedNode b = node("b", settings);
        simulation.run(WHILE);
        a.retain("early", "x");
        a.retain("late", "x");
        simulation.run(WHILE);
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(WHILE);
        a.retain("early", "");
        for (int i = 0; i < FEW; i++) {
            a.retain("t/" + i, "x");
            a.retain("t/" + i, "");
        }
        a.retain("late", "");
        simulation.run(WHILE);
        network.healAll();
        simulation.run(Duration.ofSeconds(10));

        assertThat(a.tree()).isEmpty();
        assertThat(b.tree()).isEmpty();
        assertThat(entries(b).hashes()).isEqualTo(entries(a).hashes());
    }

    @Test
    void aMessageThatComesJustAfterItsRemovalWasForgottenIsRemovedToo() {
        ClusterSettings settings = VariedSettings.remembering(0, Long.MAX_VALUE);
        SimulatedNode a = node("a", settings);
        SimulatedNode b = node("b", settings);
        simulation.run(WHILE);
        b.retain("t", "x");
        simulation.run(WHILE);
        RetainedRow row = Objects.requireNonNull(entry(b, "t").row());
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(WHILE);
        a.retain("t", "");
        simulation.run(Duration.ofMillis(1)); // forgotten, and no tick since
        assertThat(entries(a).get("t")).isNull();
        a.node().retained().accept(b.process(), new NodeIdentity("b", 1), new Frame.RetainedUpdate(List.of(row)));
        simulation.run(WHILE);
        network.healAll();
        simulation.run(Duration.ofSeconds(10));

        assertThat(a.tree()).isEmpty();
        assertThat(b.tree()).isEmpty();
    }

    @Test
    void whatWasRetainedWhileApartStaysThoughItIsOlderThanAForgottenRemoval() {
        ClusterSettings settings = VariedSettings.remembering(FEW, Long.MAX_VALUE);
        SimulatedNode a = node("a", settings);
        SimulatedNode b = node("b", settings);
        simulation.run(WHILE);
        a.retain("known", "x");
        simulation.run(WHILE);
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(WHILE);
        b.retain("apart", "x");
        simulation.run(WHILE);
        for (int i = 0; i < 3 * FEW; i++) {
            a.retain("t/" + i, "x");
            a.retain("t/" + i, "");
        }
        simulation.run(WHILE);
        network.healAll();
        simulation.run(Duration.ofSeconds(10));

        assertThat(a.tree()).containsOnlyKeys("known", "apart").isEqualTo(b.tree());
        assertThat(entries(b).hashes()).isEqualTo(entries(a).hashes());
    }

    /** Clocks are a day apart and more; the message that is retained last stays all the same. */
    @ParameterizedTest
    @ValueSource(longs = {-400, -3, 3, 400})
    void theLastMessageStaysThoughClocksAreDaysApart(long days) {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        b.clockIsAhead(Duration.ofDays(days).toMillis());
        simulation.run(WHILE);
        a.retain("t", "of a");
        simulation.run(WHILE);
        b.retain("t", "of b");
        simulation.run(WHILE);
        assertThat(a.tree()).containsEntry("t", "of b").isEqualTo(b.tree());
        a.retain("t", "of a again");
        b.retain("removed", "x");
        simulation.run(WHILE);
        assertThat(b.tree()).containsEntry("t", "of a again").isEqualTo(a.tree());
        a.retain("removed", "");
        SimulatedNode late = node("late");
        late.clockIsAhead(Duration.ofDays(-days).toMillis());
        simulation.run(SWEEP);

        assertThat(a.tree()).containsOnlyKeys("t").isEqualTo(b.tree()).isEqualTo(late.tree());
        assertThat(entry(a, "removed").isCleared()).isTrue();
        assertThat(entries(b).hashes()).isEqualTo(entries(a).hashes());
    }

    @Test
    void whatTheLimitsOfANodeRefuseKeepsItsVersionOnlyAndIsSeen() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        b.retainsAtMost(10);
        simulation.run(WHILE);
        for (int i = 0; i < 100; i++) {
            a.retain("t/" + i, "x");
        }
        simulation.run(WHILE);

        assertThat(b.tree()).hasSize(10);
        assertThat(status(b).refused()).isEqualTo(90);
        assertThat(status(a).refused()).isZero();
        assertThat(entries(b).hashes()).isEqualTo(entries(a).hashes());
        for (int i = 0; i < 100; i++) {
            assertThat(entry(b, "t/" + i).message() == null).isEqualTo(!b.tree().containsKey("t/" + i));
        }

        SimulatedNode c = node("c"); // hears of all, whomever it asks first
        simulation.run(Duration.ofSeconds(10));
        assertThat(c.tree()).isEqualTo(a.tree());

        for (int i = 0; i < 100; i++) {
            c.retain("t/" + i, "");
        }
        simulation.run(WHILE);
        assertThat(status(b).refused()).isZero();
        assertThat(b.tree()).isEmpty();
    }

    @Tag("slow")
    @Test
    void whatIsRefusedExpiresToo() {
        SimulatedNode a = node("a", VariedSettings.digestsEach(Duration.ofMinutes(1)));
        SimulatedNode b = node("b", VariedSettings.digestsEach(Duration.ofMinutes(1)));
        b.retainsAtMost(0);
        simulation.run(WHILE);
        a.retain("t", "x", Duration.ofSeconds(10));
        a.retain("stays", "x");
        simulation.run(WHILE);
        assertThat(status(b).refused()).isEqualTo(2);

        simulation.run(Duration.ofMinutes(1));
        assertThat(status(b).refused()).isEqualTo(1);
        assertThat(status(b).cleared()).isEqualTo(1);
        simulation.run(Duration.ofHours(25));
        assertThat(status(b).cleared()).isZero();
        assertThat(entries(b).hashes()).isEqualTo(entries(a).hashes());
    }

    @Test
    void whatNobodyHasAnyMoreIsNotAskedForAllTheTime() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        b.retainsAtMost(0);
        simulation.run(WHILE);
        a.retain("t", "x");
        simulation.run(WHILE);
        a.crash();
        simulation.run(WHILE);
        SimulatedNode c = node("c");
        simulation.run(WHILE);

        long compared = status(c).compared();
        assertThat(compared).isPositive();
        simulation.run(Duration.ofMinutes(10));
        assertThat(status(c).compared()).isBetween(compared, compared + 11);
    }

    @Test
    void whoJoinsGetsEachMessageOnceWhoeverHasIt() {
        List<SimulatedNode> nodes = List.of(node("a"), node("b"), node("c"));
        simulation.run(WHILE);
        for (int i = 0; i < 2_000; i++) {
            nodes.get(i % 3).retain("t/" + i, "x");
        }
        simulation.run(WHILE);
        SimulatedNode late = node("late");
        simulation.run(Duration.ofSeconds(10));

        assertThat(late.tree()).isEqualTo(nodes.get(0).tree());
        assertThat(late.retainedFromElsewhere()).isEqualTo(2_000);
        assertThat(status(late).comparing()).isZero();
        assertThat(status(late).compared()).isEqualTo(RetainedEntries.PARTS);
    }

    /** As after a restart of a node with a store: it has all, and the others have some of it newer. */
    @Test
    void whoComesBackWithItsStoreIsComparedOnceForEachPart() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        simulation.run(WHILE);
        for (int i = 0; i < 2_000; i++) {
            a.retain("t/" + i, "new");
        }
        simulation.run(WHILE);
        SimulatedNode back = node("back");
        for (int i = 500; i < 2_500; i++) {
            back.recover("t/" + i, "old");
        }
        simulation.run(Duration.ofSeconds(20));

        assertThat(back.tree()).isEqualTo(a.tree()).isEqualTo(b.tree()).hasSize(2_500);
        assertThat(a.tree()).containsEntry("t/1999", "new").containsEntry("t/2000", "old");
        assertThat(status(a).compared() + status(b).compared() + status(back).compared())
                .isLessThan(4 * RetainedEntries.PARTS);
    }
}
