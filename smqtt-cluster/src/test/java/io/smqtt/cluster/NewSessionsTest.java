// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ReasonCode;
import io.smqtt.session.UnservedStores;
import io.smqtt.spi.ClaimRefusedException;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Five nodes with replicas: where a session may begin that was found nowhere. */
class NewSessionsTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Set<String> NODES = Set.of("a", "b", "c", "d", "e");
    private static final String FEW = "too few nodes";
    private static final String GRANTED = "granted";

    private final Simulation simulation = new Simulation(7);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final Map<String, SimulatedNode> nodes = new TreeMap<>();
    private final Map<String, Rows> rows = new TreeMap<>();

    /** The rows of the stores that no node serves, on one node. */
    private static final class Rows implements UnservedStores {

        private final Map<String, String> homes = new ConcurrentHashMap<>();
        private boolean reading;
        private boolean isCutOff;

        @Override
        public boolean isGuarded() {
            return true;
        }

        @Override
        public boolean isOwnServed() {
            return !isCutOff;
        }

        @Override
        public @Nullable String refusal(Collection<String> reached) {
            Set<String> side = new HashSet<>(reached);
            side.retainAll(NODES);
            return 2 * side.size() > NODES.size() ? null : FEW;
        }

        @Override
        public Lookup find(String clientId, Collection<String> reached) {
            String home = homes.get(clientId);
            return reading ? Lookup.UNKNOWN : home == null ? Lookup.NOTHING : new Lookup(true, home);
        }
    }

    @BeforeEach
    void meet() {
        for (String name : List.of("a", "b", "c", "d", "e")) {
            SimulatedNode node = new SimulatedNode(simulation, network, name, 1, ClusterSettings.defaults());
            Rows own = new Rows();
            node.clients().unserved(own);
            nodes.put(name, node);
            rows.put(name, own);
        }
        simulation.run(WHILE);
    }

    private SimulatedNode node(String name) {
        return nodes.get(name);
    }

    private void split() {
        for (String one : List.of("a", "b", "c")) {
            for (String other : List.of("d", "e")) {
                network.cut(one, other);
                network.cut(other, one);
            }
        }
        simulation.run(LONG);
    }

    /** A client connects to a node; returns {@link #GRANTED}, or why it was refused. */
    private String connect(String name, String clientId, boolean cleanStart, boolean stored) {
        List<String> answers = new ArrayList<>();
        ClientIdentity client = SimulatedClients.identity(clientId);
        node(name).claim(client, cleanStart, stored, refused -> {
            if (refused == null) {
                node(name).clients().open(clientId);
                node(name).settled(client);
            }
            answers.add(answer(refused));
        });
        simulation.run(Duration.ofSeconds(10));
        return answers.get(0);
    }

    private static String answer(@Nullable ClaimRefusedException refused) {
        if (refused == null) {
            return GRANTED;
        }
        assertThat(refused.reason()).isEqualTo(ReasonCode.SERVER_UNAVAILABLE);
        return String.valueOf(refused.text());
    }

    @Test
    void aStoredSessionBeginsOnTheLargerSideOnly() {
        split();
        assertThat(connect("a", "new", false, true)).isEqualTo(GRANTED);
        assertThat(connect("d", "other", false, true)).isEqualTo(FEW);
        assertThat(connect("d", "other", true, true)).isEqualTo(FEW);
        assertThat(connect("d", "other", true, false)).isEqualTo(GRANTED);
        assertThat(connect("e", "another", false, false)).isEqualTo(GRANTED);
    }

    @Test
    void aClientThatWaitsIsServedWhenTheSidesMeet() {
        split();
        List<String> answers = new ArrayList<>();
        node("d").claim(SimulatedClients.identity("new"), false, true, refused -> answers.add(answer(refused)));
        simulation.run(Duration.ofSeconds(1));
        assertThat(answers).isEmpty();
        network.healAll();
        simulation.run(Duration.ofSeconds(10));
        assertThat(answers).hasSize(1);
        assertThat(connect("d", "another", false, true)).isEqualTo(GRANTED);
    }

    @Test
    void aSessionOfTheSmallerSideMovesThere() {
        assertThat(connect("e", "c", false, true)).isEqualTo(GRANTED);
        split();
        assertThat(connect("d", "c", false, true)).isEqualTo(GRANTED);
        assertThat(node("d").clients().sessions()).containsKey("c");
        assertThat(node("e").clients().sessions()).doesNotContainKey("c");
    }

    @Test
    void aCleanStartEndsNoSessionWhereNoneMayBegin() {
        assertThat(connect("e", "c", false, true)).isEqualTo(GRANTED);
        split();
        assertThat(connect("d", "c", true, true)).isEqualTo(FEW);
        assertThat(node("e").clients().sessions()).containsKey("c");
        assertThat(connect("e", "c", true, true)).isEqualTo(GRANTED);
    }

    @Test
    void noSessionBeginsForAClientThatHasOneInAStoreThatNoNodeServes() {
        rows.get("c").homes.put("client", "d");
        split();
        String text = "the session is in the store of node d, which no node serves now";
        for (String name : List.of("a", "b", "c")) { // one of them decides, one has the rows
            assertThat(connect(name, "client", false, true)).isEqualTo(text);
            assertThat(connect(name, "client", true, true)).isEqualTo(text);
        }
        assertThat(connect("a", "client", true, false)).isEqualTo(GRANTED);
    }

    @Test
    void anOldRowDoesNotHideASessionThatIsServed() {
        assertThat(connect("b", "client", false, true)).isEqualTo(GRANTED);
        rows.get("c").homes.put("client", "d");
        split();
        assertThat(connect("a", "client", false, true)).isEqualTo(GRANTED);
        assertThat(connect("a", "client", true, true)).isEqualTo(GRANTED);
    }

    @Test
    void aSessionStaysInAStoreThatLosesItsReplicas() {
        assertThat(connect("b", "client", false, true)).isEqualTo(GRANTED);
        rows.get("b").isCutOff = true;
        String text = "the session is in the store of node b, which no node serves now";
        assertThat(connect("a", "client", false, true)).isEqualTo(text);
        assertThat(connect("a", "client", true, true)).isEqualTo(text);
        assertThat(node("b").clients().sessions()).containsKey("client");
        rows.get("b").isCutOff = false;
        assertThat(connect("a", "client", false, true)).isEqualTo(GRANTED);
    }

    @Test
    void aClaimWaitsWhileRowsAreRead() {
        rows.get("c").homes.put("client", "d");
        rows.get("c").reading = true;
        split();
        List<String> answers = new ArrayList<>();
        node("a").claim(SimulatedClients.identity("client"), false, true, refused -> answers.add(answer(refused)));
        simulation.run(Duration.ofSeconds(5));
        assertThat(answers).isEmpty();
        assertThat(connect("c", "none", true, false)).isEqualTo(GRANTED);
        rows.get("c").reading = false;
        simulation.run(Duration.ofSeconds(5));
        assertThat(answers).containsExactly("the session is in the store of node d, which no node serves now");
    }

    /** The node that decides has noticed a partition, and this one has not. */
    @Test
    void nodesThatHaveNotAnsweredDoNotCount() {
        List<String> answers = new ArrayList<>();
        List.of("b", "c", "d", "e").forEach(other -> network.cut("a", other)); // it is not decided
        node("a").claim(SimulatedClients.identity("client"), false, true, refused -> answers.add(answer(refused)));
        simulation.run(Duration.ofMillis(1));
        decide(1, "b");
        assertThat(answers).isEmpty();
        decide(1, "b"); // it asks again
        decide(2, "b", "c");
        assertThat(answers).containsExactly(GRANTED);
    }

    private void decide(long claim, String... answered) {
        ClusterNode a = node("a").node();
        a.execute(() -> a.clients()
                .accept(new NodeIdentity("b", 1), new Frame.Granted(claim, "client", true, 1, List.of(answered), "")));
        simulation.run(Duration.ofMillis(1));
    }
}
