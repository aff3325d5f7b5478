// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.MessageIds;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.DropReason;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ForwardingTest {

    private static final Duration WHILE = Duration.ofSeconds(3);

    private final MessageIds ids = new MessageIds();
    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final ClusterSettings settings = limited(100);
    private SimulatedNode a = node("a", 1);
    private SimulatedNode b = node("b", 1);
    private SimulatedNode c = node("c", 1);

    private static ClusterSettings limited(int queueMessages) {
        ClusterSettings usual = ClusterSettings.defaults();
        return new ClusterSettings(
                usual.flushInterval(),
                usual.digestInterval(),
                usual.pullPatience(),
                Duration.ofMinutes(1),
                usual.retransmit(),
                usual.frameBytes(),
                usual.rowsPerFrame(),
                usual.snapshotFrames(),
                usual.keptChanges(),
                10,
                usual.windowBytes(),
                queueMessages,
                usual.queueBytes(),
                usual.clearedTopics(),
                usual.clearedBytes());
    }

    private SimulatedNode node(String nodeId, long epoch) {
        return new SimulatedNode(simulation, network, nodeId, epoch, settings);
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
    }

    @Tag("slow")
    @Test
    void nodesThatAreAwayForLongAreForgotten() {
        for (int round = 0; round < 3; round++) { // more names than may be known at a time
            for (int i = 0; i < 900; i++) {
                NodeIdentity name = new NodeIdentity("passing-" + round + "-" + i, 1);
                ClusterTransport.Peer passing = new ClusterTransport.Peer() {};
                a.node().up(passing);
                a.node().received(passing, FrameCodec.encode(name, new Frame.Digest(0, 0, 0), 0));
                a.node().down(passing);
            }
            simulation.run(WHILE);
            assertThat(a.node().membership().all()).hasSize(902);
            simulation.run(settings.routeTtl().plus(WHILE));
            assertThat(a.node().membership().all()).extracting(Member::nodeId).containsExactlyInAnyOrder("b", "c");
        }
        assertThat(a.left()).isEqualTo(2_700);
    }

    @Test
    void aNodeThatWasForgottenByOneSideOnlyGetsAllMessagesOnce() {
        b.subscribe("t");
        simulation.run(WHILE);
        for (int i = 0; i < 5; i++) {
            a.publish("t", i, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        }
        simulation.run(WHILE);
        network.cut("b", "a");
        simulation.run(settings.routeTtl().plus(Duration.ofMinutes(1)));
        assertThat(a.node().membership().all()).extracting(Member::nodeId).containsExactly("c");
        assertThat(b.reaches("a")).as("it says nothing").isFalse();
        network.healAll();
        simulation.run(WHILE);

        for (int i = 5; i < 15; i++) {
            a.publish("t", i, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        }
        simulation.run(WHILE);

        assertThat(b.arrivals())
                .extracting(SimulatedNode.Arrival::number)
                .containsExactlyElementsOf(LongStream.range(0, 15).boxed().toList());
        assertThat(a.outboxTo("b").size()).isZero();
    }

    @Test
    void aNodeThatWasForgottenBeginsAnew() {
        b.subscribe("t");
        simulation.run(WHILE);
        b.crash();
        simulation.run(settings.routeTtl().plus(Duration.ofMinutes(1)));
        assertThat(a.node().membership().all()).extracting(Member::nodeId).containsExactly("c");
        b = node("b", 2);
        b.subscribe("t");
        simulation.run(WHILE);

        a.publish("t", 1, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        simulation.run(WHILE);

        assertThat(b.arrivals()).hasSize(1);
    }

    @Test
    void whatIsForAPeerWhoseNumberIsAnotherOnesDoesNotGoThere() {
        b.subscribe("t");
        c.subscribe("t");
        simulation.run(WHILE);
        LoopBuffers buffers = new LoopBuffers(null);
        buffers.toAll(0, a.outboxTo("b"), message("1"), RouteTicket.NONE, true);
        buffers.toAll(0, a.outboxTo("c"), message("2"), RouteTicket.NONE, true);
        simulation.run(WHILE);

        assertThat(b.arrivals()).extracting(SimulatedNode.Arrival::number).containsExactly(1L);
        assertThat(c.arrivals()).extracting(SimulatedNode.Arrival::number).containsExactly(2L);
    }

    @Test
    void aRefusalThatIsToldAgainIsNotThatOfAnotherMessage() {
        b.subscribe("t");
        b.cannotTake(0);
        b.takesUpTo(Duration.ofMillis(20).toNanos());
        simulation.run(WHILE);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            tickets.add(published(i));
            simulation.run(Duration.ofMillis(1)); // a frame for each, before the first is answered
        }
        simulation.run(WHILE);

        assertThat(tickets).noneMatch(Ticket::isOpen);
        assertThat(tickets).extracting(ticket -> ticket.failed).containsExactly(true, false, false, false, false);
    }

    @Test
    void whatAPassHasAtQosZeroStaysInItsPlaceAndCountsOneByOne() {
        b.subscribe("t");
        simulation.run(WHILE);
        for (int i = 0; i < 90; i++) {
            a.publish("t", i, i % 10 == 9 ? QoS.AT_LEAST_ONCE : QoS.AT_MOST_ONCE, RouteTicket.NONE);
        }
        simulation.run(WHILE);

        assertThat(b.arrivals())
                .extracting(SimulatedNode.Arrival::number)
                .containsExactlyElementsOf(LongStream.range(0, 90).boxed().toList());
        assertThat(a.deliveries()).isEqualTo(90);
        assertThat(a.deliveredBytes()).isEqualTo(10 + 2 * 80);
        assertThat(a.outboxTo("b").size()).isZero();
        assertThat(a.outboxTo("b").bytes()).isZero();
    }

    @Test
    void aMessageAtQosZeroForAllAndForAGroupIsOne() {
        b.subscribe("t");
        simulation.run(WHILE);
        LoopBuffers buffers = new LoopBuffers(a::later);
        SharedFilter group = SharedFilter.of("$share/g/t");
        ApplicationMessage first = message("1", QoS.AT_MOST_ONCE);
        ApplicationMessage second = message("2", QoS.AT_MOST_ONCE);
        PeerOutbox outbox = a.outboxTo("b");
        buffers.toAll(0, outbox, first, RouteTicket.NONE, true);
        buffers.toAll(0, outbox, first, RouteTicket.NONE, true);
        buffers.toAll(0, outbox, second, RouteTicket.NONE, true);
        buffers.toGroup(0, outbox, second, RouteTicket.NONE, group);
        buffers.toAll(0, outbox, second, RouteTicket.NONE, true);
        simulation.run(WHILE);

        assertThat(b.arrivals()).extracting(SimulatedNode.Arrival::number).containsExactly(1L, 2L);
        assertThat(b.arrivals()).allMatch(SimulatedNode.Arrival::toAll);
        assertThat(b.arrivals()).extracting(SimulatedNode.Arrival::groups).containsExactly(List.of(), List.of(group));
    }

    private ApplicationMessage message(String text) {
        return message(text, QoS.AT_LEAST_ONCE);
    }

    private ApplicationMessage message(String text, QoS qos) {
        return ApplicationMessage.builder("t")
                .payload(text)
                .qos(qos)
                .build()
                .accepted(ids.next(), simulation.nanoTime(), "publisher");
    }

    @Test
    void aMessageGoesToNodesThatWantItAndNowhereElse() {
        b.subscribe("t");
        c.subscribe("other");
        simulation.run(WHILE);

        assertThat(a.publish("nobody", 1, QoS.AT_LEAST_ONCE, RouteTicket.NONE)).isZero();
        simulation.run(WHILE);
        assertThat(a.node().counters().bulkFrames()).isZero();

        a.publish("t", 2, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        simulation.run(WHILE);
        assertThat(a.node().counters().bulkFrames()).isEqualTo(1);
        assertThat(b.arrivals()).hasSize(1);
        assertThat(c.arrivals()).isEmpty();
        assertThat(b.node().counters().bulkFrames()).as("forwarded again").isZero();
    }

    @Test
    void routesComeAndGoWithinMilliseconds() {
        b.subscribe("t");
        simulation.run(Duration.ofMillis(10));
        assertThat(a.rowsOf("b")).containsKey("t");

        b.subscribe("t");
        b.unsubscribe("t");
        long frames = network.carriedFrames();
        simulation.run(Duration.ofMillis(10));
        assertThat(network.carriedFrames())
                .as("the second subscription is told nobody")
                .isEqualTo(frames);

        b.unsubscribe("t");
        simulation.run(Duration.ofMillis(10));
        assertThat(a.rowsOf("b")).isEmpty();
    }

    @Test
    void thePublisherWaitsUntilTheOtherNodeHasTakenTheMessageOver() {
        b.subscribe("t");
        b.takesUpTo(Duration.ofMillis(500).toNanos());
        simulation.run(WHILE);
        Ticket ticket = new Ticket();

        a.publish("t", 1, QoS.AT_LEAST_ONCE, ticket);
        simulation.run(Duration.ofMillis(2));
        assertThat(b.arrivals()).hasSize(1);
        assertThat(ticket.isOpen()).isTrue();

        simulation.run(WHILE);
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isFalse();
    }

    @Test
    void aFullQueueDropsAtQosZeroRefusesAboveAndSlowsPublishers() {
        b.subscribe("t");
        simulation.run(WHILE);
        network.cut("a", "b"); // a does not learn of it
        for (int i = 0; i < 100; i++) {
            a.publish("t", i, QoS.AT_MOST_ONCE, RouteTicket.NONE);
        }
        Ticket ticket = new Ticket();
        a.publish("t", 100, QoS.AT_LEAST_ONCE, ticket);
        a.publish("t", 101, QoS.AT_MOST_ONCE, RouteTicket.NONE);
        simulation.run(Duration.ofMillis(10));

        assertThat(a.dropped(DropReason.PEER_QUEUE)).isEqualTo(2);
        assertThat(ticket.failed).isTrue();
        assertThat(a.budget().isExceeded()).isTrue();

        network.healAll();
        simulation.run(Duration.ofSeconds(30));
        assertThat(b.arrivals()).hasSize(100);
        assertThat(a.budget().isExceeded()).isFalse();
        assertThat(a.outboxTo("b").size()).isZero();
    }

    @Test
    void aPublisherThatCannotBeRefusedWaitsForRoomInAFullQueue() {
        b.subscribe("t");
        simulation.run(WHILE);
        network.cut("a", "b"); // a does not learn of it
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            Ticket ticket = published(i);
            ticket.waits = i >= 100;
            tickets.add(ticket);
        }
        simulation.run(Duration.ofMillis(10));
        assertThat(tickets.subList(100, 200)).noneMatch(ticket -> ticket.failed);
        assertThat(tickets.subList(201, 250)).as("more than twice").allMatch(ticket -> ticket.failed);

        network.healAll();
        simulation.run(Duration.ofSeconds(30));
        assertThat(tickets).noneMatch(Ticket::isOpen);
        assertThat(b.arrivals())
                .hasSize(tickets.stream()
                        .mapToInt(ticket -> ticket.failed ? 0 : 1)
                        .sum());
        assertThat(a.outboxTo("b").size()).isZero();
    }

    @Test
    void aPeerThatStaysSlowSlowsNobodyAndKeepsRoomForMessagesAboveQosZero() {
        b.subscribe("t");
        simulation.run(WHILE);
        network.cut("a", "b"); // a does not learn of it
        for (int i = 0; i < 60; i++) {
            a.publish("t", i, QoS.AT_MOST_ONCE, RouteTicket.NONE);
        }
        simulation.run(Duration.ofMillis(10));
        assertThat(a.budget().isExceeded()).isTrue();
        simulation.run(Duration.ofMillis(500));
        assertThat(a.budget().isExceeded()).isFalse();

        Ticket ticket = new Ticket();
        a.publish("t", 60, QoS.AT_MOST_ONCE, RouteTicket.NONE);
        a.publish("t", 61, QoS.AT_LEAST_ONCE, ticket);
        simulation.run(Duration.ofMillis(500));
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isEqualTo(1);
        assertThat(a.budget().isExceeded()).isFalse();

        network.healAll();
        simulation.run(Duration.ofSeconds(30));
        assertThat(b.arrivals()).hasSize(61);
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isFalse();
    }

    @Test
    void messagesForANodeThatIsAwayAreParkedAndKeepNobodyWaiting() {
        b.subscribe("t");
        simulation.run(WHILE);
        b.crash();
        simulation.run(WHILE);
        Ticket ticket = new Ticket();

        a.publish("t", 1, QoS.AT_LEAST_ONCE, ticket);
        a.publish("t", 2, QoS.AT_MOST_ONCE, RouteTicket.NONE);
        simulation.run(WHILE);
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isFalse();
        assertThat(a.dropped(DropReason.PEER_GONE)).isEqualTo(1);

        b = node("b", 2);
        simulation.run(WHILE);
        assertThat(b.arrivals()).extracting(SimulatedNode.Arrival::number).containsExactly(1L);
    }

    @Test
    void whatCannotBeParkedIsRefusedAndAllThatWasAcknowledgedArrivesThroughTheReturn() {
        ParkLimits fifty =
                new ParkLimits(settings.routeTtl(), 10 * 98 + 40 * 99, true); // by the bytes of these messages
        a = new SimulatedNode(simulation, network, "limited", 1, settings, fifty, null);
        b.subscribe("t");
        simulation.run(WHILE);
        b.crash();
        simulation.run(WHILE);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 80; i++) {
            tickets.add(published(i));
        }
        simulation.run(Duration.ofMillis(1));
        assertThat(tickets.subList(0, 50)).noneMatch(ticket -> ticket.failed);
        assertThat(tickets.subList(50, 80)).allMatch(ticket -> ticket.failed);
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isEqualTo(30);

        b = node("b", 2);
        b.subscribe("t");
        b.takesUpTo(Duration.ofMillis(20).toNanos());
        for (int i = 80; i < 1_000; i++) {
            tickets.add(published(i));
            simulation.run(Duration.ofMillis(1));
        }
        simulation.run(Duration.ofSeconds(30));

        List<Long> acknowledged = new ArrayList<>();
        for (int i = 0; i < tickets.size(); i++) {
            assertThat(tickets.get(i).isOpen()).isFalse();
            if (!tickets.get(i).failed) {
                acknowledged.add((long) i);
            }
        }
        assertThat(acknowledged).contains(49L, 999L);
        assertThat(b.arrivals()).extracting(SimulatedNode.Arrival::number).containsExactlyElementsOf(acknowledged);
    }

    private Ticket published(int number) {
        Ticket ticket = new Ticket();
        a.publish("t", number, QoS.AT_LEAST_ONCE, ticket);
        return ticket;
    }

    @Test
    void whatIsParkedForANodeThatStaysAwayIsGivenUpWithItsRoutes() {
        b.subscribe("t");
        simulation.run(WHILE);
        b.crash();
        simulation.run(WHILE);
        a.publish("t", 1, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        assertThat(a.rowsOf("b")).containsKey("t");

        simulation.run(settings.routeTtl());

        assertThat(a.rowsOf("b")).isEmpty();
        assertThat(a.dropped(DropReason.PEER_GONE)).isEqualTo(1);
        assertThat(a.outboxTo("b").size()).isZero();
    }

    @Test
    void whatANodeWithoutMembersRefusesWaitsWhereItWasPublished() {
        b.subscribe("$share/g/t");
        b.refusesGroups();
        simulation.run(WHILE);
        Ticket ticket = new Ticket();

        a.publishShared("$share/g/t", "b", 1, ticket);
        simulation.run(WHILE);

        assertThat(a.requeued()).containsExactly(SharedFilter.of("$share/g/t"));
        assertThat(ticket.isOpen()).isFalse();
    }

    @Test
    void aSharedMessageDoesNotWaitForANodeThatIsAway() {
        b.subscribe("$share/g/t");
        simulation.run(WHILE);
        network.cut("a", "b");
        network.cut("b", "a");
        Ticket ticket = new Ticket();
        a.publishShared("$share/g/t", "b", 1, ticket);
        simulation.run(WHILE);

        assertThat(a.requeued()).containsExactly(SharedFilter.of("$share/g/t"));
        assertThat(ticket.isOpen()).isFalse();
    }

    @Test
    void garbageChangesNothing() {
        b.subscribe("t");
        simulation.run(WHILE);
        for (int i = 0; i < 1_000; i++) {
            byte[] bytes = new byte[simulation.random().nextInt(60)];
            simulation.random().nextBytes(bytes);
            c.process().send(a.process(), bytes, false);
        }
        simulation.run(WHILE);

        assertThat(a.node().counters().malformedFrames()).isEqualTo(1_000);
        assertThat(a.node().membership().all()).hasSize(2);
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
    }

    private static final class Ticket implements RouteTicket {

        private int holds;
        private boolean failed;
        private boolean waits;

        @Override
        public boolean waitsForRoom() {
            return waits;
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

        boolean isOpen() {
            return holds > 0;
        }
    }
}
