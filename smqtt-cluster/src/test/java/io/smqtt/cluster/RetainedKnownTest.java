// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.smqtt.bytes.NameCache;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Publishers of retained messages wait until all reachable nodes have them. */
class RetainedKnownTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration STEP = Duration.ofNanos(100_000);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Faults GOOD = Faults.NONE;

    private Simulation simulation = new Simulation(7);
    private SimulatedNetwork network = new SimulatedNetwork(simulation);

    static long[] seeds() {
        return Seeds.some(60);
    }

    private SimulatedNode node(String nodeId) {
        return node(nodeId, ClusterSettings.defaults());
    }

    private SimulatedNode node(String nodeId, ClusterSettings settings) {
        return new SimulatedNode(simulation, network, nodeId, 1, settings);
    }

    /** A publisher's ticket. */
    private static final class Ticket implements RouteTicket {

        private int holds;
        private boolean failed;

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

    private Ticket retain(SimulatedNode node, String topic, String payload) {
        Ticket ticket = new Ticket();
        node.retain(topic, payload, ticket);
        assertThat(ticket.isOpen()).isTrue();
        return ticket;
    }

    /** Runs until a condition holds; returns the time that it took. */
    private Duration until(BooleanSupplier condition) {
        long began = simulation.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(simulation.nanoTime() - began).isLessThan(LONG.toNanos());
            simulation.run(STEP);
        }
        return Duration.ofNanos(simulation.nanoTime() - began);
    }

    private void loss(double share) {
        network.faults(
                new Faults(GOOD.shortest(), GOOD.longest(), GOOD.inOrder(), share, GOOD.doubled(), GOOD.detection()));
    }

    @Test
    void anAcknowledgementComesWhenAllTreesHaveTheMessage() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        SimulatedNode front = node("front");
        simulation.run(WHILE);
        for (int i = 0; i < 50; i++) {
            String payload = "x" + i;
            Ticket ticket = retain(a, "t", payload);

            Duration took = until(() -> {
                boolean everywhere = payload.equals(b.tree().get("t"))
                        && payload.equals(front.tree().get("t"));
                assertThat(ticket.isOpen() || everywhere).isTrue();
                return !ticket.isOpen();
            });
            assertThat(took).isLessThan(Duration.ofMillis(20));
            assertThat(ticket.failed).isFalse();
        }
        assertThat(a.node().retained().announcer().unacknowledged()).isZero();
    }

    @Test
    void soDoesThatOfARemoval() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        simulation.run(WHILE);
        a.retain("t", "x");
        simulation.run(WHILE);
        assertThat(b.tree()).containsKey("t");
        Ticket ticket = retain(b, "t", "");

        until(() -> {
            assertThat(ticket.isOpen() || a.tree().isEmpty()).isTrue();
            return !ticket.isOpen();
        });
        until(() -> a.tree().isEmpty() && b.tree().isEmpty());
        Ticket ofNothing = retain(b, "never", "");
        until(() -> !ofNothing.isOpen());
    }

    @Test
    void aNodeAloneAwaitsNone() {
        SimulatedNode a = node("a");
        simulation.run(WHILE);
        Ticket ticket = retain(a, "t", "x");

        assertThat(until(() -> !ticket.isOpen())).isLessThan(Duration.ofMillis(20));
    }

    @Test
    void aNodeThatHasBecomeUnreachableIsNotAwaited() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        SimulatedNode c = node("c");
        simulation.run(WHILE);
        b.crash();
        Ticket ticket = retain(a, "t", "x");
        until(() -> !ticket.isOpen());

        assertThat(a.reaches("b")).isFalse();
        assertThat(c.tree()).containsEntry("t", "x");
        assertThat(ticket.failed).isFalse();
    }

    @Test
    void aSilentNodeIsAwaitedUntilItCountsAsFailed() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        simulation.run(WHILE);
        loss(1);
        Ticket ticket = retain(a, "t", "x");

        until(() -> {
            assertThat(ticket.isOpen() || !a.reaches("b")).isTrue();
            return !ticket.isOpen();
        });
        assertThat(b.tree()).isEmpty();
    }

    @Test
    void lostFramesAreSentAgain() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        SimulatedNode c = node("c");
        simulation.run(WHILE);
        loss(0.5);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            tickets.add(retain(a, "t/" + i, "x"));
            simulation.run(Duration.ofMillis(10));
        }
        until(() -> tickets.stream().noneMatch(Ticket::isOpen));

        assertThat(b.tree()).hasSize(20).isEqualTo(c.tree());
    }

    @Test
    void aNodeOfAVersionThatDoesNotAcknowledgeIsNotAwaited() {
        SimulatedNode a = node("a");
        List<Frame> heard = new ArrayList<>();
        process("old", Frame.JOINED | Frame.ANSWERS | Frame.SERVERS, heard);
        simulation.run(WHILE);
        assertThat(a.reaches("old")).isTrue();
        Ticket ticket = retain(a, "t", "x");

        assertThat(until(() -> !ticket.isOpen())).isLessThan(Duration.ofMillis(20));
        simulation.run(WHILE);
        assertThat(heard).anyMatch(frame -> frame instanceof Frame.RetainedUpdate update && update.number() == 0);
        assertThat(a.node().retained().catchUp().isOver()).isTrue();
    }

    /** A process that introduces itself, and does nothing else. */
    private void process(String nodeId, long features, List<Frame> heard) {
        SimulatedNetwork.Endpoint process = network.start(nodeId);
        byte[] hello = FrameCodec.encode(
                new NodeIdentity(nodeId, 1), new Frame.Hello(1, 1, features, "0.1", false, 1, nodeId, ""), 0);
        process.start(new ClusterTransport.Handler() {
                    @Override
                    public void up(ClusterTransport.Peer peer) {
                        process.send(peer, hello, false);
                    }

                    @Override
                    public void down(ClusterTransport.Peer peer) {
                        // it sends nothing more
                    }

                    @Override
                    public void received(ClusterTransport.Peer from, byte[] frame) {
                        Frame known =
                                FrameCodec.decode(frame, 0, new NameCache(16)).frame();
                        if (known instanceof Frame.Hello introduced && introduced.reply()) {
                            process.send(from, hello, false);
                        }
                        if (known != null) {
                            heard.add(known);
                        }
                    }

                    @Override
                    public void refused(ClusterTransport.Refusal reason) {
                        // there are none
                    }
                })
                .block();
    }

    @Test
    void noAcknowledgementIsRequestedBeforeAPublisherWaits() {
        List<Frame> carried = new ArrayList<>();
        SimulatedNode a = node("a");
        node("b");
        simulation.run(WHILE);
        assertThat(new RetainedOfOthers(a.node(), false).holdsTickets()).isFalse();
        network.listen((from, to, frame) ->
                carried.add(FrameCodec.decode(frame, 0, new NameCache(16)).frame()));
        a.retain("t", "x");
        simulation.run(WHILE);
        assertThat(carried).noneMatch(Frame.RetainedKnown.class::isInstance);

        Ticket ticket = retain(a, "t", "y");
        until(() -> !ticket.isOpen());

        assertThat(carried).anyMatch(Frame.RetainedKnown.class::isInstance);
    }

    @Test
    void whatWaitsForANodeIsBounded() {
        int most = 10;
        SimulatedNode a = node("a", VariedSettings.withQueue(most));
        node("b");
        simulation.run(WHILE);
        loss(1);
        List<Ticket> tickets = new ArrayList<>();
        for (int i = 0; i < 3 * most; i++) {
            tickets.add(retain(a, "t/" + i, "x"));
            simulation.run(Duration.ofMillis(20));
        }

        assertThat(a.node().retained().announcer().unacknowledged()).isEqualTo(most);
        assertThat(a.node().retained().announcer().unawaited()).isEqualTo(2L * most);
        assertThat(tickets.stream().filter(Ticket::isOpen)).hasSize(most);
    }

    @Test
    void aNodeThatReturnsIsBehindUntilItHasWhatTheOthersHaveAcknowledged() {
        SimulatedNode a = node("a");
        SimulatedNode b = node("b");
        SimulatedNode c = node("c");
        simulation.run(WHILE);
        List<String> others = List.of("a", "b");
        others.forEach(other -> cut("c", other));
        simulation.run(WHILE);
        Ticket ticket = retain(a, "t", "x");
        until(() -> !ticket.isOpen());
        assertThat(c.tree()).isEmpty();

        network.healAll();

        until(() -> c.node().retained().catchUp().isClosed());
        assertThat(a.node().retained().catchUp().isClosed()).isFalse();
        assertThat(b.node().retained().catchUp().isClosed()).isFalse();
        List<String> known = new ArrayList<>();
        c.node()
                .retained()
                .catchUp()
                .whenOver(() -> known.add(String.valueOf(c.tree().get("t"))));
        until(() -> !known.isEmpty());
        assertThat(known).containsExactly("x");
    }

    private void cut(String one, String other) {
        network.cut(one, other);
        network.cut(other, one);
    }

    @Test
    void aClientDoesNotWaitForeverForANodeThatDoesNotAnswer() {
        SimulatedNode a = node("a");
        simulation.run(WHILE);
        process("silent", Frame.JOINED | Frame.RETAINED, new ArrayList<>());
        until(() -> a.node().retained().catchUp().isClosed());
        boolean[] over = {false};
        a.node().retained().catchUp().whenOver(() -> over[0] = true);

        Duration took = until(() -> over[0]);

        assertThat(took).isLessThanOrEqualTo(Duration.ofNanos(RetainedCatchUp.LONGEST_NANOS + 1_000_000_000));
    }

    /** Nodes crash and return with their stores, frames are doubled and late: what is acknowledged is read everywhere. */
    @ParameterizedTest
    @MethodSource("seeds")
    void whatIsAcknowledgedIsReadAtAllNodes(long seed) {
        simulation = new Simulation(seed);
        network = new SimulatedNetwork(simulation);
        new Register().run();
    }

    /** A few topics, to which all nodes publish. */
    private final class Register {

        private static final int TOPICS = 3;
        private static final int STEPS = 300;

        private final List<SimulatedNode> nodes = new ArrayList<>();
        private final List<Write> open = new ArrayList<>();

        /** Values whose publishers were not acknowledged, because their nodes have crashed. */
        private final Set<String> abandoned = new HashSet<>();

        /** Values that were read before another one was published whose publisher was acknowledged since. By topic. */
        private final Map<String, Set<String>> outdated = new HashMap<>();

        private long number;
        private long restarts;

        private record Write(SimulatedNode node, String topic, String payload, Ticket ticket, Set<String> before) {}

        void run() {
            for (String nodeId : List.of("a", "b", "c")) {
                nodes.add(node(nodeId));
            }
            simulation.run(WHILE);
            for (int i = 0; i < STEPS; i++) {
                step();
                int steps = simulation.random().nextInt(simulation.random().nextInt(10) == 0 ? 3_000 : 30);
                for (int j = 0; j < steps; j++) {
                    simulation.run(STEP);
                    check();
                }
            }
            network.faults(GOOD);
            simulation.run(Duration.ofSeconds(20));
            check();
            assertThat(open).isEmpty();
            assertThat(nodes.get(0).tree())
                    .isEqualTo(nodes.get(1).tree())
                    .isEqualTo(nodes.get(2).tree());
        }

        private void step() {
            int index = simulation.random().nextInt(nodes.size());
            SimulatedNode node = nodes.get(index);
            switch (simulation.random().nextInt(40)) {
                case 0 -> restart(index);
                case 1 ->
                    network.faults(new Faults(
                            Duration.ofMillis(1),
                            Duration.ofMillis(1 + simulation.random().nextInt(50)),
                            true,
                            0,
                            0.1,
                            Duration.ofMillis(100)));
                case 2 -> network.faults(GOOD);
                default -> {
                    if (isInUse(node)) {
                        write(node);
                    }
                }
            }
        }

        private void write(SimulatedNode node) {
            String topic = "t/" + simulation.random().nextInt(TOPICS);
            String payload = String.valueOf(++number);
            Set<String> before = new HashSet<>();
            nodes.forEach(other -> before.add(String.valueOf(other.tree().get(topic))));
            Ticket ticket = new Ticket();
            node.retain(topic, payload, ticket);
            before.removeAll(abandoned);
            open.forEach(each -> before.remove(each.payload));
            open.add(new Write(node, topic, payload, ticket, before));
        }

        private void restart(int index) {
            SimulatedNode node = nodes.get(index);
            node.crash();
            open.removeIf(write -> write.node == node && abandoned.add(write.payload));
            long epoch = 1 + ++restarts;
            SimulatedNode next =
                    new SimulatedNode(simulation, network, node.nodeId(), epoch, ClusterSettings.defaults());
            next.recover(node.store(), node.note());
            nodes.set(index, next);
        }

        private void check() {
            open.removeIf(write -> {
                boolean done = !write.ticket.isOpen();
                if (done) {
                    outdated.computeIfAbsent(write.topic, topic -> new HashSet<>())
                            .addAll(write.before);
                }
                return done;
            });
            for (SimulatedNode node : nodes) {
                if (isInUse(node)) {
                    outdated.forEach((topic, values) -> {
                        String value = String.valueOf(node.tree().get(topic));
                        if (values.contains(value)) {
                            fail(node.nodeId() + " has " + value + " in " + topic);
                        }
                    });
                }
            }
        }

        /** It reaches the others, and they reach it. */
        private boolean isInUse(SimulatedNode node) {
            return !node.node().retained().catchUp().isClosed()
                    && nodes.stream()
                            .filter(other -> other != node)
                            .allMatch(other -> node.reaches(other.nodeId()) && other.reaches(node.nodeId()));
        }
    }
}
