// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.SimulatedNetwork.Faults;
import io.smqtt.test.cluster.Simulation;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random claims of a few client identifiers on several nodes. On a good network each session goes from owner to owner with
 * all that it has, and no two nodes have it at once; whatever the network does, one owner is left in the end.
 */
class ClaimHistoriesTest {

    static long[] seeds() {
        return Seeds.some(300);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void eachClientHasOneOwnerInTheEnd(long seed) {
        new History(seed).run();
    }

    private static final class History {

        private static final int NODES = 3;
        private static final int CLIENTS = 3;

        private final Simulation simulation;
        private final SimulatedNetwork network;
        private final Random random;
        private final String context;
        private final boolean faulty;
        private final List<SimulatedNode> nodes = new ArrayList<>();
        private final Map<String, List<String>> opened = new HashMap<>();
        private int claims;
        private int answers;
        private long epochs = 1;

        History(long seed) {
            simulation = new Simulation(seed);
            network = new SimulatedNetwork(simulation);
            random = simulation.random();
            faulty = random.nextBoolean();
            context = "seed " + seed + ": -Dsmqtt.seed=" + seed;
        }

        void run() {
            for (int i = 0; i < NODES; i++) {
                nodes.add(start("n" + i));
            }
            simulation.run(Duration.ofSeconds(3));
            int steps = 30 + random.nextInt(100);
            for (int i = 0; i < steps; i++) {
                step();
                simulation.run(Duration.ofMillis(random.nextInt(random.nextInt(10) == 0 ? 8_000 : 60)));
            }
            network.faults(Faults.NONE);
            network.healAll();
            simulation.run(Duration.ofMinutes(5));
            check();
        }

        private SimulatedNode start(String nodeId) {
            return new SimulatedNode(
                    simulation, network, nodeId, NodeIdentity.epoch(epochs++, random), ClusterSettings.defaults());
        }

        private void step() {
            int choice = random.nextInt(20);
            int index = random.nextInt(NODES);
            SimulatedNode node = nodes.get(index);
            if (faulty && choice == 0) {
                node.crash();
                nodes.set(index, start(node.nodeId()));
            } else if (faulty && choice == 1) {
                network.cut(node.nodeId(), "n" + random.nextInt(NODES));
            } else if (faulty && choice == 2) {
                network.healAll();
            } else if (faulty && choice == 3) {
                network.faults(new Faults(
                        Duration.ofMillis(random.nextInt(3)),
                        Duration.ofMillis(3 + random.nextInt(50)),
                        random.nextBoolean(),
                        random.nextInt(3) * 0.1,
                        random.nextInt(3) * 0.1,
                        Duration.ofMillis(50 + random.nextInt(2_000))));
            } else {
                for (int i = random.nextInt(4); i >= 0; i--) {
                    claim(nodes.get(random.nextInt(NODES)), "c" + random.nextInt(CLIENTS));
                }
            }
        }

        private void claim(SimulatedNode node, String clientId) {
            String token = Integer.toString(claims++);
            ClientIdentity client = new ClientIdentity(
                    clientId,
                    null,
                    InetSocketAddress.createUnresolved("client", 1),
                    "",
                    ProtocolVersion.MQTT_5,
                    Set.of());
            node.claim(client, reason -> {
                answers++;
                if (reason == null) {
                    simulation.after(random.nextInt(20_000_000), () -> {
                        if (node.isAlive()) {
                            open(node, clientId, token);
                            node.settled(client);
                        }
                    });
                }
            });
        }

        private void open(SimulatedNode node, String clientId, String token) {
            if (!faulty) {
                for (SimulatedNode other : nodes) {
                    assertThat(other != node && other.clients().sessions().containsKey(clientId))
                            .as("%s has %s when %s opens it, %s", other.nodeId(), clientId, node.nodeId(), context)
                            .isFalse();
                }
            }
            opened.computeIfAbsent(clientId, id -> new ArrayList<>()).add(token);
            node.clients().open(clientId).messages().add(message(token));
        }

        private static StoredMessage message(String token) {
            ApplicationMessage message = ApplicationMessage.builder("t")
                    .payload(token)
                    .qos(QoS.AT_LEAST_ONCE)
                    .build();
            return new StoredMessage(1, message, "t", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
        }

        private void check() {
            for (int i = 0; i < CLIENTS; i++) {
                String clientId = "c" + i;
                List<SimulatedClients.Held> owners = new ArrayList<>();
                for (SimulatedNode node : nodes) {
                    SimulatedClients.Held held = node.clients().sessions().get(clientId);
                    if (held != null) {
                        owners.add(held);
                    }
                    assertThat(node.node().clients().departing()).as(context).isZero();
                }
                assertThat(owners.size())
                        .as("owners of %s, %s", clientId, context)
                        .isLessThanOrEqualTo(1);
                if (!faulty && opened.containsKey(clientId)) {
                    assertThat(owners).as("owners of %s, %s", clientId, context).hasSize(1);
                    assertThat(owners.get(0).messages().stream()
                                    .map(message -> message.message().payload().asString())
                                    .toList())
                            .as("what %s has seen, %s", clientId, context)
                            .isEqualTo(opened.get(clientId));
                }
            }
            if (!faulty) {
                assertThat(answers).as(context).isEqualTo(claims);
            }
        }
    }
}
