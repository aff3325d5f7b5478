// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The steps of nodes that serve the sessions of a failed one, "home". */
class HomeServersTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Simulation simulation = new Simulation(9);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final Map<String, SimulatedNode> nodes = new HashMap<>();
    private final List<String> settled = new ArrayList<>();

    private SimulatedNode start(String nodeId, long epoch) {
        SimulatedNode node = new SimulatedNode(simulation, network, nodeId, epoch, ClusterSettings.defaults());
        nodes.put(nodeId, node);
        return node;
    }

    /** The home has a subscription for "t", and is away. */
    private void cluster(String... others) {
        SimulatedNode home = start("home", 1);
        for (String other : others) {
            start(other, 1);
        }
        simulation.run(WHILE);
        home.subscribe("t");
        simulation.run(WHILE);
        home.crash();
        simulation.run(WHILE);
    }

    private SimulatedNode node(String nodeId) {
        return nodes.get(nodeId);
    }

    private HomeServers servers(String nodeId) {
        return node(nodeId).node().clients().servers();
    }

    private void publish(String nodeId, long number) {
        node(nodeId).publish("t", number, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
    }

    private int parked(String nodeId) {
        return node(nodeId).outboxTo("home").park().size();
    }

    private List<Long> arrived(String nodeId) {
        return node(nodeId).arrivals().stream()
                .map(SimulatedNode.Arrival::number)
                .toList();
    }

    private void adopt(String server, long reign) {
        servers(server)
                .serve(
                        (of, done) -> {
                            node(server).subscribe("t");
                            done.run();
                        },
                        of -> {},
                        of -> settled.add(server));
        node(server).node().execute(() -> servers(server).adopted("home", reign, List.of(), null));
    }

    private boolean[] giveBack(String server) {
        boolean[] given = new boolean[1];
        node(server)
                .node()
                .execute(() -> servers(server).ending("home", () -> {
                    node(server).unsubscribe("t");
                    given[0] = true;
                }));
        return given;
    }

    private void cutBoth(String one, String other) {
        network.cut(one, other);
        network.cut(other, one);
    }

    @Test
    void theEndOfAnEarlierReignIsAnsweredAndChangesNothing() {
        cluster("b", "c", "d");
        adopt("b", 1);
        simulation.run(WHILE);
        adopt("c", 2);
        simulation.run(WHILE);
        boolean[] given = giveBack("b");
        simulation.run(WHILE);
        assertThat(given[0]).isTrue();
        assertThat(settled).containsExactly("b", "c");

        publish("d", 5);
        simulation.run(WHILE);

        assertThat(arrived("c")).containsExactly(5L);
        assertThat(parked("d")).isZero();
    }

    @Test
    void aServerWhoseReignIsOverPassesOnToTheNextOne() {
        cluster("b", "c", "d");
        publish("b", 1);
        publish("b", 2);
        simulation.run(WHILE);
        node("b").holdsSentOn();
        adopt("b", 1);
        simulation.run(Duration.ofMillis(500));
        adopt("c", 2);
        simulation.run(Duration.ofMillis(500));
        giveBack("b");
        simulation.run(Duration.ofMillis(500));
        node("b").releaseSentOn(false);
        simulation.run(LONG);

        assertThat(settled).containsExactly("c");
        assertThat(arrived("c")).containsExactly(1L, 2L);
        assertThat(parked("b")).isZero();
    }

    @Test
    void aNodeThatIsAwayForAMomentParksNothingAfterwards() {
        cluster("b", "d");
        adopt("b", 1);
        simulation.run(WHILE);
        cutBoth("b", "d");
        simulation.run(LONG);
        assertThat(node("d").reaches("b")).isFalse();
        publish("d", 1);
        simulation.run(WHILE);
        assertThat(parked("d")).isEqualTo(1);
        network.healAll();
        simulation.run(LONG);
        int before = arrived("b").size();

        publish("d", 2);
        simulation.run(LONG);

        assertThat(parked("d")).isZero();
        assertThat(arrived("b").subList(before, arrived("b").size())).containsExactly(2L);
    }

    @Test
    void aNodeThatHasNotHeardOfAReturnParksForTheHomeWhenThatFailsAgain() {
        cluster("b", "d");
        adopt("b", 1);
        simulation.run(WHILE);
        network.cut("d", "b"); // b notices, d does not
        node("b")
                .node()
                .execute(() -> node("b").node().membership().down(node("d").process()));
        boolean[] given = giveBack("b");
        simulation.run(Duration.ofMillis(500));
        assertThat(given[0]).isTrue();
        network.healAll();
        assertThat(node("d").reaches("b")).isTrue();
        SimulatedNode home = start("home", 2);
        home.subscribe("t");
        simulation.run(LONG);
        home.crash();
        simulation.run(WHILE);

        publish("d", 1);
        simulation.run(WHILE);

        assertThat(parked("d")).isEqualTo(1);
    }

    /** When the home was there, and fails again, the others park for it; then they hear that it is served. */
    @Test
    void theServerOfAHomeThatWasThereForAMomentRepeatsItsSteps() {
        cluster("b", "d");
        adopt("b", 1);
        simulation.run(WHILE);
        SimulatedNode home = start("home", 2);
        home.subscribe("t");
        simulation.run(WHILE);
        home.crash();
        simulation.run(LONG);

        publish("d", 1);
        simulation.run(LONG);

        assertThat(arrived("b")).containsExactly(1L);
        assertThat(parked("d")).isZero();
    }

    @Test
    void aNodeOfAnEarlierVersionIsNotAwaited() {
        cluster("b");
        List<Frame> said = new ArrayList<>();
        ClientWire wire =
                new RecordingWire(simulation, said, List.of("earlier"), List.of("earlier"), List.of("earlier"));
        Wills wills = new Wills(wire, node("b").clients(), WHILE, () -> {});
        HomeServers servers =
                new HomeServers(wire, node("b"), home -> null, done -> done.accept(true), Runnable::run, wills, WHILE);
        servers.serve((home, done) -> done.run(), home -> {}, settled::add);

        servers.adopted("home", 1, List.of(), null);
        simulation.run(WHILE);

        assertThat(settled).containsExactly("home");
        assertThat(said).isEmpty();
    }

    @Test
    void aNodeSaysThatItKnowsTheFramesOfServers() {
        Frame.Hello hello = (Frame.Hello) new NodeMetadata("test", "here", 1, false, "").hello(false, true);
        assertThat(hello.features() & Frame.SERVERS).isNotZero();
        Frame.Hello earlier = new Frame.Hello(1, 1, Frame.JOINED | Frame.ANSWERS, "earlier", false, 1, "there", "");
        cluster("b", "d");
        Member member = node("b").node().membership().find("d");
        assertThat(member.ignoresServers()).isFalse();
        member.heard(earlier, Frame.NOTHING, simulation.nanoTime());
        assertThat(member.ignoresServers()).isTrue();
    }
}
