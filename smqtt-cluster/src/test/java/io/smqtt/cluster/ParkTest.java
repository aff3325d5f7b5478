// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.DropReason;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.test.store.ManualStore;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What is acknowledged for a node that is away survives in the store of the node that acknowledged it. */
class ParkTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration FORGET = Duration.ofHours(1);
    private static final int MORE_THAN_A_WINDOW = 3_000;
    private static final String QUEUE = NodeQueues.id("b");

    private final Simulation simulation = new Simulation(6);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private ManualStore store = new ManualStore(simulation);
    private ParkLimits limits = new ParkLimits(FORGET, 1 << 30, false);
    private ClusterSettings settings = ClusterSettings.defaults();
    private SimulatedNode a = nodeA(1);
    private SimulatedNode b = nodeB(1);

    private SimulatedNode nodeA(long epoch) {
        return new SimulatedNode(simulation, network, "a", epoch, settings, limits, store);
    }

    private SimulatedNode nodeB(long epoch) {
        return new SimulatedNode(simulation, network, "b", epoch, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
        b.subscribe("t");
        simulation.run(WHILE);
    }

    private Ticket publish(long number) {
        return publish(number, QoS.AT_LEAST_ONCE);
    }

    private Ticket publish(long number, QoS qos) {
        Ticket ticket = new Ticket();
        a.publish("t", number, qos, ticket);
        return ticket;
    }

    private void publishAll(int from, int to) {
        for (int i = from; i < to; i++) {
            publish(i, QoS.of(1 + i % 2));
        }
        simulation.run(WHILE);
    }

    private void restartA(long epoch) {
        a.crash();
        store.kill();
        store = store.reopened(simulation);
        a = nodeA(epoch);
        simulation.run(WHILE);
    }

    private void returnOfB(long epoch) {
        b = nodeB(epoch);
        b.subscribe("t");
        simulation.run(Duration.ofSeconds(30));
    }

    private static List<Long> numbers(int from, int to) {
        return LongStream.range(from, to).boxed().toList();
    }

    private List<Long> arrived() {
        return b.arrivals().stream().map(SimulatedNode.Arrival::number).toList();
    }

    @Test
    void whatIsParkedSurvivesTheNodeThatAcknowledgedIt() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 300);
        assertThat(store.messages(QUEUE)).hasSize(300);

        restartA(2);
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
        publishAll(300, 320);
        returnOfB(2);

        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 320));
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void aQos2MessageOfAGroupThatMayHaveArrivedWaitsForTheNextRun() {
        b.subscribe("$share/g/t");
        simulation.run(WHILE);
        network.cut("b", "a"); // what b has taken is not known
        Ticket ticket = new Ticket();
        a.publishShared("$share/g/t", "b", 7, QoS.EXACTLY_ONCE, ticket);
        simulation.run(Duration.ofMillis(100));
        assertThat(arrived()).containsExactly(7L);
        b.crash();
        network.healAll();
        simulation.run(Duration.ofSeconds(30));
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isFalse();

        returnOfB(2);

        assertThat(arrived()).isEmpty();
        assertThat(a.requeued()).as("to another member, if none has it").containsExactly(SharedFilter.of("$share/g/t"));
    }

    @Test
    void aMessageThatIsRefusedIsDroppedAndNotDelivered() {
        b.cannotTake(7);
        Ticket ticket = publish(7);
        publish(8);
        simulation.run(WHILE);

        assertThat(ticket.failed).isTrue();
        assertThat(a.deliveries()).isEqualTo(1);
        assertThat(a.dropped(DropReason.FAILED)).isEqualTo(1);
    }

    /** 40 messages wait for b, which returns, and cannot store number 7. */
    private void parkForANodeThatCannotTakeOne() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 40);
        b = nodeB(2);
        b.cannotTake(7);
        b.subscribe("t");
    }

    @Test
    void whatTheReturnedNodeCannotStoreIsAwaited() {
        parkForANodeThatCannotTakeOne();
        List<String> drained = new ArrayList<>();
        PeerOutbox outbox = a.outboxTo("b");
        while (!outbox.isReachable()) {
            simulation.run(Duration.ofMillis(5));
        }
        a.later(() -> outbox.afterDrained(() -> drained.add("at the return")));
        simulation.run(Duration.ofSeconds(30));
        a.later(() -> outbox.afterDrained(() -> drained.add("later")));
        simulation.run(Duration.ofSeconds(30));
        assertThat(drained).isEmpty();

        b.cannotTake(-1);
        simulation.run(Duration.ofSeconds(5));

        assertThat(drained).containsExactly("at the return", "later");
    }

    /** Newer messages are accepted while it waits for its next attempt, for room in the window, and for its answer. */
    @Test
    void whatIsSentAgainIsAwaitedBehindNewerMessages() {
        settings = VariedSettings.withWindow(4);
        restartA(2);
        parkForANodeThatCannotTakeOne();
        b.takesUpTo(Duration.ofMillis(20).toNanos());
        PeerOutbox outbox = a.outboxTo("b");
        simulation.run(Duration.ofSeconds(10)); // it is back, and has all others
        List<Integer> drained = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            int burst = i;
            LongStream.range(100 + 8 * i, 108 + 8 * i).forEach(this::publish); // two windows
            simulation.run(Duration.ofMillis(1)); // the last one of them is in flight
            a.later(() -> outbox.afterDrained(() -> drained.add(burst)));
            simulation.run(Duration.ofMillis(60)); // not in step with the attempts
        }
        simulation.run(Duration.ofSeconds(10));
        assertThat(arrived()).contains(2_499L);
        assertThat(drained).isEmpty();

        b.cannotTake(-1);
        simulation.run(Duration.ofSeconds(10));

        assertThat(drained)
                .containsExactlyElementsOf(IntStream.range(0, 300).boxed().toList());
    }

    @Test
    void theRoutesOfAnAbsentNodeSurviveToo() {
        b.subscribe("clean", false);
        b.subscribe("other");
        simulation.run(WHILE);
        b.crash();
        simulation.run(WHILE);
        restartA(2);
        assertThat(a.rowsOf("b")).containsOnlyKeys("t", "other");
        b = nodeB(2);
        b.subscribe("t");
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
        b.crash();
        simulation.run(WHILE);
        restartA(3);
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
    }

    @Test
    void aPublisherWaitsUntilItsMessageIsStored() {
        b.crash();
        simulation.run(WHILE);
        store.hold();
        Ticket ticket = publish(1);
        simulation.run(WHILE);
        assertThat(ticket.isOpen()).isTrue();

        store.release();
        simulation.run(WHILE);
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isFalse();
    }

    @Test
    void aMessageThatTheReturnedNodeCannotStoreIsSentAgainUntilItCan() {
        parkForANodeThatCannotTakeOne();
        simulation.run(Duration.ofSeconds(30));
        assertThat(arrived()).containsAll(numbers(8, 40));
        assertThat(Collections.frequency(arrived(), 7L)).as("attempts").isBetween(5, 31);
        assertThat(Collections.frequency(arrived(), 8L)).isOne();
        assertThat(store.messages(QUEUE)).hasSize(1);

        b.cannotTake(-1);
        simulation.run(Duration.ofSeconds(5));

        assertThat(store.session(QUEUE)).isEmpty();
    }

    /** A message is sent again, while others are on their way to the node. Returns the next number. */
    private int refusedWithOthersOnTheirWay() {
        parkForANodeThatCannotTakeOne();
        b.takesUpTo(Duration.ofMillis(500).toNanos());
        int next = 40;
        while (Collections.frequency(arrived(), 7L) < 2) {
            simulation.run(Duration.ofMillis(5));
            publish(next++);
        }
        return next;
    }

    @Test
    void theNodeFailsAgainAfterItRefusedWhatWasParked() {
        int next = refusedWithOthersOnTheirWay();
        b.crash();
        simulation.run(WHILE);
        publishAll(next, next + 20);
        returnOfB(3);

        assertThat(arrived()).contains(7L).containsAll(numbers(next, next + 20)).doesNotHaveDuplicates();
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void theNodeIsCutOffAfterItRefusedWhatWasParked() {
        int next = refusedWithOthersOnTheirWay();
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(Duration.ofSeconds(20));
        publishAll(next, next + 20);
        b.cannotTake(-1);
        network.healAll();
        simulation.run(Duration.ofSeconds(30));

        List<Long> all = new ArrayList<>(arrived());
        all.removeIf(number -> number == 7);
        assertThat(all).containsExactlyInAnyOrderElementsOf(numbersWithout7(next + 20));
        assertThat(store.session(QUEUE)).isEmpty();
    }

    private static List<Long> numbersWithout7(int to) {
        return LongStream.range(0, to).filter(number -> number != 7).boxed().toList();
    }

    @Test
    void theNodeFailsAgainBeforeAMessageIsSentAgain() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 10);
        PeerOutbox outbox = a.outboxTo("b");
        List<OutboundMessage> page = new ArrayList<>();
        outbox.park().take(page::addAll);
        simulation.run(WHILE);
        assertThat(page).hasSize(10);
        page.get(3).sendAgain();
        assertThat(page).filteredOn(OutboundMessage::isSentAgain).hasSize(1);
        outbox.park().addAgain(page.get(3));
        for (OutboundMessage message : page) {
            if (!message.isSentAgain()) {
                outbox.park().accepted(message);
            }
        }
        returnOfB(2);

        assertThat(arrived()).containsExactly(3L);
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void aMessageThatCannotBeStoredIsRefused() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 5);
        store.fail();
        Ticket ticket = publish(5);
        simulation.run(WHILE);
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isTrue();
        store.heal();
        publishAll(6, 10);

        returnOfB(2);
        assertThat(arrived()).containsExactly(0L, 1L, 2L, 3L, 4L, 6L, 7L, 8L, 9L);
        assertThat(a.outboxTo("b").park().size()).isZero();
    }

    @Test
    void whatWasInFlightWhenTheNodeFailedSurvivesToo() {
        b.takesUpTo(Duration.ofMinutes(1).toNanos());
        publish(0);
        publish(1, QoS.EXACTLY_ONCE);
        simulation.run(Duration.ofMillis(2));
        b.crash();
        simulation.run(WHILE);
        publishAll(2, 10);

        restartA(2);
        returnOfB(2);

        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 10));
    }

    @Test
    void theRunThatReturnsGetsNothingTwice() {
        b.takesUpTo(Duration.ofMillis(50).toNanos());
        publishAll(0, 20);
        for (int i = 20; i < 40; i++) {
            publish(i, QoS.EXACTLY_ONCE);
        }
        simulation.run(Duration.ofMillis(2));
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(Duration.ofSeconds(20));
        publishAll(40, 60);
        network.healAll();
        for (int i = 60; i < 80; i++) {
            publish(i);
            simulation.run(Duration.ofMillis(1));
        }
        simulation.run(Duration.ofSeconds(20));

        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 80));
        assertThat(a.outboxTo("b").size()).isZero();
        assertThat(a.outboxTo("b").bytes()).isZero();
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void ofMuchThatIsParkedLittleIsInMemoryAndItKeepsItsOrder() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 20_000);
        assertThat(a.outboxTo("b").size()).as("in memory").isZero();

        b = nodeB(2);
        b.subscribe("t");
        for (int i = 20_000; i < 21_000; i++) {
            publish(i);
            simulation.run(Duration.ofMillis(1));
        }
        simulation.run(Duration.ofSeconds(30));
        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 21_000));
    }

    @Test
    void theNodeFailsAgainWhileItGetsWhatWasParked() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 5_000);
        b = nodeB(2);
        b.subscribe("t");
        b.takesUpTo(Duration.ofMillis(100).toNanos());
        simulation.run(Duration.ofMillis(300));
        SimulatedNode second = b;
        b.crash();
        simulation.run(WHILE);
        publishAll(5_000, 5_100);
        restartA(2);
        returnOfB(3);

        List<Long> last = arrived();
        long first = last.get(0);
        assertThat(last).containsExactlyElementsOf(numbers((int) first, 5_100));
        assertThat(second.arrivals()).extracting(SimulatedNode.Arrival::number).contains(first - 1);
    }

    @Test
    void aQosTwoMessageComesOnceAlthoughTheNodeThatParkedItFailsInTheMiddle() {
        b.crash();
        simulation.run(WHILE);
        for (int i = 0; i < 3_000; i++) {
            publish(i, QoS.EXACTLY_ONCE);
        }
        simulation.run(WHILE);
        b = nodeB(2);
        b.subscribe("t");
        b.takesUpTo(Duration.ofMillis(50).toNanos());
        while (arrived().size() < 1_500) {
            simulation.run(Duration.ofMillis(1));
        }
        assertThat(arrived()).hasSizeLessThan(3_000);

        a.crash();
        store.kill();
        a = nodeA(2); // finds the messages with their identifiers
        simulation.run(Duration.ofSeconds(30));

        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 3_000));
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void atTheLimitTheOldestAreDroppedCountedAndToldAndNobodyIsRefused() {
        limits = new ParkLimits(FORGET, 20_000, false);
        restartA(2);
        b.crash();
        simulation.run(WHILE);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            tickets.add(publish(i));
            simulation.run(Duration.ofMillis(1));
        }
        simulation.run(WHILE);
        assertThat(tickets).noneMatch(ticket -> ticket.failed || ticket.isOpen());
        int dropped = a.dropped(DropReason.PEER_QUEUE);
        assertThat(dropped).isBetween(1, 999);
        assertThat(a.outboxTo("b").park().size()).isEqualTo(1_000 - dropped);
        assertThat(a.outboxTo("b").park().bytes()).isLessThanOrEqualTo(20_000);
        simulation.run(Duration.ofMinutes(2));
        assertThat(a.alarms().stream().mapToLong(ParkLog.Alarm::messages).sum()).isEqualTo(dropped);

        returnOfB(2);
        assertThat(arrived()).containsExactlyElementsOf(numbers(dropped, 1_000));
    }

    @Test
    void atTheLimitPublishersAreRefusedIfThatIsConfigured() {
        limits = new ParkLimits(FORGET, 20_000, true);
        restartA(2);
        b.crash();
        simulation.run(WHILE);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            tickets.add(publish(i));
        }
        simulation.run(WHILE);
        int refused = (int) tickets.stream().filter(ticket -> ticket.failed).count();
        assertThat(refused).isBetween(1, 999).isEqualTo(a.dropped(DropReason.PEER_QUEUE));

        returnOfB(2);
        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 1_000 - refused));
    }

    @Test
    void ofADamagedParkTheDamagedMessagesAloneAreMissing() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 1_500);
        for (long row : new long[] {1, 700, 701, 1_100, 1_500}) {
            store.damage(QUEUE, row);
        }
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(ParkLog.class);
        log.start();
        logger.addAppender(log);
        try {
            restartA(2);
            returnOfB(2);
        } finally {
            logger.detachAppender(log);
        }

        List<Long> expected = new ArrayList<>(numbers(0, 1_500));
        expected.removeAll(List.of(0L, 699L, 700L, 1_099L, 1_499L));
        assertThat(arrived()).containsExactlyElementsOf(expected);
        assertThat(a.dropped(DropReason.FAILED)).isEqualTo(5);
        assertThat(a.outboxTo("b").park().size()).isZero();
        assertThat(store.session(QUEUE)).isEmpty();
        assertThat(log.list)
                .filteredOn(line -> line.getLevel() == Level.WARN)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(line -> line.contains("damaged"))
                .hasSize(5)
                .anySatisfy(line ->
                        assertThat(line).startsWith("message 700 of queue ").contains("node b"));
    }

    @Test
    void aDamagedMessageBehindAGapIsCountedOnce() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 5);
        store.fail();
        for (int i = 0; i < 5; i++) {
            publish(100 + i);
        }
        simulation.run(WHILE);
        store.heal();
        publishAll(5, 20);
        store.damage(QUEUE, 11); // the first of the last ones; five that could not be stored were before it
        returnOfB(2);

        assertThat(arrived()).hasSize(19).doesNotContain(5L);
        assertThat(a.dropped(DropReason.FAILED)).isOne();
    }

    private List<Ticket> publishPatiently(int from, int to) {
        List<Ticket> tickets = new ArrayList<>();
        for (int i = from; i < to; i++) {
            Ticket ticket = new Ticket();
            ticket.waits = true;
            a.publish("t", i, QoS.AT_LEAST_ONCE, ticket);
            tickets.add(ticket);
        }
        simulation.run(WHILE);
        return tickets;
    }

    private static long open(List<Ticket> tickets) {
        return tickets.stream().filter(Ticket::isOpen).count();
    }

    private void fullPark() {
        limits = new ParkLimits(FORGET, 20_000, true);
        restartA(2);
        b.crash();
        simulation.run(WHILE);
    }

    @Test
    void aPublisherThatCannotBeRefusedWaitsForRoomAndLosesNothing() {
        fullPark();
        List<Ticket> tickets = publishPatiently(0, 300);
        long waiting = open(tickets);
        assertThat(waiting).isBetween(50L, 299L);
        simulation.run(Duration.ofMinutes(10));
        assertThat(open(tickets)).isEqualTo(waiting);
        assertThat(a.outboxTo("b").park().size()).isEqualTo(300);

        returnOfB(2);

        assertThat(tickets).noneMatch(ticket -> ticket.failed || ticket.isOpen());
        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 300));
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isZero();
        assertThat(a.outboxTo("b").park().size()).isZero();
        assertThat(a.outboxTo("b").size()).isZero();
        assertThat(a.outboxTo("b").bytes()).isZero();
    }

    @Test
    void anAcknowledgedMessageIsParkedAgainAlthoughOthersWaitForRoom() {
        fullPark();
        publishPatiently(0, 300);
        ParkedMessages park = a.outboxTo("b").park();
        List<OutboundMessage> page = new ArrayList<>();
        park.take(page::addAll);
        simulation.run(WHILE); // those that waited take the room
        publishPatiently(300, 600);
        assertThat(page).isNotEmpty();
        page.forEach(park::addAgain);
        simulation.run(WHILE);
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isZero();

        returnOfB(2);

        assertThat(arrived()).containsExactlyInAnyOrderElementsOf(numbers(0, 600));
        assertThat(store.session(QUEUE)).isEmpty();
    }

    @Test
    void behindPublishersThatWaitOthersAreRefused() {
        fullPark();
        publishPatiently(0, 300);
        Ticket other = publish(300);
        simulation.run(WHILE);
        assertThat(other.failed).isTrue();
    }

    @Test
    void aPublisherThatNoLongerWaitsIsRefused() {
        fullPark();
        List<Ticket> tickets = publishPatiently(0, 300);
        int waiting = (int) open(tickets);
        tickets.forEach(ticket -> ticket.waits = false);
        simulation.run(WHILE);
        assertThat(tickets.stream().filter(ticket -> ticket.failed)).hasSize(waiting);
        assertThat(tickets).noneMatch(Ticket::isOpen);
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isEqualTo(waiting);

        returnOfB(2);
        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 300 - waiting));
    }

    @Test
    void aMessageForWhichThereIsNeverRoomIsDroppedInsteadOfHeldBack() {
        fullPark();
        Ticket ticket = new Ticket();
        ticket.waits = true;
        a.publish("t", "0".repeat(30_000), QoS.AT_LEAST_ONCE, ticket);
        simulation.run(WHILE);
        assertThat(ticket.isOpen()).isFalse();
        assertThat(ticket.failed).isFalse();
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isOne();
    }

    @Test
    void whoWaitedForANodeThatIsForgottenHasItsAnswer() {
        fullPark();
        List<Ticket> tickets = publishPatiently(0, 300);
        simulation.run(FORGET);
        assertThat(tickets).noneMatch(ticket -> ticket.failed || ticket.isOpen());
        assertThat(a.dropped(DropReason.PEER_GONE)).isEqualTo(300);
    }

    @Test
    void aPublisherThatCannotBeRefusedWaitsUntilTheDiskIsUsableAgain() {
        b.takesUpTo(Duration.ofMinutes(1).toNanos());
        Ticket sent = new Ticket();
        sent.waits = true;
        a.publish("t", 0, QoS.AT_LEAST_ONCE, sent); // the node fails with it
        simulation.run(Duration.ofMillis(100));
        store.fail();
        b.crash();
        simulation.run(WHILE);
        List<Ticket> tickets = publishPatiently(1, 300);
        simulation.run(Duration.ofMinutes(10));
        assertThat(open(tickets)).isEqualTo(299);
        assertThat(sent.isOpen()).isTrue();

        store.heal();
        simulation.run(WHILE);
        assertThat(tickets).noneMatch(ticket -> ticket.failed || ticket.isOpen());
        assertThat(sent.isOpen()).isFalse();
        restartA(2);
        returnOfB(2);
        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 300));
    }

    @Test
    void whatIsParkedIsFoundAgainAlthoughTheDiskWasFullWhenTheNodeFailed() {
        store.fail();
        b.crash();
        simulation.run(WHILE);
        assertThat(publish(0).isOpen()).isTrue();
        simulation.run(WHILE);
        store.heal();
        publishAll(1, 10);

        restartA(2);
        assertThat(a.rowsOf("b")).containsOnlyKeys("t");
        returnOfB(2);
        assertThat(arrived()).containsExactlyElementsOf(numbers(1, 10));
    }

    @Test
    void theNodeIsBackBeforeTheDiskIs() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 10);
        store.fail();
        List<Ticket> tickets = publishPatiently(10, 30);
        assertThat(open(tickets)).isEqualTo(20);

        returnOfB(2);
        assertThat(arrived()).containsExactlyElementsOf(numbers(0, 30));
        assertThat(tickets).noneMatch(ticket -> ticket.failed || ticket.isOpen());
        assertThat(a.outboxTo("b").bytes()).isZero();
    }

    @Test
    void theNodeFailsTwiceWhileTheDiskCannotBeUsed() {
        b.takesUpTo(Duration.ofMinutes(10).toNanos());
        List<Ticket> tickets = publishPatiently(0, MORE_THAN_A_WINDOW);
        store.fail();
        b.crash();
        simulation.run(WHILE);
        b = nodeB(2);
        b.subscribe("t");
        b.takesUpTo(Duration.ofMinutes(10).toNanos());
        simulation.run(WHILE); // a window of what could not be stored is in flight, the rest is not
        b.crash();
        simulation.run(WHILE);
        assertThat(open(tickets)).isEqualTo(MORE_THAN_A_WINDOW);

        returnOfB(3);

        assertThat(arrived()).containsExactlyInAnyOrderElementsOf(numbers(0, MORE_THAN_A_WINDOW));
        assertThat(tickets).noneMatch(ticket -> ticket.failed || ticket.isOpen());
        assertThat(a.dropped(DropReason.FAILED)).isZero();
        assertThat(a.outboxTo("b").park().size()).isZero();
        assertThat(a.outboxTo("b").bytes()).isZero();
    }

    @Test
    void theLimitHoldsWhileTheOldestMessagesCannotBeRead() {
        limits = new ParkLimits(FORGET, 20_000, false);
        restartA(2);
        b.crash();
        simulation.run(WHILE);
        store.holdReads();
        String large = "0".repeat(10_000);
        int refused = 0;
        for (int i = 0; i < 1_000; i++) {
            Ticket ticket = new Ticket();
            a.publish("t", large, QoS.AT_LEAST_ONCE, ticket);
            simulation.run(Duration.ofMillis(10));
            refused += ticket.failed ? 1 : 0;
        }
        assertThat(refused).isPositive();
        assertThat(a.outboxTo("b").park().bytes()).isLessThan(5 << 20);
    }

    @Test
    void aNodeThatStaysAwayIsForgottenWithANumber() {
        b.crash();
        simulation.run(WHILE);
        publishAll(0, 285);
        simulation.run(FORGET.dividedBy(2));
        restartA(2);
        assertThat(a.alarms()).isEmpty();
        simulation.run(FORGET.dividedBy(2).minus(Duration.ofMinutes(1)));
        assertThat(a.outboxTo("b").park().size()).isEqualTo(285);
        simulation.run(Duration.ofMinutes(2));

        assertThat(a.alarms()).containsExactly(new ParkLog.Alarm("b", DropReason.PEER_GONE, 285, 0));
        assertThat(a.dropped(DropReason.PEER_GONE)).isEqualTo(285);
        assertThat(store.session(QUEUE)).isEmpty();
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
