// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClientIdentity;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Clients of an adopted store, and its own node. */
class AdoptedClientsTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Simulation simulation = new Simulation(12);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final SimulatedNode a = node("a");
    private final SimulatedNode b = node("b");

    private SimulatedNode node(String nodeId) {
        return new SimulatedNode(simulation, network, nodeId, 1, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
    }

    private void open(SimulatedNode node, String clientId) {
        ClientIdentity client = SimulatedClients.identity(clientId);
        node.claim(client, reason -> {
            assertThat(reason).isNull();
            node.clients().open(clientId).take(SimulatedClients.message(node.nodeId()));
            node.settled(client);
        });
        simulation.run(WHILE);
    }

    @Test
    void aSessionThatWasClaimedLaterElsewhereMovesWhenItMay() {
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(LONG);
        open(a, "c");
        open(b, "c");
        a.clients().mayMove(false); // other nodes have parked messages for it
        network.healAll();
        simulation.run(LONG);
        assertThat(a.clients().sessions()).containsKey("c");

        a.clients().mayMove(true);
        simulation.run(LONG);

        assertThat(a.clients().sessions()).doesNotContainKey("c");
        assertThat(b.clients().sessions()).containsKey("c");
    }

    @Test
    void aNodeHearsThatAnotherOneServesItsStore() {
        List<String> heard = new ArrayList<>();
        List<String> sentOn = new ArrayList<>();
        HomeServers servers = b.node().clients().servers();
        servers.observe(sentOn::add, (server, reign) -> {});
        a.node().clients().servers().observe(home -> {}, (server, reign) -> heard.add(server + " " + reign));

        b.node().execute(() -> servers.adopted("a", 9, List.of(), null));
        simulation.run(WHILE);

        assertThat(heard).contains("b 9").containsOnly("b 9");
        assertThat(sentOn).containsExactly("a");
    }
}
