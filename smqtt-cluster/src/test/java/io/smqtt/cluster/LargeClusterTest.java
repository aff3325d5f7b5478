// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.assertj.core.data.Offset;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The very large cluster of docs/cluster-measurements.md in the simulated network: as many nodes, changes, connects and messages per second, but
 * fewer clients on each node. Checks that rows, frames and bytes are what the model on paper says, and that they grow with the clients as it
 * says, so that they may be multiplied. {@code -Dsmqtt.large.clients=N} takes that many on each node, {@code -Dsmqtt.large.millis=N} lets each
 * load last as long, {@code -Dsmqtt.large.nodes=N} takes other than 23 nodes, {@code -Dsmqtt.large.table=FILE} writes the table.
 */
@Tag("slow")
class LargeClusterTest {

    private static final int NODES = Integer.getInteger("smqtt.large.nodes", 23);
    private static final int CLIENTS = Integer.getInteger("smqtt.large.clients", 100);
    private static final Duration LOAD = Duration.ofMillis(Integer.getInteger("smqtt.large.millis", 10));
    private static final double PAPER_CLIENTS = 100e6 / 23;
    private static final int CHANGES_PER_SECOND = 10_000;
    private static final int CONNECTS_PER_SECOND = 10_000;
    private static final int MESSAGES_PER_SECOND = 1_000_000;
    private static final int PAYLOAD_BYTES = 128;

    private static final Set<Integer> DELTA = Set.of(2);
    private static final Set<Integer> DIGEST = Set.of(3);
    private static final Set<Integer> SNAPSHOT = Set.of(5);
    private static final Set<Integer> BATCH = Set.of(16);
    private static final Set<Integer> ACKNOWLEDGEMENT = Set.of(17);
    private static final Set<Integer> CLAIMS = Set.of(32, 33, 34, 35, 36);

    @Test
    void rowsFramesAndBytesAreThoseOfTheModel() throws IOException {
        Figures figures = new LargeCluster(CLIENTS).run();
        Figures twice = new LargeCluster(2 * CLIENTS).run();

        int others = NODES - 1;
        assertThat(figures.rows).isEqualTo((long) others * CLIENTS);
        assertThat(twice.rows).as("rows grow with the clients").isEqualTo(2 * figures.rows);
        assertThat(figures.join.bytes).as("a table").isCloseTo(55.0 * figures.rows, share(0.1, 55.0 * figures.rows));
        assertThat(twice.join.bytes)
                .as("a table of twice as many")
                .isCloseTo(2 * figures.join.bytes, share(0.05, twice.join.bytes));

        assertThat(figures.digests.frames).as("digests").isCloseTo(others, share(0.1, others));
        assertThat(figures.digests.bytes / figures.digests.frames)
                .as("bytes of one")
                .isLessThan(60);
        assertThat(twice.digests.bytes)
                .as("do not grow")
                .isCloseTo(figures.digests.bytes, share(0.1, figures.digests.bytes));

        double changes = (double) CHANGES_PER_SECOND / NODES * others; // of a node, to each other one
        assertThat(figures.changes.frames).isLessThanOrEqualTo(Math.min(changes, 200.0 * others) * 1.01);
        assertThat(figures.changes.bytes / changes).as("bytes of a change").isBetween(50.0, 80.0);
        assertThat(twice.changes.bytes)
                .as("do not grow")
                .isCloseTo(figures.changes.bytes, share(0.1, figures.changes.bytes));

        double claims = 2.0 * others + 3; // and less, where the decider is the node itself or the one that is asked
        assertThat(figures.claims.frames * NODES / CONNECTS_PER_SECOND)
                .as("frames of a connect")
                .isBetween(claims - 3, claims);

        double forwarded = (double) MESSAGES_PER_SECOND / NODES * others / NODES;
        assertThat(figures.forwarded).as("messages to other nodes").isCloseTo(forwarded, share(0.02, forwarded));
        assertThat(figures.batches.frames).isLessThanOrEqualTo(figures.forwarded);
        assertThat(figures.acknowledgements.frames).isLessThanOrEqualTo(figures.batches.frames * 1.01);
        assertThat(figures.batches.bytes / figures.forwarded)
                .as("bytes of a message")
                .isBetween(128.0, 300.0);
        assertThat(twice.forwarded).as("do not grow").isCloseTo(figures.forwarded, share(0.02, forwarded));

        String table = System.getProperty("smqtt.large.table");
        if (table != null) {
            Files.writeString(Path.of(table), table(figures));
        }
    }

