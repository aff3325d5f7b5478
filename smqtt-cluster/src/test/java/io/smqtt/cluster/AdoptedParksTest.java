// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.NodeQueues;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.test.store.ManualStore;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Node "d" has parked messages for "home", and fails; "b" adopts its store. */
class AdoptedParksTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String QUEUE = NodeQueues.id("home");
    private static final String GROUP = "$share/g/t";

    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final ManualStore storeOfB = new ManualStore(simulation);
    private final ManualStore storeOfD = new ManualStore(simulation);
    private ManualStore adopted = storeOfD;
    private SimulatedNode home = node("home", 1, new ManualStore(simulation));
    private SimulatedNode b = node("b", 1, storeOfB);
    private final SimulatedNode d = node("d", 1, storeOfD);

    private SimulatedNode node(String nodeId, long epoch, ManualStore store) {
        ParkLimits limits = new ParkLimits(Duration.ofHours(1), 1 << 30, false);
        return new SimulatedNode(simulation, network, nodeId, epoch, ClusterSettings.defaults(), limits, store);
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
        home.subscribe("t");
        simulation.run(WHILE);
    }

    private static void publish(SimulatedNode from, int first, int end) {
        for (int i = first; i < end; i++) {
            from.publish("t", i, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        }
    }

    private static List<Long> numbers(int first, int end) {
        return LongStream.range(first, end).boxed().toList();
    }

    private static List<Long> arrived(SimulatedNode node) {
        return node.arrivals().stream().map(SimulatedNode.Arrival::number).toList();
    }

    private void failHome() {
        home.crash();
        simulation.run(WHILE);
    }

    private void failD() {
        simulation.run(WHILE);
        d.crash();
        simulation.run(WHILE);
        adopted = storeOfD.reopened(simulation);
    }

    private void adopt(SimulatedNode server, long reign) {
        NodeQueues parked = server.queuesIn(adopted);
        server.node().execute(() -> server.node().clients().servers().adopted("d", reign, List.of(), parked));
        simulation.run(WHILE);
    }

    private void giveBack(SimulatedNode server) {
        boolean[] given = new boolean[1];
        server.node().execute(() -> server.node().clients().servers().ending("d", () -> given[0] = true));
        simulation.run(WHILE);
        assertThat(given[0]).isTrue();
    }

    private void returnOfHome() {
        home = node("home", 2, new ManualStore(simulation));
        home.subscribe("t");
        simulation.run(LONG);
    }

    @Test
    void theAdopterHasThemForTheReturnOfTheirReceiver() {
        failHome();
        publish(d, 0, 2_500);
        failD();
        adopt(b, 1);
        assertThat(adopted.messages(QUEUE)).isEmpty();
        assertThat(adopted.subscriptions(QUEUE)).containsExactly("t"); // for the return of d
        assertThat(storeOfB.messages(QUEUE)).hasSize(2_500);

        returnOfHome();

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 2_500));
        assertThat(storeOfB.session(QUEUE)).isEmpty();
    }

    @Test
    void aReceiverThatIsThereGetsThemAtOnce() {
        failHome();
        publish(d, 0, 300);
        failD();
        returnOfHome();
        assertThat(arrived(home)).isEmpty();

        adopt(b, 1);

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 300));
        assertThat(adopted.messages(QUEUE)).isEmpty();
        assertThat(b.outboxTo("home").size()).isZero();
    }

    @Test
    void theReceiverItselfAdoptsThem() {
        failHome();
        publish(d, 0, 300);
        failD();
        returnOfHome();

        adopt(home, 1);

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 300));
        assertThat(adopted.messages(QUEUE)).isEmpty();
    }

    @Test
    void whatTheReceiverRefusesIsTriedAgain() {
        failHome();
        publish(d, 0, 300);
        failD();
        returnOfHome();
        home.refuses(number -> number == 7);
        adopt(home, 1);
        assertThat(adopted.messages(QUEUE)).hasSize(1);
        home.refuses(number -> false);
        simulation.run(WHILE);

        assertThat(arrived(home).stream().distinct()).containsExactlyElementsOf(numbers(0, 300));
        assertThat(adopted.messages(QUEUE)).isEmpty();
    }

    @Test
    void anAdopterWithoutRoomKeepsThemWhereTheyAre() {
        failHome();
        publish(d, 0, 300);
        failD();
        storeOfB.fail();
        adopt(b, 1);
        assertThat(adopted.messages(QUEUE)).hasSize(300);
        storeOfB.heal();
        simulation.run(LONG);
        assertThat(adopted.messages(QUEUE)).isEmpty();

        returnOfHome();

        assertThat(arrived(home)).containsExactlyInAnyOrderElementsOf(numbers(0, 300));
    }

    @Test
    void theNextAdopterMovesTheRest() {
        failHome();
        publish(d, 0, 300);
        failD();
        storeOfB.hold(); // nothing is safe there
        adopt(b, 1);
        assertThat(adopted.messages(QUEUE)).hasSize(300);
        b.crash();
        simulation.run(WHILE);
        returnOfHome();

        adopt(home, 2);

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 300));
        assertThat(adopted.messages(QUEUE)).isEmpty();
    }

    @Test
    void nothingIsMovedAfterTheEndOfTheAdoption() {
        failHome();
        publish(d, 0, 2_500);
        failD();
        storeOfB.hold();
        adopt(b, 1);
        giveBack(b);
        storeOfB.release();
        simulation.run(LONG);

        assertThat(adopted.messages(QUEUE)).hasSize(2_500);
    }

    @Test
    void whatIsDamagedStaysForItsNode() {
        failHome();
        publish(d, 0, 300);
        failD();
        long row = adopted.messages(QUEUE).get(100).sequence();
        adopted.damage(QUEUE, row);
        adopt(b, 1);
        assertThat(adopted.messages(QUEUE)).hasSize(1);

        returnOfHome();

        List<Long> others =
                numbers(0, 300).stream().filter(number -> number != 100).toList();
        assertThat(arrived(home)).containsExactlyElementsOf(others);
    }

    /** The sessions of "home" are with the adopter of "d" already. */
    @Test
    void whatWasParkedForAnAdoptedNodeComesToItsSessions() {
        failHome();
        publish(d, 0, 300);
        failD();
        b.node().execute(() -> b.node().clients().servers().adopted("home", 1, List.of(), null));
        simulation.run(WHILE);
        assertThat(b.arrivalsFor("home")).isEmpty();

        adopt(b, 1);

        assertThat(b.arrivalsFor("home")).containsExactlyElementsOf(numbers(0, 300));
        assertThat(adopted.messages(QUEUE)).isEmpty();
        assertThat(storeOfB.messages(QUEUE)).isEmpty();
    }

    private void publishInFlightToAGroup(boolean toAll) {
        network.cut("d", "home");
        if (toAll) {
            d.publishToAllAndGroup(GROUP, "home", 1, QoS.EXACTLY_ONCE, RouteTicket.NONE);
        } else {
            d.publishShared(GROUP, "home", 1, QoS.EXACTLY_ONCE, RouteTicket.NONE);
        }
        simulation.run(Duration.ofMillis(100));
        failHome();
        network.healAll();
    }

    @Test
    void whatWasInFlightToAGroupSurvivesItsSender() {
        publishInFlightToAGroup(false);
        failD();
        adopt(b, 1);
        assertThat(adopted.messages(QUEUE)).isEmpty();
        assertThat(b.requeued()).isEmpty();

        returnOfHome();

        assertThat(home.arrivals()).isEmpty();
        assertThat(b.requeued()).containsExactly(SharedFilter.of(GROUP));
        assertThat(storeOfB.session(QUEUE)).isEmpty();
    }

    @Test
    void whatWasInFlightToAllAndToAGroupSurvivesItsSender() {
        publishInFlightToAGroup(true);
        failD();
        adopt(b, 1);

        returnOfHome();

        assertThat(home.arrivals()).singleElement().satisfies(arrival -> {
            assertThat(arrival.groups()).isEmpty();
            assertThat(arrival.toAll()).isTrue();
        });
        assertThat(b.requeued()).containsExactly(SharedFilter.of(GROUP));
    }

    @Test
    void whatWasInFlightToAGroupSurvivesTheRestartOfItsSender() {
        publishInFlightToAGroup(false);
        simulation.run(WHILE);
        d.crash();
        simulation.run(WHILE);
        SimulatedNode next = node("d", 2, storeOfD.reopened(simulation));
        simulation.run(WHILE);
        assertThat(next.outboxTo("home").park().size()).isEqualTo(1);

        returnOfHome();

        assertThat(home.arrivals()).isEmpty();
        assertThat(next.requeued()).containsExactly(SharedFilter.of(GROUP));
        assertThat(next.outboxTo("home").park().size()).isZero();
    }

    @Test
    void theReceiverItselfGivesWhatWasInFlightToItsGroup() {
        publishInFlightToAGroup(false);
        failD();
        returnOfHome();

        adopt(home, 1);

        assertThat(home.requeued()).containsExactly(SharedFilter.of(GROUP));
        assertThat(adopted.messages(QUEUE)).isEmpty();
    }
}
