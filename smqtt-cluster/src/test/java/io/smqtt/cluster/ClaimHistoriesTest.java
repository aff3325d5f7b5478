// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClientIdentity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random claims of a few client identifiers on several nodes. On a good network each session goes from owner to owner with
 * all that it has, and no two nodes have it at once; whatever the network does, one owner is left in the end.
 */
@Tag("slow")
class ClaimHistoriesTest {

    @Test
    void eachClientHasOneOwnerInTheEnd() {
        RandomHistory.runEach(300, History::new);
    }

    private static final class History extends RandomHistory {

        private static final int NODES = 3;
        private static final int CLIENTS = 3;

        private final boolean faulty;
        private final Map<String, List<String>> opened = new HashMap<>();
        private int claims;
        private int answers;

        History(long seed) {
            super(seed);
            faulty = random.nextBoolean();
        }

        @Override
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
            heal();
            simulation.run(Duration.ofMinutes(5));
            check();
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
                faults(3, 50, 0.1, 2_000);
            } else {
                for (int i = random.nextInt(4); i >= 0; i--) {
                    claim(nodes.get(random.nextInt(NODES)), "c" + random.nextInt(CLIENTS));
                }
            }
        }

        private void claim(SimulatedNode node, String clientId) {
            String token = Integer.toString(claims++);
            ClientIdentity client = SimulatedClients.identity(clientId);
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
                            .as("%s has %s when %s opens it", other.nodeId(), clientId, node.nodeId())
                            .isFalse();
                }
            }
            opened.computeIfAbsent(clientId, id -> new ArrayList<>()).add(token);
            node.clients().open(clientId).take(SimulatedClients.message(token));
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
                    assertThat(node.node().clients().departing()).isZero();
                }
                assertThat(owners.size()).as("owners of %s", clientId).isLessThanOrEqualTo(1);
                if (!faulty && opened.containsKey(clientId)) {
                    assertThat(owners).as("owners of %s", clientId).hasSize(1);
                    assertThat(owners.get(0).messages().stream()
                                    .map(message -> message.message().payload().asString())
                                    .toList())
                            .as("what %s has seen", clientId)
                            .isEqualTo(opened.get(clientId));
                }
            }
            if (!faulty) {
                assertThat(answers).isEqualTo(claims);
            }
        }
    }
}