    private static Offset<Double> share(double share, double of) {
        return within(Math.abs(share * of));
    }

    private static String table(Figures figures) {
        double scale = PAPER_CLIENTS / CLIENTS;
        StringBuilder table = new StringBuilder(String.format(
                Locale.ROOT,
                "%d nodes with %,d clients each; multiplied: with %,.0f%n%n| per node | simulated | multiplied |%n|---|--:|--:|%n",
                NODES,
                CLIENTS,
                PAPER_CLIENTS));
        line(table, "rows of other nodes", figures.rows, figures.rows * scale);
        line(table, "a node that joins: bytes of routes", figures.join.bytes, figures.join.bytes * scale);
        line(table, "a node that joins: bytes for each row", figures.join.bytes / figures.rows, null);
        flow(table, "digests", figures.digests);
        flow(table, "changes of routes", figures.changes);
        flow(table, "connects", figures.claims);
        line(table, "messages forwarded/s", figures.forwarded, null);
        flow(table, "messages", figures.batches);
        flow(table, "acknowledgements", figures.acknowledgements);
        return table.toString();
    }

    private static void flow(StringBuilder table, String name, Flow flow) {
        line(table, name + ": frames/s each way", flow.frames, null);
        line(table, name + ": bytes/s each way", flow.bytes, null);
    }

    private static void line(StringBuilder table, String name, double simulated, @Nullable Double multiplied) {
        table.append(String.format(
                Locale.ROOT,
                "| %s | %,.0f | %s |%n",
                name,
                simulated,
                multiplied == null ? "the same" : String.format(Locale.ROOT, "%,.0f", multiplied)));
    }

    /** Frames and bytes of some kind; of one node on average, out or in, in a second, or of a whole step. */
    private record Flow(double frames, double bytes) {}

    private record Figures(
            double rows,
            Flow join,
            Flow digests,
            Flow changes,
            Flow claims,
            double forwarded,
            Flow batches,
            Flow acknowledgements) {}

    /** One cluster, from its start to the last message. */
    private static final class LargeCluster {

        private final int clients;
        private final Simulation simulation = new Simulation(23);
        private final SimulatedNetwork network = new SimulatedNetwork(simulation);
        private final List<SimulatedNode> nodes = new ArrayList<>();
        private final Map<Integer, long[]> carried = new HashMap<>();
        private @Nullable String joining;
        private long subscriptions;
        private int acknowledged;

        LargeCluster(int clients) {
            this.clients = clients;
            network.listen((from, to, frame) -> {
                if (joining != null && !to.machine().equals(joining)) {
                    return;
                }
                long[] counts = carried.computeIfAbsent((int) frame[1], type -> new long[2]);
                counts[0]++;
                counts[1] += frame.length;
            });
        }

