// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.SimulatedClients.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ReasonCode;
import io.smqtt.message.Will;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sessions of a node that stops. */
class SessionDrainTest {

    private static final int SESSIONS = 300;

    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final SimulatedNode a = node("a");
    private final SimulatedNode b = node("b");
    private final SimulatedNode c = node("c");
    private final List<SessionDrain.Result> results = new ArrayList<>();

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, 1, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(Duration.ofSeconds(3));
        for (int i = 0; i < SESSIONS; i++) {
            a.clients().open("client-" + i).messages().add(SimulatedClients.message("message-" + i));
        }
    }

    private void drain(SimulatedNode node) {
        node.node().clients().drain(node.clients().clientIds(), results::add);
    }

    private static String onlyText(SimulatedClients.Held held) {
        assertThat(held.messages()).hasSize(1);
        return held.messages().get(0).message().payload().asString();
    }

    private void assertEachIsOnce(SimulatedNode... nodes) {
        for (int i = 0; i < SESSIONS; i++) {
            String clientId = "client-" + i;
            List<SimulatedClients.Held> found = Stream.of(nodes)
                    .filter(node -> node.clients().sessions().containsKey(clientId))
                    .map(node -> node.clients().sessions().get(clientId))
                    .toList();
            assertThat(found).as(clientId).hasSize(1);
            assertThat(onlyText(found.get(0))).isEqualTo("message-" + i);
        }
    }

    @Test
    void allSessionsMoveWithTheirMessagesToBothOthers() {
        drain(a);
        simulation.run(Duration.ofSeconds(10));

        assertThat(results).containsExactly(new SessionDrain.Result(SESSIONS, 0, false));
        assertThat(a.clients().sessions()).isEmpty();
        assertEachIsOnce(b, c);
        assertThat(b.clients().sessions()).hasSizeBetween(SESSIONS / 4, SESSIONS * 3 / 4);
    }

    @Test
    void clientsThatConnectElsewhereMeanwhileGetTheirSessions() {
        List<@Nullable ReasonCode> answers = new ArrayList<>();
        drain(a);
        for (int i = 0; i < SESSIONS; i += 3) {
            SimulatedNode here = i % 2 == 0 ? b : c;
            here.claim(identity("client-" + i), answers::add);
        }
        simulation.run(Duration.ofSeconds(15));

        assertThat(answers).hasSize(SESSIONS / 3).containsOnlyNulls();
        assertThat(a.clients().sessions()).isEmpty();
        assertThat(results)
                .hasSize(1)
                .allSatisfy(result -> assertThat(result.kept()).isZero());
        assertEachIsOnce(b, c);
        for (int i = 0; i < SESSIONS; i += 3) {
            assertThat((i % 2 == 0 ? b : c).clients().sessions()).containsKey("client-" + i);
        }
    }

    /** What a broker does with a client that connects. */
    private static void connect(SimulatedNode here, String clientId) {
        ClientIdentity client = identity(clientId);
        here.claim(client, refusal -> {
            if (refusal == null) {
                here.clients().open(clientId);
                here.node().clients().settled(client);
            }
        });
    }

    @Test
    void aClientThatHasConnectedElsewhereKeepsItsConnection() {
        drain(a);
        for (int i = 0; i < SESSIONS; i++) {
            connect(i % 2 == 0 ? b : c, "client-" + i);
            simulation.run(Duration.ofMillis(1));
        }
        simulation.run(Duration.ofSeconds(15));

        assertThat(a.clients().sessions()).isEmpty();
        assertEachIsOnce(b, c);
        for (int i = 0; i < SESSIONS; i++) {
            String clientId = "client-" + i;
            SimulatedClients.Held held =
                    (i % 2 == 0 ? b : c).clients().sessions().get(clientId);
            assertThat(held).as(clientId).isNotNull();
            assertThat(held.isConnected()).as(clientId).isTrue();
        }
    }

    @Test
    void aNodeThatStopsAsWellTakesNothing() {
        drain(a);
        drain(b);
        simulation.run(Duration.ofSeconds(10));

        assertThat(results).hasSize(2);
        assertThat(a.clients().sessions()).isEmpty();
        assertThat(b.clients().sessions()).isEmpty();
        assertEachIsOnce(c);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5, 8, 12, 20, 40})
    void aNodeThatStopsALittleLaterKeepsNothingThatHasComeToIt(int millis) {
        drain(a);
        simulation.run(Duration.ofMillis(millis));
        drain(b);
        simulation.run(Duration.ofSeconds(10));

        assertThat(results)
                .hasSize(2)
                .allSatisfy(result -> assertThat(result.kept()).isZero());
        assertThat(a.clients().sessions()).isEmpty();
        assertThat(b.clients().sessions()).isEmpty();
        assertEachIsOnce(c);
    }

    @Test
    void aSessionThatTakesLongDoesNotMakeItsNewNodeSilent() {
        Duration delay = Duration.ofMillis(5);
        network.faults(new Faults(delay, delay, true, 0, 0, Duration.ofMillis(100)));
        for (int i = 0; i < 2_000; i++) {
            a.clients().open("client-0").messages().add(SimulatedClients.message("more"));
        }
        drain(a);
        simulation.run(Duration.ofSeconds(9)); // longer than a silent node has time
        assertThat(a.clients().sessions()).containsOnlyKeys("client-0");
        simulation.run(Duration.ofSeconds(60));

        assertThat(results).containsExactly(new SessionDrain.Result(SESSIONS, 0, false));
        assertThat(a.clients().sessions()).isEmpty();
    }

    @Test
    void theWillsOfSessionsThatNobodyGotArePublished() {
        for (int i = 0; i < SESSIONS; i++) {
            ApplicationMessage message =
                    ApplicationMessage.builder("will").payload("will-" + i).build();
            a.node().clients().wills().inForce("client-" + i, null, new Will(message, 10), 1_000);
        }
        simulation.run(Duration.ofSeconds(5));
        drain(a);
        simulation.run(Duration.ofMillis(2)); // others know of it, and do not have them
        a.crash();
        simulation.run(Duration.ofSeconds(60));

        List<String> lost = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            String clientId = "client-" + i;
            if (!b.clients().sessions().containsKey(clientId)
                    && !c.clients().sessions().containsKey(clientId)) {
                lost.add("will-" + i);
            }
        }
        assertThat(lost).hasSizeGreaterThan(SESSIONS - 64);
        List<String> published = new ArrayList<>(b.clients().published());
        published.addAll(c.clients().published());
        assertThat(published).containsAll(lost).doesNotHaveDuplicates();
    }

    @Test
    void whatOneNodeHasNoRoomForGoesToTheOther() {
        b.clients().isFull();
        drain(a);
        simulation.run(Duration.ofSeconds(5));

        assertThat(results).containsExactly(new SessionDrain.Result(SESSIONS, 0, false));
        assertThat(b.clients().sessions()).isEmpty();
        assertEachIsOnce(c);
    }

    @Test
    void whenAllStopEverySessionStaysWhereItIs() {
        drain(a);
        drain(b);
        drain(c);
        simulation.run(Duration.ofSeconds(20));

        assertThat(results).contains(new SessionDrain.Result(0, SESSIONS, false));
        assertEachIsOnce(a);
    }

    @Test
    void aNodeThatIsAloneKeepsItsSessions() {
        network.faults(Faults.NONE);
        for (String other : List.of("b", "c")) {
            network.cut("a", other);
            network.cut(other, "a");
        }
        simulation.run(Duration.ofSeconds(60));
        drain(a);
        simulation.run(Duration.ofSeconds(1));

        assertThat(results).containsExactly(new SessionDrain.Result(0, SESSIONS, true));
        assertEachIsOnce(a);
    }

    @Test
    void aDrainThatIsStoppedLeavesEachSessionInOnePlace() {
        drain(a);
        simulation.run(Duration.ofMillis(20));
        SessionDrain.Result result = a.node().clients().stopDrain();
        simulation.run(Duration.ofSeconds(60));

        assertThat(results).containsExactly(result);
        assertThat(result.kept()).isPositive();
        assertThat(a.clients().sessions()).isNotEmpty();
        assertEachIsOnce(a, b, c);
    }
}
