// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import io.smqtt.spi.StoreWriter;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Nodes and routes at the start of a node, before clients connect to it. */
class FirstNodesTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);

    private SimulatedNode node(String nodeId, long epoch) {
        return new SimulatedNode(simulation, network, nodeId, epoch, ClusterSettings.defaults());
    }

    private static FirstNodes first(SimulatedNode node, Replicas replicas) {
        return new FirstNodes(node.nodeId(), replicas, node.node());
    }

    /** The replicas on a node: of its own store, and of that of another one. */
    private static Replicas replicas(String self, String other, @Nullable String server, String... connected) {
        List<ReplicaStatus> all = List.of(status(self, self, connected), status(other, server, connected));
        return new Replicas() {
            @Override
            public ReplicaStatus own() {
                return all.get(0);
            }

            @Override
            public List<ReplicaStatus> status() {
                return all;
            }

            @Override
            public boolean needsRestart() {
                return false;
            }
        };
    }

    private static ReplicaStatus status(String home, @Nullable String server, String... connected) {
        return new ReplicaStatus(
                home,
                List.of("a", "b", "home"),
                List.of(connected),
                null,
                false,
                server,
                true,
                1,
                1,
                1,
                0,
                0,
                0,
                0,
                0,
                0,
                Map.of(),
                null);
    }

    private void publish(SimulatedNode from, String topic, long number) {
        from.publish(topic, number, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        simulation.run(WHILE);
    }

    private static List<Long> arrived(SimulatedNode node) {
        return node.arrivals().stream().map(SimulatedNode.Arrival::number).toList();
    }

    @Test
    void messagesAreKeptForANodeThatWasAwayBeforeTheStart() {
        SimulatedNode a = node("a", 1);
        simulation.run(WHILE);
        publish(a, "t", 0);
        a.node().execute(first(a, replicas("a", "home", "home", "a"))::keepForOthers);
        simulation.run(WHILE);
        publish(a, "t", 1);
        publish(a, "u", 2);
        assertThat(a.outboxTo("home").park().size()).isEqualTo(2);

        SimulatedNode home = node("home", 1);
        home.subscribe("t");
        simulation.run(LONG);
        publish(a, "t", 3);

        assertThat(arrived(home)).containsExactly(1L, 2L, 3L); // it has no use for one of them
        assertThat(a.rowsOf("home")).containsOnlyKeys("t");
    }

    @Test
    void theKnownRoutesOfANodeThatIsAwayMayHaveChangedBeforeTheStart() {
        SimulatedNode a = node("a", 1);
        SimulatedNode home = node("home", 1);
        simulation.run(WHILE);
        home.subscribe("t");
        simulation.run(WHILE);
        home.crash();
        simulation.run(WHILE);
        a.node().execute(first(a, replicas("a", "home", "home", "a"))::keepForOthers);
        simulation.run(WHILE);
        publish(a, "u", 0);

        home = node("home", 2);
        home.subscribe("t");
        home.subscribe("u");
        simulation.run(LONG);

        assertThat(arrived(home)).containsExactly(0L);
        assertThat(a.rowsOf("home")).containsOnlyKeys("t", "u");
    }

    /** A client of one node goes to another one. */
    private void go(SimulatedNode to) {
        ClientIdentity client = SimulatedClients.identity("client");
        to.claim(client, reason -> {
            if (reason == null) {
                to.clients().open("client");
                to.settled(client);
            }
        });
        simulation.run(WHILE);
    }

    /** Node "a", with a session, starts while "home" is away. */
    private SimulatedNode startWithoutHome() {
        SimulatedNode a = node("a", 1);
        simulation.run(WHILE);
        go(a);
        a.node().execute(first(a, replicas("a", "home", "home", "a", "b"))::keepForOthers);
        simulation.run(WHILE);
        return a;
    }

    @Test
    void sessionsStayUntilANodeThatMayHaveKeptMessagesForThemIsThere() {
        SimulatedNode b = node("b", 1);
        SimulatedNode a = startWithoutHome();

        go(b);
        assertThat(a.clients().sessions()).containsKey("client");
        node("home", 1);
        simulation.run(LONG);

        assertThat(a.clients().sessions()).doesNotContainKey("client");
        assertThat(b.clients().sessions()).containsKey("client");
    }

    @Test
    void sessionsMoveWhenWhatWasKeptForThemHasComeFromTheAdopter() {
        SimulatedNode b = node("b", 1);
        SimulatedNode a = startWithoutHome();
        ManualStore store = new ManualStore(simulation);
        parked(store, 500);
        a.takesUpTo(Duration.ofSeconds(20).toNanos());
        NodeQueues queues = b.queuesIn(store);
        b.node().execute(() -> b.node().clients().servers().adopted("home", 1, List.of(), queues));
        go(b);
        assertThat(a.arrivals()).hasSize(500); // but not accepted
        assertThat(a.clients().sessions()).containsKey("client");
        simulation.run(LONG);
        go(b);

        assertThat(a.clients().sessions()).doesNotContainKey("client");
        assertThat(b.clients().sessions()).containsKey("client");
    }

    /** What "home" has acknowledged for "a". */
    private void parked(ManualStore store, int messages) {
        StoreWriter writer = store.writer(Runnable::run, new BrokerStore.CommitListener() {
            @Override
            public void committed(long position) {
                // a test waits for nothing
            }

            @Override
            public void failed(long position, Throwable cause) {
                throw new AssertionError(cause);
            }
        });
        long number = store.newSession();
        writer.putSession(
                new StoredSession(number, NodeQueues.id("a"), null, 0xFFFF_FFFFL, StoredSession.NEVER, null, 0));
        for (int i = 0; i < messages; i++) {
            ApplicationMessage message = ApplicationMessage.builder("t")
                    .payload(Integer.toString(i))
                    .qos(QoS.AT_LEAST_ONCE)
                    .build();
            writer.putMessage(
                    number,
                    new StoredMessage(
                            i + 1, message, "#", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING));
        }
        writer.flush();
    }

    @Test
    void sessionsMoveIfANodeThatMayHaveKeptMessagesForThemDoesNotReturn() {
        SimulatedNode b = node("b", 1);
        SimulatedNode a = startWithoutHome();
        simulation.run(LONG.multipliedBy(3));

        go(b);

        assertThat(a.clients().sessions()).doesNotContainKey("client");
        assertThat(b.clients().sessions()).containsKey("client");
    }

    @Test
    void nothingIsKeptForANodeWithoutSessions() {
        SimulatedNode a = node("a", 1);
        simulation.run(WHILE);
        a.node().execute(first(a, replicas("a", "home", null, "a"))::keepForOthers);
        simulation.run(WHILE);
        assertThat(a.node().membership().find("home")).isNull();
    }

    @Test
    void nodesThatAreConnectedWithReplicasAreAwaited() {
        SimulatedNode a = node("a", 1);
        simulation.run(WHILE);
        FirstNodes first = first(a, replicas("a", "home", "home", "a", "home"));
        assertThat(first.areKnown()).isFalse();
        assertThat(first(a, replicas("a", "home", "home", "a")).areKnown()).isTrue();

        node("home", 1);
        simulation.run(WHILE);
        assertThat(first.areKnown()).isTrue();
    }
}