        Figures run() {
            for (int i = 0; i < NODES - 1; i++) {
                start(i);
            }
            settle();
            reset();
            joining = "n" + (NODES - 1);
            start(NODES - 1);
            settle();
            joining = null;
            Flow join = new Flow(count(SNAPSHOT, 0), count(SNAPSHOT, 1));
            for (SimulatedNode node : nodes) {
                for (SimulatedNode other : nodes) {
                    if (node != other) {
                        assertThat(node.rowsOf(other.nodeId())).hasSize(clients);
                    }
                }
            }
            reset();
            Duration quiet = Duration.ofSeconds(10);
            simulation.run(quiet);
            Flow digests = perNode(DIGEST, quiet);

            load(CHANGES_PER_SECOND, number -> change());
            Flow changes = perNode(DELTA, LOAD);
            load(CONNECTS_PER_SECOND, this::connect);
            Flow claims = perNode(CLAIMS, LOAD);
            long before = arrivals();
            load(MESSAGES_PER_SECOND, this::publish);
            double forwarded = (arrivals() - before) * perSecond(LOAD) / NODES;
            assertThat(acknowledged).as("acknowledged messages").isEqualTo(arrivals() - before);
            nodes.forEach(node -> assertThat(node.node().counters().repairs()).isZero());
            return new Figures(
                    (NODES - 1.0) * clients,
                    join,
                    digests,
                    changes,
                    claims,
                    forwarded,
                    perNode(BATCH, LOAD),
                    perNode(ACKNOWLEDGEMENT, LOAD));
        }

        private void start(int number) {
            SimulatedNode node = new SimulatedNode(
                    simulation,
                    network,
                    "n" + number,
                    NodeIdentity.epoch(number, simulation.random()),
                    ClusterSettings.defaults());
            nodes.add(node);
            for (int i = 0; i < clients; i++) {
                node.subscribe(filter(number, i));
            }
        }

        /** 50 bytes. */
        private static String filter(int node, long client) {
            return String.format(Locale.ROOT, "region-%04d/vehicle/%012d/commands/to-device", node, client);
        }

        private void settle() {
            simulation.run(Duration.ofSeconds(10));
        }

        private void reset() {
            carried.clear();
        }

        /** Lets something happen as often, at random moments, and waits until nothing is on its way any more. */
        private void load(int eachSecond, IntConsumer action) {
            reset();
            int count = (int) (eachSecond / perSecond(LOAD));
            for (int i = 0; i < count; i++) {
                int number = i;
                simulation.after(
                        (long) (simulation.random().nextDouble() * LOAD.toNanos()), () -> action.accept(number));
            }
            simulation.run(LOAD.plusMillis(200));
        }

        private SimulatedNode any() {
            return nodes.get(simulation.random().nextInt(nodes.size()));
        }

        private void change() {
            any().subscribe(filter(NODES, subscriptions++));
        }

        private void connect(int number) {
            ClientIdentity client = new ClientIdentity(
                    "vehicle-" + number,
                    null,
                    InetSocketAddress.createUnresolved("client", 1),
                    "",
                    ProtocolVersion.MQTT_5,
                    Set.of());
            SimulatedNode node = any();
            node.claim(client, reason -> {
                assertThat(reason).isNull();
                node.settled(client);
            });
        }

        private void publish(int number) {
            String payload = String.format(Locale.ROOT, "%0" + PAYLOAD_BYTES + "d", number);
            int owner = simulation.random().nextInt(NODES);
            any().publish(
                            filter(owner, simulation.random().nextInt(clients)),
                            payload,
                            QoS.AT_LEAST_ONCE,
                            new RouteTicket() {
                                @Override
                                public void hold() {
                                    // one node at most
                                }

                                @Override
                                public void release(boolean success) {
                                    acknowledged += success ? 1 : 0;
                                }
                            });
        }

        private long arrivals() {
            return nodes.stream().mapToLong(node -> node.arrivals().size()).sum();
        }

        private double count(Set<Integer> types, int what) {
            return types.stream()
                    .mapToLong(type -> carried.getOrDefault(type, new long[2])[what])
                    .sum();
        }

        private Flow perNode(Set<Integer> types, Duration time) {
            double factor = perSecond(time) / NODES;
            return new Flow(count(types, 0) * factor, count(types, 1) * factor);
        }

        private static double perSecond(Duration time) {
            return 1e9 / time.toNanos();
        }
    }
}
