// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Will;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Front nodes of a simulated cluster: members that hold nothing of others. */
class FrontMembersTest {

    private final Simulation simulation = new Simulation(11);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, 1, ClusterSettings.defaults());
    }

    private void run(int seconds) {
        simulation.run(Duration.ofSeconds(seconds));
    }

    private static Will will() {
        return new Will(ApplicationMessage.builder("will").payload("w").build(), 0);
    }

    private static List<String> peersOf(SimulatedNode node) {
        return node.node().view().peers().stream()
                .map(ClusterStatus.PeerStatus::node)
                .map(ClusterStatus.Node::nodeId)
                .toList();
    }

    @Test
    void theyKeepNoWills() {
        SimulatedNode a = node("a");
        SimulatedNode front = node("front-1");
        SimulatedNode other = node("front-2");
        run(3);
        a.node().clients().wills().inForce("client", null, will(), 0);
        run(3);
        assertThat(front.node().clients().wills().status().held()).isZero();
        assertThat(other.node().clients().wills().status().held()).isZero();

        SimulatedNode b = node("b");
        run(3);

        assertThat(b.node().clients().wills().status().held()).isOne();
    }

    @Test
    void theyRefuseSessionsThatAnOlderNodeOffersThem() {
        SimulatedNode a = node("a");
        SimulatedNode front = node("front-1");
        run(3);
        a.clients().open("client");
        a.node().clients().drain(a.clients().clientIds(), result -> {});
        run(1);

        front.node().clients().accept(new NodeIdentity("a", 1), new Frame.Inherit("client", null, null));
        run(10);

        assertThat(front.clients().sessions()).isEmpty();
        assertThat(a.clients().sessions()).containsKey("client");
    }

    @Test
    void oneThatIsGoneIsForgottenAtOnce() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        SimulatedNode front = node("front-1");
        front.subscribe("topic", false);
        run(3);
        assertThat(peersOf(a)).containsExactly("b", "front-1");
        assertThat(a.rowsOf("front-1")).containsOnlyKeys("topic");

        front.crash();
        b.crash();
        run(3);

        assertThat(peersOf(a)).containsExactly("b"); // which has sessions, and is awaited
        assertThat(a.rowsOf("front-1")).isEmpty();
    }

    @Test
    void oneThatReturnsIsKnownAgain() {
        SimulatedNode a = node("a");
        SimulatedNode front = node("front-1");
        front.subscribe("topic", false);
        run(3);
        network.cut("a", "front-1");
        network.cut("front-1", "a");
        run(3);
        assertThat(peersOf(a)).isEmpty();

        network.healAll();
        run(5);

        assertThat(peersOf(a)).containsExactly("front-1");
        assertThat(a.rowsOf("front-1")).isEqualTo(front.expectedRows());
    }

    @Test
    void aNodeThatSaysLateThatItIsAFrontNodeKeepsWillsNoLonger() {
        List<Frame> said = new ArrayList<>();
        List<String> keepers = new ArrayList<>(List.of("x"));
        RecordingWire wire = new RecordingWire(simulation, said, List.of("x"), keepers, List.of());
        Wills wills = new Wills(wire, new SimulatedClients(Runnable::run), Duration.ofSeconds(1), () -> {});
        wills.up("x");
        wills.inForce("client", null, will(), 0);
        assertThat(holders(said)).containsExactly(List.of("x"));

        keepers.clear();
        wills.tick(1);

        assertThat(holders(said)).containsExactly(List.of("x"), List.of());
    }

    private static List<List<String>> holders(List<Frame> said) {
        return said.stream().map(frame -> ((Frame.WillCopy) frame).holders()).toList();
    }
}
