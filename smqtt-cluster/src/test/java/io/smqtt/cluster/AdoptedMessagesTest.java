// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.AdoptionWatch;
import io.smqtt.session.NodeQueues;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.test.store.ManualStore;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages for the sessions of a failed node "home", which "b" or "c" serves in its place; "d" publishes, and keeps what it acknowledged. */
class AdoptedMessagesTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String QUEUE = NodeQueues.id("home");
    private static final String GROUP = "$share/g/t";

    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final ManualStore store = new ManualStore(simulation);
    private SimulatedNode home = node("home", 1);
    private SimulatedNode b = node("b", 1);
    private SimulatedNode c = node("c", 1);
    private final SimulatedNode d = new SimulatedNode(
            simulation,
            network,
            "d",
            1,
            ClusterSettings.defaults(),
            new ParkLimits(Duration.ofHours(1), 1 << 30, false),
            store);
    private final List<String> settled = new ArrayList<>();

    private SimulatedNode node(String nodeId, long epoch) {
        return new SimulatedNode(simulation, network, nodeId, epoch, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
        home.subscribe("t");
        simulation.run(WHILE);
    }

    private Ticket publish(long number) {
        Ticket ticket = new Ticket();
        d.publish("t", number, QoS.AT_LEAST_ONCE, ticket);
        return ticket;
    }

    private List<Ticket> publishAll(int from, int to) {
        List<Ticket> tickets = new ArrayList<>();
        for (int i = from; i < to; i++) {
            tickets.add(publish(i));
        }
        return tickets;
    }

    private static List<Long> numbers(int from, int to) {
        return LongStream.range(from, to).boxed().toList();
    }

    private static List<Long> arrived(SimulatedNode node) {
        return node.arrivals().stream().map(SimulatedNode.Arrival::number).toList();
    }

    private void failHome() {
        home.crash();
        simulation.run(WHILE);
    }

    private void returnOfHome() {
        home = node("home", 2);
        home.subscribe("t");
        simulation.run(LONG);
    }

    /** A node has the sessions of the home, and a subscription for them. */
    private void adopt(SimulatedNode server, long reign, String... leftOut) {
        HomeServers servers = server.node().clients().servers();
        servers.serve(
                (of, done) -> {
                    server.subscribe("t");
                    done.run();
                },
                of -> {},
                of -> settled.add(server.nodeId()));
        server.node().execute(() -> servers.adopted("home", reign, List.of(leftOut), null));
    }

    /** It forgets them. */
    private void giveBack(SimulatedNode server, Runnable done) {
        server.node()
                .execute(() -> server.node().clients().servers().ending("home", () -> {
                    server.unsubscribe("t");
                    done.run();
                }));
    }

    @Test
    void whatWasParkedStaysUntilTheServerHasIt() {
        failHome();
        publishAll(0, 2_500);
        simulation.run(WHILE);
        b.takesUpTo(Duration.ofHours(1).toNanos());
        adopt(b, 1);
        simulation.run(WHILE);
        assertThat(arrived(b)).isNotEmpty();
        assertThat(store.messages(QUEUE)).hasSize(2_500);
        b.crash();
        simulation.run(WHILE);

        returnOfHome();

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 2_500));
        assertThat(d.outboxTo("b").park().size()).isZero();
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void whatWasParkedGoesToTheServerInItsOrderAndIsRemoved() {
        failHome();
        publishAll(0, 2_500);
        simulation.run(WHILE);
        b.takesUpTo(Duration.ofMillis(5).toNanos());
        adopt(b, 1);
        simulation.run(LONG);

        assertThat(settled).containsExactly("b");
        assertThat(arrived(b)).containsExactlyElementsOf(numbers(0, 2_500));
        assertThat(store.messages(QUEUE)).isEmpty();
        publishAll(2_500, 2_510);
        simulation.run(WHILE);
        assertThat(arrived(b)).containsExactlyElementsOf(numbers(0, 2_510));
        assertThat(d.outboxTo("home").park().size()).isZero();
        assertThat(d.outboxTo("b").size()).isZero();
        assertThat(d.outboxTo("b").bytes()).isZero();
    }

    @Test
    void whatIsOnItsWayToAServerThatFailsIsKeptForTheHome() {
        failHome();
        adopt(b, 1);
        simulation.run(WHILE);
        assertThat(settled).containsExactly("b");
        b.takesUpTo(Duration.ofHours(1).toNanos());
        List<Ticket> tickets = publishAll(0, 100);
        simulation.run(Duration.ofMillis(100));
        assertThat(arrived(b)).hasSize(100);
        assertThat(tickets).allMatch(Ticket::isOpen);
        b.crash();
        simulation.run(LONG);
        assertThat(tickets).noneMatch(ticket -> ticket.isOpen() || ticket.failed);

        returnOfHome();

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 100));
    }

    @Test
    void aPublisherWaitsUntilItsMessageIsKeptForTheHome() {
        failHome();
        adopt(b, 1);
        simulation.run(WHILE);
        b.takesUpTo(Duration.ofHours(1).toNanos());
        Ticket ticket = publish(1);
        simulation.run(Duration.ofMillis(100));
        store.hold();
        b.crash();
        simulation.run(LONG);
        assertThat(ticket.isOpen()).isTrue();

        store.release();
        simulation.run(WHILE);

        assertThat(ticket.isOpen()).isFalse();
        assertThat(store.messages(QUEUE)).hasSize(1);
    }

    @Test
    void theNextServerGetsWhatWasOnItsWayToTheOneBefore() {
        failHome();
        adopt(b, 1);
        simulation.run(WHILE);
        b.takesUpTo(Duration.ofHours(1).toNanos());
        publishAll(0, 100);
        simulation.run(Duration.ofMillis(100));
        b.crash();
        simulation.run(WHILE);
        adopt(c, 2);
        simulation.run(WHILE);

        assertThat(settled).containsExactly("b", "c");
        assertThat(arrived(c)).containsExactlyElementsOf(numbers(0, 100));
        assertThat(store.messages(QUEUE)).isEmpty();
    }

    @Test
    void aMessageThatComesAfterTheReturnIsRefusedAndGoesToTheHome() {
        failHome();
        adopt(b, 1);
        simulation.run(WHILE);
        network.cut("d", "b"); // b notices, d does not
        Ticket late = publish(1);
        simulation.run(Duration.ofMillis(200));
        boolean[] given = new boolean[1];
        b.node().execute(() -> b.node().membership().down(d.process()));
        giveBack(b, () -> given[0] = true);
        simulation.run(Duration.ofMillis(500));
        assertThat(given[0]).isTrue();
        assertThat(d.reaches("b")).isTrue();
        assertThat(late.isOpen()).isTrue();
        network.healAll();
        simulation.run(LONG);
        assertThat(late.isOpen()).isFalse();
        assertThat(late.failed).isFalse();

        returnOfHome();

        assertThat(arrived(home)).contains(1L);
    }

    /** A frame of messages for the sessions of a node that the receiver does not serve. */
    @Test
    void messagesForSessionsThatANodeDoesNotServeAreRefused() {
        failHome();
        publishAll(0, 10);
        simulation.run(WHILE);
        List<Boolean> answers = new ArrayList<>();
        d.node()
                .execute(() -> d.outboxTo("b")
                        .take(
                                ApplicationMessage.builder("t")
                                        .payload("77")
                                        .qos(QoS.EXACTLY_ONCE)
                                        .build(),
                                "home",
                                answers::add));
        simulation.run(WHILE);

        assertThat(answers).containsExactly(false);
        assertThat(arrived(b)).isEmpty();
    }

    @Test
    void messagesThatAServerCouldNotStoreComeBeforeLaterOnes() {
        failHome();
        publishAll(0, 2_500);
        simulation.run(WHILE);
        b.cannotTake(700);
        adopt(b, 1);
        simulation.run(WHILE);
        assertThat(arrived(b)).contains(700L).doesNotContain(1_500L);

        b.cannotTake(-1);
        simulation.run(WHILE);

        assertThat(arrived(b).stream().distinct()).containsExactlyInAnyOrderElementsOf(numbers(0, 2_500));
        assertThat(store.messages(QUEUE)).isEmpty();
    }

    @Test
    void messagesThatAServerRefusedGoHomeInTheirOrder() {
        failHome();
        publishAll(0, 300);
        simulation.run(WHILE);
        b.takesUpTo(Duration.ofMillis(100).toNanos());
        b.refuses(number -> number % 3 != 0);
        adopt(b, 1);
        simulation.run(Duration.ofMillis(400));
        boolean[] given = new boolean[1];
        giveBack(b, () -> given[0] = true);
        simulation.run(WHILE);
        assertThat(given[0]).isTrue();
        assertThat(d.outboxTo("home").park().size()).isEqualTo(200);

        returnOfHome();

        List<Long> expected =
                numbers(0, 300).stream().filter(number -> number % 3 != 0).toList();
        assertThat(arrived(home)).containsExactlyElementsOf(expected);
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void messagesForSessionsThatAreLeftOutStayParked() {
        failHome();
        publishAll(0, 2_500);
        simulation.run(WHILE);
        adopt(b, 1, "other", "+");
        simulation.run(WHILE);
        assertThat(settled).containsExactly("b");
        assertThat(arrived(b)).containsExactlyElementsOf(numbers(0, 2_500));
        publishAll(2_500, 2_600);
        simulation.run(WHILE);
        assertThat(arrived(b)).containsExactlyElementsOf(numbers(0, 2_600));
        boolean[] given = new boolean[1];
        giveBack(b, () -> given[0] = true);
        simulation.run(WHILE);
        assertThat(given[0]).isTrue();

        returnOfHome();

        assertThat(arrived(home)).containsExactlyElementsOf(numbers(0, 2_600));
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void messagesThatNoSessionWhichIsLeftOutWantsAreNotParked() {
        failHome();
        adopt(b, 1, "other");
        simulation.run(WHILE);

        publishAll(0, 100);
        simulation.run(WHILE);

        assertThat(arrived(b)).hasSize(100);
        assertThat(d.outboxTo("home").park().size()).isZero();
    }

    @Test
    void copiesThatAServerCouldNotStoreAreSentAgain() {
        failHome();
        publishAll(0, 2_500);
        simulation.run(WHILE);
        b.cannotTake(700);
        adopt(b, 1, AdoptionWatch.EVERYTHING);
        simulation.run(WHILE);
        assertThat(arrived(b)).contains(700L).doesNotContain(1_500L);
        assertThat(settled).isEmpty();
        b.cannotTake(-1);
        simulation.run(WHILE);

        assertThat(settled).containsExactly("b");
        assertThat(arrived(b).stream().distinct()).containsExactlyInAnyOrderElementsOf(numbers(0, 2_500));
        assertThat(store.messages(QUEUE)).hasSize(2_500);
    }

    /** The home may have the message of a group member there. Its store, which another node serves, says so. */
    private void publishForAGroup(long... numbers) {
        network.cut("d", "home");
        for (long number : numbers) {
            d.publishShared(GROUP, "home", number, QoS.EXACTLY_ONCE, RouteTicket.NONE);
        }
        simulation.run(Duration.ofMillis(100));
        failHome();
        network.healAll();
        assertThat(d.requeued()).isEmpty();
    }

    private void adoptWithThreeForAGroup(SimulatedNode server, String name) {
        publishForAGroup(1, 2, 3);
        adopt(server, 1);
        simulation.run(WHILE);

        assertThat(settled).containsExactly(name);
        assertThat(d.requeued()).hasSize(3).containsOnly(SharedFilter.of(GROUP));
        assertThat(d.outboxTo("home").size()).isZero();
        assertThat(d.outboxTo("home").bytes()).isZero();
        assertThat(store.messages(QUEUE)).isEmpty();
    }

    @Test
    void messagesOfAGroupGoToOthersWhenTheStoreIsServed() {
        adoptWithThreeForAGroup(b, "b");
    }

    @Test
    void theServerItselfGivesMessagesOfAGroupToOthers() {
        adoptWithThreeForAGroup(d, "d");
    }

    @Test
    void messagesOfAGroupWaitUntilTheHomeCanBeAsked() {
        publishForAGroup(1, 2);
        simulation.run(LONG);
        assertThat(d.requeued()).isEmpty();
        assertThat(store.messages(QUEUE)).hasSize(2);

        returnOfHome();

        assertThat(arrived(home)).isEmpty();
        assertThat(d.requeued()).hasSize(2).containsOnly(SharedFilter.of(GROUP));
        assertThat(d.outboxTo("home").size()).isZero();
        assertThat(d.outboxTo("home").park().size()).isZero();
    }

    @Test
    void aMessageForAllAndForAGroupGoesBothWays() {
        network.cut("d", "home");
        d.publishToAllAndGroup(GROUP, "home", 1, QoS.EXACTLY_ONCE, RouteTicket.NONE);
        simulation.run(Duration.ofMillis(100));
        failHome();
        network.healAll();
        adopt(b, 1);
        simulation.run(WHILE);

        assertThat(b.arrivals()).filteredOn(SimulatedNode.Arrival::toAll).hasSize(1);
        assertThat(d.requeued()).containsExactly(SharedFilter.of(GROUP));
        assertThat(store.messages(QUEUE)).isEmpty();
    }

    /** The connection of the store may end before that of the cluster. */
    @Test
    void aNodeThatDoesNotSeeTheFailureYetKeepsAServerWaiting() {
        network.cut("d", "home");
        publishAll(0, 100);
        simulation.run(Duration.ofMillis(200));
        b.node().execute(() -> b.node().membership().down(home.process()));
        adopt(b, 1);
        simulation.run(WHILE);
        assertThat(d.reaches("home")).isTrue();
        assertThat(settled).isEmpty();
        assertThat(arrived(b)).isEmpty();

        d.node().execute(() -> d.node().membership().down(home.process()));
        simulation.run(WHILE);

        assertThat(settled).containsExactly("b");
        assertThat(arrived(b)).containsExactlyElementsOf(numbers(0, 100));
        assertThat(store.messages(QUEUE)).isEmpty();
    }

    /** Unacknowledged messages for the home are copied for the adopted sessions, and stay for those that are not adopted. */
    @Test
    void whatTheHomeMayHaveIsCopiedIfSessionsAreLeftOut() {
        network.cut("d", "home");
        publishAll(0, 100);
        simulation.run(Duration.ofMillis(100));
        failHome();
        network.healAll();
        adopt(b, 1, AdoptionWatch.EVERYTHING);
        simulation.run(WHILE);

        assertThat(settled).containsExactly("b");
        assertThat(arrived(b)).containsExactlyElementsOf(numbers(0, 100));
        assertThat(store.messages(QUEUE)).hasSize(100);
    }

    private void publishSlowly(int from, int to) {
        publishSlowly(d, from, to);
    }

    /** The server has a session of its own with the same filter, so each message comes to it at once, too. */
    @Test
    void adoptedSessionsGetEachMessageOnceAndInOrder() {
        b.subscribe("t");
        b.takesUpTo(Duration.ofMillis(5).toNanos());
        failHome();
        publishSlowly(0, 500);
        adopt(b, 1);
        publishSlowly(500, 2_500);
        simulation.run(WHILE);

        assertThat(settled).containsExactly("b");
        assertThat(b.arrivalsFor("home")).containsExactlyElementsOf(numbers(0, 2_500));
        assertThat(store.messages(QUEUE)).isEmpty();
        assertThat(d.outboxTo("b").size()).isZero();
        boolean[] given = new boolean[1];
        giveBack(b, () -> given[0] = true);
        publishSlowly(2_500, 3_000);
        simulation.run(WHILE);
        assertThat(given[0]).isTrue();

        returnOfHome();

        List<Long> all = new ArrayList<>(b.arrivalsFor("home"));
        all.addAll(arrived(home));
        assertThat(all.stream().distinct()).containsExactlyElementsOf(numbers(0, 3_000));
    }

    /** Whatever the server has done by then. */
    @ParameterizedTest
    @ValueSource(ints = {20, 40, 60, 80, 100, 150, 200, 300, 400, 600})
    void whatTheServerHasNotAcceptedWhenItFailsGoesHome(int afterMillis) {
        b.subscribe("t");
        b.takesUpTo(Duration.ofMillis(20).toNanos());
        failHome();
        publishSlowly(0, 50);
        adopt(b, 1);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < afterMillis; i++) {
            tickets.add(publish(50 + i));
            simulation.run(Duration.ofMillis(1));
        }
        b.crash();
        simulation.run(LONG);
        assertThat(tickets).noneMatch(ticket -> ticket.isOpen() || ticket.failed);

        returnOfHome();

        List<Long> all = new ArrayList<>(b.acceptedFor("home"));
        all.addAll(arrived(home));
        assertThat(all).containsAll(numbers(0, 50 + afterMillis));
        assertThat(d.outboxTo("b").size()).isZero();
    }

    /** A node that was started while the home was away does not know its routes: it keeps all that the home may want. */
    @Test
    void aNodeThatDoesNotKnowTheHomeKeepsMessagesForIt() {
        failHome();
        adopt(b, 1);
        simulation.run(WHILE);
        SimulatedNode e = node("e", 1);
        publishSlowly(e, 0, 1_000);
        List<Long> sent = arrived(b).stream().distinct().toList();
        assertThat(sent).contains(999L);
        assertThat(b.arrivalsFor("home").stream().distinct()).containsExactlyElementsOf(sent);
        assertThat(e.outboxTo("home").park().size()).isZero();
        boolean[] given = new boolean[1];
        giveBack(b, () -> given[0] = true);
        publishSlowly(e, 1_000, 1_500);
        assertThat(given[0]).isTrue();
        publishSlowly(e, 1_500, 2_000);

        returnOfHome();
        publishSlowly(e, 2_000, 2_010);
        simulation.run(WHILE);

        List<Long> all = new ArrayList<>(b.arrivalsFor("home"));
        all.addAll(arrived(home));
        assertThat(all.stream().distinct()).containsExactlyElementsOf(numbers((int) (long) sent.get(0), 2_010));
        assertThat(e.rowsOf("home")).containsOnlyKeys("t");
    }

    private void publishSlowly(SimulatedNode from, int first, int end) {
        for (int i = first; i < end; i++) {
            from.publish("t", i, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
            simulation.run(Duration.ofMillis(2));
        }
    }

    /** The acknowledgement of a publisher. */
    private static final class Ticket implements RouteTicket {

        private int holds;
        private boolean failed;

        boolean isOpen() {
            return holds > 0;
        }

        @Override
        public void hold() {
            holds++;
        }

        @Override
        public void release(boolean success) {
            holds--;
            failed |= !success;
        }

        @Override
        public boolean waitsForStore() {
            return true;
        }

        @Override
        public boolean wantsStable() {
            return true;
        }
    }
}
