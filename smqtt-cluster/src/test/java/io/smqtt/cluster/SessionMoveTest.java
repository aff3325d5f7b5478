// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.SimulatedClients.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ReasonCode;
import io.smqtt.session.SessionState;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredMessage;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One session that moves while somebody does not answer. */
class SessionMoveTest {

    private static final Faults UNNOTICED =
            new Faults(Duration.ofNanos(500_000), Duration.ofNanos(500_000), true, 0, 0, Duration.ofDays(1_000));

    /** Far away: a request and its answer take 10 ms. */
    private static final Faults FAR =
            new Faults(Duration.ofMillis(5), Duration.ofMillis(5), true, 0, 0, Duration.ofDays(1_000));

    private static final Faults AT_ONCE =
            new Faults(Duration.ofNanos(500_000), Duration.ofNanos(500_000), true, 0, 0, Duration.ZERO);

    private final Simulation simulation = new Simulation(3);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final SimulatedNode a = node("a");
    private final SimulatedNode b = node("b");
    private final SimulatedNode c = node("c");
    private final List<@Nullable ReasonCode> answers = new ArrayList<>();

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, 1, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(Duration.ofSeconds(3));
        network.faults(UNNOTICED);
    }

    /** A client identifier that a node decides about. */
    private static String decidedBy(String nodeId) {
        List<String> others = new ArrayList<>(List.of("a", "b", "c"));
        others.remove(nodeId);
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "client-" + i)
                .filter(id -> Coordinator.of(id, nodeId, others).equals(nodeId))
                .findFirst()
                .orElseThrow();
    }

    private static List<StoredMessage> messages(String... texts) {
        return Arrays.stream(texts).map(SimulatedClients::message).toList();
    }

    private static List<String> texts(SimulatedClients.Held held) {
        return held.messages().stream()
                .map(message -> message.message().payload().asString())
                .toList();
    }

    @Test
    void theOldNodeKeepsTheSessionUntilAllHaveSaidThatNothingIsUnderWay() {
        String clientId = decidedBy("b");
        a.clients().open(clientId);
        network.cut("c", "a"); // hears what it is asked, and its answer is lost

        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(15));

        assertThat(a.clients().sessions()).containsKey(clientId);
        assertThat(answers).isEmpty();

        network.healAll();
        simulation.run(Duration.ofSeconds(1));

        assertThat(a.clients().sessions()).doesNotContainKey(clientId);
        assertThat(answers).hasSize(1).containsNull();
    }

    @Test
    void oneOfTwoSessionsThatCrossStaysForTheOther() {
        String toB = decidedBy("b");
        String toA = decidedBy("a");
        a.clients().open(toB);
        b.clients().open(toA);
        network.cut("c", "a"); // messages for both nodes are not known to be accepted
        network.cut("c", "b");

        b.claim(identity(toB), answers::add);
        a.claim(identity(toA), answers::add);
        simulation.run(Duration.ofSeconds(5));

        assertThat(a.clients().stayed()).isPositive();
        assertThat(b.clients().stayed()).isZero();
        assertThat(b.clients().isLeaving(toA)).isTrue();

        network.healAll();
        simulation.run(Duration.ofSeconds(5));
        assertThat(answers).containsExactly(null, null);
    }

    @Test
    void aSessionThatDoesNotCrossAnotherOneWaits() {
        String clientId = decidedBy("b");
        a.clients().open(clientId);
        network.cut("c", "b");

        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(15));

        assertThat(a.clients().stayed()).isZero();
        assertThat(a.clients().isLeaving(clientId)).isTrue();
    }

    @Test
    void aNodeThatHadNoSessionIsAskedAgainWhenAnotherOneFails() {
        network.faults(Faults.NONE);
        String clientId = decidedBy("a");
        c.clients().open(clientId);
        c.crash();
        a.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofMillis(2)); // b has said that it has none
        b.clients().open(clientId); // it serves the sessions of c

        simulation.run(Duration.ofSeconds(5));

        assertMovedFromBToA(clientId);
    }

    @Test
    void aDecisionOfTheTimeBeforeTheSessionsOfANodeAreServedDoesNotCount() {
        network.faults(Faults.NONE);
        String clientId = decidedBy("a");
        c.crash();
        simulation.run(Duration.ofSeconds(1));
        a.clients().awaited(true);
        a.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(1));
        assertThat(answers).isEmpty();

        b.clients().open(clientId);
        a.clients().awaited(false);
        simulation.run(Duration.ofSeconds(5));

        assertMovedFromBToA(clientId);
    }

    @Test
    void aSessionThatWasOpenedMeanwhileIsNotReplacedByOneThatHadNotComeToItsEnd() {
        String clientId = decidedBy("c");
        a.clients().open(clientId).messages().addAll(messages("one"));
        b.claim(identity(clientId), answers::add);
        runUntilThereIs(clientId, b);
        network.cut("b", "a"); // that it is there is not heard
        simulation.run(Duration.ofSeconds(40));
        assertThat(a.clients().stayed()).isOne();
        assertThat(answers).containsExactly(ReasonCode.SERVER_UNAVAILABLE);

        network.faults(Faults.NONE);
        network.cut("a", "c"); // who decides does not know the old node, and the new one does
        simulation.run(Duration.ofSeconds(1));
        ClientIdentity second = identity(clientId);
        b.claim(second, answers::add);
        simulation.run(Duration.ofSeconds(1));
        assertThat(answers).hasSize(2).endsWith((ReasonCode) null);
        b.clients().open(clientId).messages().addAll(messages("two"));
        b.settled(second);
        simulation.run(Duration.ofSeconds(1));

        network.faults(AT_ONCE);
        network.healAll();
        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(10));

        assertThat(answers).hasSize(3).endsWith((ReasonCode) null);
        assertThat(a.clients().sessions()).doesNotContainKey(clientId);
        assertThat(texts(b.clients().sessions().get(clientId))).containsExactlyInAnyOrder("one", "two");
    }

    private void runUntilThereIs(String clientId, SimulatedNode node) {
        for (int i = 0; i < 10_000 && !node.clients().sessions().containsKey(clientId); i++) {
            simulation.run(Duration.ofNanos(100_000));
        }
        assertThat(node.clients().sessions()).containsKey(clientId); // installed
    }

    @Test
    void aSessionThatLeavesTakesNothingThatIsLate() {
        String clientId = decidedBy("c");
        a.clients().open(clientId).messages().addAll(messages("one"));
        b.claim(identity(clientId), answers::add);
        runUntilThereIs(clientId, b);
        network.faults(AT_ONCE);
        network.cut("a", "b"); // the new node has lost the old one
        a.clients().sessions().get(clientId).take(messages("two").get(0));
        simulation.run(Duration.ofSeconds(21));
        assertThat(answers).containsExactly(ReasonCode.SERVER_UNAVAILABLE);

        c.claim(identity(clientId), answers::add);
        runUntilThereIs(clientId, c);
        network.healAll();
        simulation.run(Duration.ofMillis(2));
        network.faults(UNNOTICED);
        network.cut("c", "b"); // what the new node has left goes no further for a while
        simulation.run(Duration.ofSeconds(4));
        network.healAll();
        simulation.run(Duration.ofSeconds(40));

        assertThat(a.clients().sessions()).doesNotContainKey(clientId);
        assertThat(b.clients().sessions()).doesNotContainKey(clientId);
        assertThat(texts(c.clients().sessions().get(clientId))).containsExactlyInAnyOrder("one", "two");
    }

    @Test
    void whoAppearsIsToldOfManySessionsBitByBit() {
        for (int i = 0; i < 5_000; i++) {
            a.clients().open("many-" + i);
        }
        network.faults(AT_ONCE);
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(Duration.ofSeconds(1));
        for (int i = 0; i < 5_000; i += 100) {
            b.clients().open("many-" + i).messages().addAll(messages("two"));
        }
        List<Integer> told = new ArrayList<>();
        network.listen((from, to, frame) -> {
            if (from == a.process() && to == b.process() && frame[1] == 39) { // OWNED
                told.add(frame.length);
            }
        });
        network.healAll();
        simulation.run(Duration.ofMillis(1));
        assertThat(told).hasSizeBetween(1, 2);
        simulation.run(Duration.ofMillis(20));
        assertThat(told).hasSizeGreaterThanOrEqualTo(10);
        simulation.run(Duration.ofMinutes(1));

        assertThat(b.clients().sessions()).hasSize(50);
        assertThat(a.clients().sessions()).hasSize(4_950);
    }

    @Test
    void theNewNodeInstallsTheSessionWhenNothingIsUnderWayToItAnyMore() { // it may have been there, and may have had
        // that already
        String clientId = decidedBy("b");
        a.clients().open(clientId);
        network.cut("c", "b"); // may have sent something to the new node, which has not arrived

        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(15));

        assertThat(b.clients().sessions()).isEmpty();
        assertThat(answers).isEmpty();

        network.healAll();
        simulation.run(Duration.ofSeconds(1));

        assertThat(b.clients().sessions()).containsOnlyKeys(clientId);
        assertThat(answers).hasSize(1).containsNull();
    }

    /** Two nodes have decided about two claims of a node, because they did not see the same nodes. */
    @Test
    void aSessionThatIsArrivingDoesNotReplaceTheOneThatAnotherClaimOpens() {
        String clientId = decidedBy("c");
        a.clients().open(clientId).messages().addAll(messages("one"));
        network.cut("c", "b"); // the arriving session is not installed yet
        b.claim(identity(clientId), answers::add);
        ClientIdentity second = identity(clientId);
        b.claim(second, answers::add);
        simulation.run(Duration.ofSeconds(1));
        grant(2, clientId);
        assertThat(answers).hasSize(1).containsNull();

        openAndMeet(clientId, second);
    }

    @Test
    void aSessionDoesNotArriveWhileAnotherClaimOpensOne() {
        String clientId = decidedBy("c");
        a.clients().open(clientId).messages().addAll(messages("one"));
        network.cut("a", "b");
        network.cut("c", "b");
        b.claim(identity(clientId), answers::add);
        ClientIdentity second = identity(clientId);
        b.claim(second, answers::add);
        grant(2, clientId);
        assertThat(answers).hasSize(1).containsNull();
        network.healAll();
        network.cut("c", "b");
        simulation.run(Duration.ofSeconds(2));

        openAndMeet(clientId, second);
    }

    private void grant(long claim, String clientId) {
        simulation.run(Duration.ofMillis(1));
        b.node().clients().accept(new NodeIdentity("c", 1), new Frame.Granted(claim, clientId, true, 1));
    }

    private void openAndMeet(String clientId, ClientIdentity claimed) {
        b.clients().open(clientId).messages().addAll(messages("two"));
        b.settled(claimed);
        simulation.run(Duration.ofMillis(10));
        network.healAll();
        simulation.run(Duration.ofSeconds(10));

        assertThat(answers).hasSize(2).containsOnlyNulls();
        assertThat(a.clients().sessions()).isEmpty();
        assertThat(texts(b.clients().sessions().get(clientId))).containsExactlyInAnyOrder("one", "two");
    }

    @Test
    void anArrivalThatWaitsIsAbandonedWithItsSender() {
        String clientId = decidedBy("b");
        a.clients().open(clientId);
        network.cut("c", "b");
        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(5));

        network.faults(AT_ONCE);
        network.cut("a", "b"); // the new node has lost the old one
        network.cut("b", "a");
        simulation.run(Duration.ofSeconds(40));

        assertThat(answers).hasSize(1);
        assertThat(a.clients().sessions()).containsOnlyKeys(clientId);
        assertThat(b.clients().sessions()).isEmpty();
    }

    @Test
    void theOldNodeKeepsTheSessionUntilAllKnowTheNewPlace() {
        String clientId = decidedBy("a");
        a.clients().open(clientId);
        network.cut("c", "b");

        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofSeconds(15));

        assertThat(a.clients().sessions()).containsKey(clientId);
        assertThat(answers).isEmpty();
    }

    @Tag("slow")
    @Test
    void aMoveThatGoesOnForEverIsGivenUpHoweverManyMessagesCome() {
        Simulation slow = new Simulation(3);
        SimulatedNetwork theirs = new SimulatedNetwork(slow);
        ClusterSettings settings =
                VariedSettings.digestsEach(Duration.ofSeconds(4)); // who is not heard is gone after a minute
        SimulatedNode from = new SimulatedNode(slow, theirs, "a", 1, settings);
        SimulatedNode to = new SimulatedNode(slow, theirs, "b", 1, settings);
        new SimulatedNode(slow, theirs, "c", 1, settings);
        slow.run(Duration.ofSeconds(5));
        theirs.faults(FAR);
        String clientId = decidedBy("b");
        from.clients().open(clientId);
        from.clients().somethingComesAllTheTime();
        theirs.cut("c", "a");

        to.claim(identity(clientId), answers::add);
        slow.run(Duration.ofSeconds(28));
        assertThat(from.node().clients().departing()).isOne();
        slow.run(Duration.ofSeconds(4));

        assertThat(from.clients().given()).isGreaterThan(100);
        assertThat(from.clients().stayed()).as("times that the session stayed").isOne();
        assertThat(from.clients().sessions()).containsKey(clientId);
        assertThat(answers).containsExactly(ReasonCode.SERVER_UNAVAILABLE);
    }

    @Test
    void aSecondAttemptIsReadFromTheBeginning() {
        String clientId = decidedBy("a");
        network.cut("a", "c"); // the claim stays open
        b.claim(identity(clientId), answers::add);
        simulation.run(Duration.ofMillis(1));

        send(1, 0, Frame.PartKind.STATE, clientId);
        send(1, 1, Frame.PartKind.MESSAGES, clientId, "one", "two");
        send(2, 0, Frame.PartKind.STATE, clientId); // ends the first one
        send(2, 0, Frame.PartKind.STATE, clientId);
        send(2, 1, Frame.PartKind.MESSAGES, clientId, "one", "two", "three");
        send(1, 2, Frame.PartKind.INSTALL, clientId); // late, and of no use
        assertThat(b.clients().sessions()).isEmpty();
        send(2, 2, Frame.PartKind.INSTALL, clientId);
        simulation.run(Duration.ofMillis(10));

        assertThat(texts(b.clients().sessions().get(clientId))).containsExactly("one", "two", "three");
    }

    private void send(long attempt, int index, Frame.PartKind kind, String clientId, String... texts) {
        SessionState state =
                kind == Frame.PartKind.STATE ? new SessionState(clientId, null, 100, 0, 0, List.of(), List.of()) : null;
        b.node()
                .clients()
                .accept(
                        new NodeIdentity("x", 1),
                        new Frame.SessionPart(
                                1, attempt, b.node().self().epoch(), index, kind, state, messages(texts)));
        simulation.run(Duration.ofMillis(1));
    }

    @Test
    void theAnswerToAnEarlierAttemptIsNone() {
        List<Frame> said = new ArrayList<>();
        ClaimKey claim = new ClaimKey("b", 1, 7, "client");
        RecordingWire wire = new RecordingWire(simulation, said);
        SessionSender sender = new SessionSender(claim, 2, wire, Duration.ofSeconds(1), Runnable::run, outcome -> {});
        a.clients().open("client");
        a.clients().depart("client", false, null, sender);
        simulation.run(Duration.ofMillis(1));
        assertThat(said).hasSize(1);

        sender.acknowledged(new Frame.SessionAck(7, 1, 1, 0, true));
        simulation.run(Duration.ofMillis(1));
        assertThat(said).hasSize(1);

        sender.acknowledged(new Frame.SessionAck(7, 2, 1, 0, true));
        simulation.run(Duration.ofMillis(1));
        assertThat(said).hasSize(2);
    }

    private void assertMovedFromBToA(String clientId) {
        assertThat(answers).containsOnlyNulls().hasSize(1);
        assertThat(a.clients().sessions()).containsKey(clientId);
        assertThat(b.clients().sessions()).doesNotContainKey(clientId);
    }
}
