// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClientIdentity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random partitions between nodes that live on, while clients go from node to node and messages are taken for them: when all
 * meet again each client has one session, and in it everything that any session of its took, once, and what one of them took
 * of a publisher in its order.
 */
@Tag("slow")
class HealHistoriesTest {

    @Test
    void nothingThatWasTakenIsLostWhenSessionsMeet() {
        RandomHistory.runEach(300, History::new);
    }

    private static final class History extends RandomHistory {

        private static final int NODES = 3;
        private static final int CLIENTS = 3;

        private final Map<String, List<String>> taken = new HashMap<>();
        private final Map<SimulatedClients.Held, Integer> sessions = new IdentityHashMap<>();
        private final int[] published = new int[NODES];

        History(long seed) {
            super(seed);
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
                simulation.run(Duration.ofMillis(random.nextInt(random.nextInt(6) == 0 ? 12_000 : 60)));
            }
            heal();
            simulation.run(Duration.ofMinutes(6));
            check();
        }

        private void step() {
            int choice = random.nextInt(20);
            if (choice == 0) {
                network.cut("n" + random.nextInt(NODES), "n" + random.nextInt(NODES));
            } else if (choice <= 2) {
                cutOff("n" + random.nextInt(NODES));
            } else if (choice <= 4) {
                network.healAll();
            } else if (choice == 5) {
                faults(3, 50, 0.1, 2_000);
            } else if (choice <= 11) {
                claim(nodes.get(random.nextInt(NODES)), "c" + random.nextInt(CLIENTS));
            } else {
                for (int i = random.nextInt(8); i >= 0; i--) {
                    publish(random.nextInt(NODES), "c" + random.nextInt(CLIENTS));
                }
            }
        }

        private void claim(SimulatedNode node, String clientId) {
            ClientIdentity client = SimulatedClients.identity(clientId);
            node.claim(client, reason -> {
                if (reason == null) {
                    simulation.after(random.nextInt(20_000_000), () -> open(node, client));
                }
            });
        }

        /** A session that is about to leave opens when it has left, or stays. */
        private void open(SimulatedNode node, ClientIdentity client) {
            if (node.clients().isLeaving(client.clientId())) {
                simulation.after(5_000_000, () -> open(node, client));
            } else {
                node.clients().open(client.clientId());
                node.settled(client);
            }
        }

        private void publish(int index, String clientId) {
            SimulatedClients.Held session = nodes.get(index).clients().taking(clientId);
            if (session == null) {
                return;
            }
            int number = sessions.computeIfAbsent(session, key -> sessions.size());
            String text = index + "." + number + "-" + published[index]++;
            session.take(SimulatedClients.message(text));
            taken.computeIfAbsent(clientId, id -> new ArrayList<>()).add(text);
        }

        private void check() {
            for (SimulatedNode node : nodes) {
                node.clients()
                        .alsoElsewhere()
                        .forEach(message -> taken.values()
                                .forEach(all ->
                                        all.remove(message.message().payload().asString())));
            }
            for (int i = 0; i < CLIENTS; i++) {
                String clientId = "c" + i;
                List<List<String>> owners = new ArrayList<>();
                for (SimulatedNode node : nodes) {
                    SimulatedClients.Held held = node.clients().sessions().get(clientId);
                    if (held != null) {
                        owners.add(held.messages().stream()
                                .map(message -> message.message().payload().asString())
                                .toList());
                    }
                    assertThat(node.node().clients().departing()).isZero();
                }
                if (!taken.containsKey(clientId)) {
                    continue;
                }
                assertThat(owners).as("owners of %s", clientId).hasSize(1);
                assertThat(owners.get(0))
                        .as("what %s has", clientId)
                        .containsExactlyInAnyOrderElementsOf(taken.get(clientId));
                Set<String> publishers = taken.get(clientId).stream()
                        .map(text -> text.substring(0, text.indexOf('-') + 1))
                        .collect(Collectors.toSet());
                for (String publisher : publishers) {
                    assertThat(owners.get(0).stream().filter(text -> text.startsWith(publisher)))
                            .as("what %s has of %s", clientId, publisher)
                            .containsExactlyElementsOf(taken.get(clientId).stream()
                                    .filter(text -> text.startsWith(publisher))
                                    .toList());
                }
            }
        }
    }
}
