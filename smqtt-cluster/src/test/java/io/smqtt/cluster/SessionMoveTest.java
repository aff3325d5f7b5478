// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.SessionState;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One session that moves while somebody does not answer. */
class SessionMoveTest {

    private static final Faults UNNOTICED =
            new Faults(Duration.ofNanos(500_000), Duration.ofNanos(500_000), true, 0, 0, Duration.ofDays(1_000));

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

    private static ClientIdentity client(String clientId) {
        return new ClientIdentity(
                clientId, null, InetSocketAddress.createUnresolved("client", 1), "", ProtocolVersion.MQTT_5, Set.of());
    }

    private static List<StoredMessage> messages(String... texts) {
        return Arrays.stream(texts)
                .map(text -> new StoredMessage(
                        1,
                        ApplicationMessage.builder("t")
                                .payload(text)
                                .qos(QoS.AT_LEAST_ONCE)
                                .build(),
                        "t",
                        QoS.AT_LEAST_ONCE,
                        false,
                        new int[0],
                        StoredDelivery.WAITING))
                .toList();
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

        b.claim(client(clientId), answers::add);
        simulation.run(Duration.ofSeconds(15));

        assertThat(a.clients().sessions()).containsKey(clientId);
        assertThat(answers).isEmpty();

        network.healAll();
        simulation.run(Duration.ofSeconds(1));

        assertThat(a.clients().sessions()).doesNotContainKey(clientId);
        assertThat(answers).hasSize(1).containsNull();
    }

    @Test
    void theOldNodeKeepsTheSessionUntilAllKnowTheNewPlace() {
        String clientId = decidedBy("a");
        a.clients().open(clientId);
        network.cut("c", "b");

        b.claim(client(clientId), answers::add);
        simulation.run(Duration.ofSeconds(15));

        assertThat(a.clients().sessions()).containsKey(clientId);
        assertThat(answers).isEmpty();
    }

    @Test
    void aMoveThatGoesOnForEverIsGivenUpHoweverManyMessagesCome() {
        String clientId = decidedBy("b");
        a.clients().open(clientId);
        a.clients().somethingComesAllTheTime();
        network.cut("c", "a");

        b.claim(client(clientId), answers::add);
        simulation.run(Duration.ofSeconds(28));
        assertThat(a.node().clients().departing()).isOne();
        simulation.run(Duration.ofSeconds(4));

        assertThat(a.clients().given()).isGreaterThan(100);
        assertThat(a.clients().stayed()).as("times that the session stayed").isOne();
        assertThat(a.clients().sessions()).containsKey(clientId);
        assertThat(answers).containsExactly(ReasonCode.SERVER_UNAVAILABLE);
    }

    @Test
    void aSecondAttemptIsReadFromTheBeginning() {
        String clientId = decidedBy("a");
        network.cut("b", "a"); // the claim stays open
        b.claim(client(clientId), answers::add);
        simulation.run(Duration.ofMillis(1));

        send(1, 0, Frame.PartKind.STATE, clientId);
        send(1, 1, Frame.PartKind.MESSAGES, clientId, "one", "two");
        send(2, 0, Frame.PartKind.STATE, clientId); // ends the first one
        send(2, 0, Frame.PartKind.STATE, clientId);
        send(2, 1, Frame.PartKind.MESSAGES, clientId, "one", "two", "three");
        send(1, 2, Frame.PartKind.INSTALL, clientId); // late, and of no use
        assertThat(b.clients().sessions()).isEmpty();
        send(2, 2, Frame.PartKind.INSTALL, clientId);

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
        SessionSender sender =
                new SessionSender(claim, 2, () -> 1, wire, Duration.ofSeconds(1), Runnable::run, outcome -> {});
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
}
