// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.SimulatedClients.identity;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clocks, addresses and ends that are not as they should be. */
@Tag("slow")
class ClusterMendsTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final long DAY_MILLIS = 86_400_000;

    private final Simulation simulation = new Simulation(11);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final SimulatedNode a = node("a");
    private final SimulatedNode b = node("b");

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, 1, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
    }

    @Test
    void aRetainedMessageOfAClockThatIsFarOffIsHeardAndALaterOneIsLater() {
        b.clockIsAhead(DAY_MILLIS / 2);
        b.retain("u", "tomorrow");
        simulation.run(WHILE);
        assertThat(a.tree()).containsEntry("u", "tomorrow");

        b.clockIsAhead(10 * DAY_MILLIS);
        b.retain("t", "from the future");
        simulation.run(WHILE);
        assertThat(a.tree()).containsEntry("t", "from the future");

        a.retain("t", "from now");
        simulation.run(WHILE);
        assertThat(a.tree()).containsEntry("t", "from now").isEqualTo(b.tree());
    }

    @Test
    void aClaimClockThatIsFarOffIsNotFollowed() {
        long far = RetainedVersion.clockOf(1_700_000_000_000L + 10 * DAY_MILLIS);
        a.node().clients().accept(new NodeIdentity("b", 1), new Frame.Owned(List.of("c"), List.of(far)));
        a.claim(identity("c"), reason -> {});
        simulation.run(WHILE);
        a.clients().open("c");

        assertThat(a.clients().clockOf("c")).isLessThan(far);
    }

    @Test
    void whoSaysWhatANodeSaysThatIsThereIsNotHeard() {
        b.subscribe("t");
        simulation.run(WHILE);
        ClusterTransport.Peer impostor = new ClusterTransport.Peer() {};

        a.node()
                .received(
                        impostor,
                        FrameCodec.encode(
                                new NodeIdentity("b", 99), new Frame.Delta(1, List.of(new RouteRow("x", 1))), 0));
        simulation.run(WHILE);

        assertThat(a.reaches("b")).isTrue();
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
        Member member = a.node().membership().all().iterator().next();
        assertThat(member.epoch()).isEqualTo(1);
    }

    @Test
    void aMistakeOfOneFrameDoesNotEndTheLoop() {
        b.failsToRetain();
        a.retain("t", "one");
        simulation.run(WHILE);
        a.subscribe("still");
        simulation.run(WHILE);

        assertThat(b.failures()).isPositive();
        assertThat(b.rowsOf("a")).containsKey("still");
    }

    @Test
    void refusedConnectionsAreCountedByReason() {
        ClusterTransport.Handler handler = a.node();
        handler.refused(ClusterTransport.Refusal.TIMEOUT);
        handler.refused(ClusterTransport.Refusal.FRAME);
        handler.refused(ClusterTransport.Refusal.FRAME);

        ClusterStatus.Traffic traffic = a.node().counters().traffic(0);
        assertThat(traffic.refusedConnections())
                .containsOnlyKeys(ClusterTransport.Refusal.values())
                .containsEntry(ClusterTransport.Refusal.TIMEOUT, 1L)
                .containsEntry(ClusterTransport.Refusal.FRAME, 2L)
                .containsEntry(ClusterTransport.Refusal.AUTHENTICATION, 0L);
        assertThat(traffic.malformedFrames()).as("the frames that ended them").isEqualTo(2);
    }

    @Test
    void aClaimThatNobodyWaitsForIsSettled() {
        List<Runnable> tasks = new ArrayList<>();
        Directory directory = new Directory(tasks::add, a::node, false);

        directory.claim(identity("c"), false).subscribe().dispose();
        tasks.forEach(Runnable::run);
        simulation.run(WHILE);

        assertThat(a.node().clients().isSettled("c")).isTrue();
    }

    /** Only one way is open, and the other side has gone on by itself: the transport does not say so here. */
    @Test
    void aNodeThatSaysNothingIsTakenForGoneUntilItSpeaks() {
        b.subscribe("t");
        simulation.run(WHILE);
        SimulatedNetwork.Faults good = SimulatedNetwork.Faults.NONE;
        network.faults(new SimulatedNetwork.Faults(
                good.shortest(), good.longest(), good.inOrder(), 1, good.doubled(), good.detection()));
        simulation.run(Duration.ofSeconds(10));
        assertThat(a.reaches("b")).isTrue();
        assertThat(a.clients().isNodeAway()).isFalse();

        simulation.run(Duration.ofSeconds(10));
        assertThat(a.reaches("b")).isFalse();
        assertThat(b.reaches("a")).isFalse();
        assertThat(a.clients().isNodeAway()).isTrue();

        network.faults(good);
        simulation.run(WHILE);
        assertThat(a.reaches("b")).isTrue();
        assertThat(b.reaches("a")).isTrue();
        assertThat(a.clients().isNodeAway()).isFalse();
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
    }

    /** The transport tells a node that is cut off from one that is busy, and never takes one for gone that has spoken. */
    @Test
    void aNodeOfWhichTheTransportHearsNothingIsTakenForGoneEarlier() {
        a.hearsNothingOf(b);
        simulation.run(Duration.ofSeconds(30));
        assertThat(a.reaches("b")).as("its frames arrive").isTrue();

        SimulatedNetwork.Faults good = SimulatedNetwork.Faults.NONE;
        network.faults(new SimulatedNetwork.Faults(
                good.shortest(), good.longest(), good.inOrder(), 1, good.doubled(), good.detection()));
        simulation.run(Duration.ofSeconds(6));
        assertThat(a.reaches("b")).isTrue();
        simulation.run(Duration.ofSeconds(3));
        assertThat(a.reaches("b")).isFalse();
        assertThat(b.reaches("a")).as("it may be busy").isTrue();

        network.faults(good);
        simulation.run(WHILE);
        assertThat(a.reaches("b")).isTrue();
    }

    @Test
    void whatComesAfterTheEndOfTheLoopIsNoFailure() {
        Directory directory = new Directory(
                task -> {
                    throw new RejectedExecutionException();
                },
                a::node,
                true);

        assertThatCode(() -> directory.claim(identity("c"), false).block()).isInstanceOf(ClaimRefusedException.class);
        assertThatCode(() -> directory.subscribed().block()).doesNotThrowAnyException();
        assertThatCode(() -> directory.settled(identity("c"))).doesNotThrowAnyException();
    }
}
