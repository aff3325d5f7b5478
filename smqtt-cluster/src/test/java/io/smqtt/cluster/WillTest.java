// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.SimulatedClients.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Will;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClusterStatus;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Wills of clients whose node is gone. */
class WillTest {

    private static final int OWNED = 39;
    private static final int WILL_COPY = 42;
    private static final int WILL_DONE = 44;

    private final Simulation simulation = new Simulation(5);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final List<SimulatedNode> nodes = new ArrayList<>();

    private void start(String... names) {
        for (String name : names) {
            nodes.add(node(name, 1));
        }
        run(3);
    }

    private SimulatedNode node(String name, long epoch) {
        return new SimulatedNode(simulation, network, name, epoch, ClusterSettings.defaults());
    }

    private void run(int seconds) {
        simulation.run(Duration.ofSeconds(seconds));
    }

    private static Will will(String text, long delaySeconds) {
        return new Will(ApplicationMessage.builder("will").payload(text).build(), delaySeconds);
    }

    private static Wills wills(SimulatedNode node) {
        return node.node().clients().wills();
    }

    private List<String> published() {
        return nodes.stream()
                .flatMap(node -> node.clients().published().stream())
                .toList();
    }

    @Test
    void aWillIsPublishedOnceByASurvivorInItsTime() {
        start("a", "b", "c", "d");
        wills(nodes.get(0)).inForce("soon", null, will("soon", 0), 0);
        wills(nodes.get(0)).inForce("later", null, will("later", 30), 100);
        wills(nodes.get(0)).inForce("ends", null, will("ends", 1_000), 40);
        run(1);
        nodes.get(0).crash();

        run(3);
        assertThat(published()).isEmpty();
        run(7);
        assertThat(published()).containsExactly("soon");
        run(25);
        assertThat(published()).containsExactlyInAnyOrder("soon", "later");
        run(100);
        assertThat(published()).containsExactlyInAnyOrder("soon", "later", "ends");
    }

    @Test
    void aWillThatIsGoneIsNotPublished() {
        start("a", "b", "c");
        wills(nodes.get(0)).inForce("c", null, will("one", 0), 100);
        wills(nodes.get(0)).inForce("d", null, will("two", 0), 100);
        run(1);
        wills(nodes.get(0)).gone("c");
        wills(nodes.get(0)).inForce("d", null, will("three", 0), 100);
        run(1);
        nodes.get(0).crash();
        run(60);

        assertThat(published()).containsExactly("three");
    }

    @Test
    void aClientThatIsSomewhereHasNoWillPublished() {
        start("a", "b", "c");
        wills(nodes.get(0)).inForce("moves", null, will("one", 30), 100);
        run(1);
        nodes.get(0).crash();
        run(10);
        ClientIdentity moved = identity("moves");
        nodes.get(1).claim(moved, reason -> {});
        run(1);
        nodes.get(1).clients().open("moves");
        nodes.get(1).settled(moved);
        run(60);

        assertThat(published()).isEmpty();
    }

    @Test
    void aClientThatIsElsewhereBeforeItsNodeIsFoundToBeGoneHasNoWillPublished() {
        start("a", "b", "c", "d");
        List<String> ids = new ArrayList<>();
        for (int i = 0; ids.size() < 20; i++) {
            if (!Wills.holdersOf("c" + i, List.of("b", "c", "d")).contains("d")) {
                ids.add("c" + i);
                wills(nodes.get(0)).inForce("c" + i, null, will("w" + i, 0), 100);
            }
        }
        run(1);
        network.faults(new Faults(
                Duration.ofMillis(1), Duration.ofMillis(1), true, 0, 0, Duration.ofSeconds(4))); // found out late
        nodes.get(0).crash();
        SimulatedNode d = nodes.get(3);
        List<String> opened = new ArrayList<>();
        for (String clientId : ids) {
            ClientIdentity client = identity(clientId);
            d.claim(client, reason -> {
                if (reason == null) {
                    d.clients().open(clientId);
                    opened.add(clientId);
                }
                d.settled(client);
            });
        }
        run(60);

        assertThat(opened).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(published()).isEmpty();
    }

    @Test
    void whoHadAClientBeforeDoesNotEndItsWill() {
        start("a", "b", "c");
        wills(nodes.get(0)).inForce("c", null, will("one", 0), 100);
        run(1);
        for (SimulatedNode node : nodes.subList(1, 3)) {
            ClusterClients clients = node.node().clients();
            clients.accept(new NodeIdentity("a", 1), new Frame.Owned(List.of("c"), List.of(10L)));
            clients.accept(new NodeIdentity("e", 1), new Frame.Owned(List.of("c"), List.of(5L)));
        }
        nodes.get(0).crash();
        run(20);

        assertThat(published()).containsExactly("one");
    }

    @Test
    void aHolderThatWasAwayIsToldThatAWillIsGone() {
        start("a", "b", "c", "d");
        String first = Wills.holdersOf("c", List.of("b", "c", "d")).get(0);
        wills(nodes.get(0)).inForce("c", null, will("one", 30), 100);
        run(1);
        cutOff(first);
        run(2);
        wills(nodes.get(0)).gone("c");
        run(8);
        assertThat(wills(nodes.get(0)).known()).isEqualTo(1);
        network.healAll();
        run(5);
        assertThat(wills(nodes.get(0)).known()).isZero();
        nodes.get(0).crash();
        run(100);

        assertThat(published()).isEmpty();
    }

    @Tag("slow")
    @Test
    void nobodyWaitsForAHolderThatStaysAway() {
        start("a", "b", "c");
        for (int i = 0; i < Wills.MAXIMUM_WILLS; i++) {
            wills(nodes.get(0)).inForce("c" + i, null, will("w", 0), 0);
        }
        run(60);
        nodes.get(1).crash();
        run(2);
        for (int i = 0; i < Wills.MAXIMUM_WILLS; i++) {
            wills(nodes.get(0)).gone("c" + i);
        }
        run(60);
        assertThat(wills(nodes.get(0)).known()).isEqualTo(Wills.MAXIMUM_WILLS);
        wills(nodes.get(0)).inForce("another", null, will("w", 0), 0);
        assertThat(wills(nodes.get(0)).refusals()).isZero();
        simulation.run(ClusterSettings.defaults().routeTtl());

        assertThat(wills(nodes.get(0)).known()).isEqualTo(1);
    }

    @Test
    void theNextOnePublishesWhenTheFirstIsGoneToo() {
        start("a", "b", "c");
        String clientId = "c";
        String first = Wills.holdersOf(clientId, List.of("b", "c")).get(0);
        wills(nodes.get(0)).inForce(clientId, null, will("one", 20), 100);
        run(1);
        nodes.get(0).crash();
        run(10);
        nodes.stream().filter(node -> node.nodeId().equals(first)).forEach(SimulatedNode::crash);
        run(60);

        assertThat(published()).containsExactly("one");
    }

    @Test
    void aNodeThatComesBackIsToldWhatBecameOfItsWills() {
        start("a", "b", "c");
        wills(nodes.get(0)).inForce("one", null, will("one", 0), 100);
        wills(nodes.get(0)).inForce("two", null, will("two", 30), 100);
        run(1);
        nodes.get(0).crash();
        run(15);
        SimulatedNode again = node("a", 2);
        nodes.add(again);
        run(5);

        assertThat(again.clients().settled()).containsOnly("one", "two");
        run(60);
        assertThat(published()).containsExactlyInAnyOrder("one", "two");
    }

    @Test
    void aNodeThatWasCutOffAndIsBackInTimeKeepsItsWills() {
        start("a", "b", "c");
        wills(nodes.get(0)).inForce("one", null, will("one", 20), 100);
        run(1);
        cutOff("a");
        run(10);
        network.healAll();
        run(60);
        assertThat(published()).isEmpty();
        assertThat(nodes.get(0).clients().settled()).isEmpty();

        cutOff("a");
        run(30);
        network.healAll();
        run(5);
        assertThat(published()).containsExactly("one");
        assertThat(nodes.get(0).clients().settled()).contains("one");
    }

    @Test
    void aNodeThatComesBackIsToldOfItsWillsBeforeAnythingElse() {
        start("a", "b");
        nodes.get(1).clients().open("somebody");
        wills(nodes.get(0)).inForce("one", null, will("one", 0), 100);
        run(1);
        nodes.get(0).crash();
        run(15);
        List<Integer> types = new ArrayList<>();
        network.listen((from, to, frame) -> {
            if (from == nodes.get(1).process()) {
                types.add((int) frame[1]);
            }
        });
        nodes.add(node("a", 2));
        run(1);

        assertThat(types).contains(WILL_DONE, OWNED);
        assertThat(types.indexOf(WILL_DONE)).isLessThan(types.indexOf(OWNED));
    }

    @Test
    void theServerOfAFailedNodeIsNotifiedUntilItAcknowledges() {
        nodes.add(node("a", 7)); // runs of different nodes have different numbers
        start("b", "c");
        wills(nodes.get(0)).inForce("one", null, will("one", 0), 100);
        run(1);
        nodes.get(0).crash();
        run(15);
        assertThat(published()).containsExactly("one");
        boolean byB = !nodes.get(1).clients().published().isEmpty();
        SimulatedNode keeper = nodes.get(byB ? 1 : 2);
        SimulatedNode server = nodes.get(byB ? 2 : 1);
        int[] sent = new int[1];
        network.listen((from, to, frame) -> {
            if (from == keeper.process() && to == server.process() && frame[1] == WILL_DONE) {
                sent[0]++;
            }
        });
        network.faults(new Faults(Duration.ofMillis(1), Duration.ofMillis(1), true, 1, 0, Duration.ofHours(1)));
        wills(keeper).servedBy("a", server.nodeId());
        simulation.run(Duration.ofMillis(10));
        network.faults(Faults.NONE);
        assertThat(server.clients().settled()).isEmpty();
        run(10);

        assertThat(server.clients().settled()).contains("one");
        int repeated = sent[0];
        run(30);
        assertThat(sent[0]).isEqualTo(repeated);
    }

    @Test
    void whatBecameOfAnEarlierWillSaysNothingOfTheNext() {
        start("a", "b");
        NodeIdentity b = new NodeIdentity("b", 1);
        Wills own = wills(nodes.get(0));
        own.inForce("c", null, will("one", 0), 100); // version 1
        own.gone("c");
        own.inForce("c", null, will("two", 0), 100); // version 3
        own.accept(b, new Frame.WillDone(1, "c", 1));
        assertThat(nodes.get(0).clients().settled()).isEmpty();

        own.accept(b, new Frame.WillDone(3, "c", 1));
        assertThat(nodes.get(0).clients().settled()).containsExactly("c");
    }

    @Test
    void aCopyThatComesLateBringsNothingBack() {
        start("a", "b");
        List<byte[]> copies = new ArrayList<>();
        network.listen((from, to, frame) -> {
            if (from == nodes.get(0).process() && frame[1] == WILL_COPY) {
                copies.add(frame);
            }
        });
        wills(nodes.get(0)).inForce("c", null, will("one", 0), 100);
        run(1);
        assertThat(copies).hasSize(1);
        assertThat(wills(nodes.get(1)).status().held()).isOne();
        wills(nodes.get(0)).gone("c");
        run(1);
        nodes.get(1).node().received(nodes.get(0).process(), copies.get(0));
        run(1);
        assertThat(wills(nodes.get(1)).status()).isEqualTo(ClusterStatus.Wills.NONE);
        nodes.get(0).crash();
        run(30);

        assertThat(published()).isEmpty();
    }

    @Test
    void aWillWhoseHolderWasAwayForAWhileIsPublishedOnce() {
        start("a", "b", "c", "d");
        List<String> others = List.of("b", "c", "d");
        for (int i = 0; i < 20; i++) {
            wills(nodes.get(0)).inForce("c" + i, null, will("w" + i, 30), 100);
        }
        run(1);
        for (String away : others) {
            cutOff(away);
            run(10);
            network.healAll();
            run(10);
        }
        int held = 0;
        for (SimulatedNode other : nodes.subList(1, 4)) {
            held += wills(other).status().held();
        }
        assertThat(held).as("each by two").isEqualTo(2 * 20);
        assertThat(published()).isEmpty();
        nodes.get(0).crash();
        run(60);

        assertThat(published()).hasSize(20).doesNotHaveDuplicates();
    }

    private void cutOff(String alone) {
        for (SimulatedNode node : nodes) {
            network.cut(alone, node.nodeId());
            network.cut(node.nodeId(), alone);
        }
    }

    @Test
    void thereIsABound() {
        start("a", "b", "c");
        for (int i = 0; i < Wills.MAXIMUM_WILLS + 10; i++) {
            wills(nodes.get(0)).inForce("c" + i, null, will("w", 0), 0);
        }
        assertThat(wills(nodes.get(0)).refusals()).isEqualTo(10);
        run(60);
        assertThat(wills(nodes.get(0)).status().own()).isEqualTo(Wills.MAXIMUM_WILLS);
        assertThat(wills(nodes.get(1)).status().held()).isEqualTo(Wills.MAXIMUM_WILLS);
        wills(nodes.get(0)).gone("c0");
        run(10);
        assertThat(wills(nodes.get(1)).status().held()).isEqualTo(Wills.MAXIMUM_WILLS - 1);
        wills(nodes.get(0)).inForce("another", null, will("w", 0), 0);
        assertThat(wills(nodes.get(0)).refusals()).isEqualTo(10);
    }

    @Test
    void thereIsABoundOfBytesToo() {
        start("a", "b");
        String large = "x".repeat(1024 * 1024);
        int fit = (int) (Wills.MAXIMUM_BYTES / will(large, 0).message().footprintBytes());
        for (int i = 0; i < fit + 2; i++) {
            wills(nodes.get(0)).inForce("c" + i, null, will(large, 0), 0);
        }
        run(5);

        ClusterStatus.Wills kept = wills(nodes.get(1)).status();
        assertThat(wills(nodes.get(0)).refusals()).isEqualTo(2);
        assertThat(kept.held()).isEqualTo(fit);
        assertThat(kept.heldBytes()).isBetween(fit * 1024L * 1024, Wills.MAXIMUM_BYTES);

        wills(nodes.get(0)).inForce("c0", null, will("small", 0), 0);
        wills(nodes.get(0)).inForce("c" + fit, null, will(large.substring(2_000), 0), 0);
        run(5);
        assertThat(wills(nodes.get(0)).refusals()).isEqualTo(2);
        nodes.get(0).crash();
        run(20);
        assertThat(wills(nodes.get(1)).status().held()).isZero();
        assertThat(wills(nodes.get(1)).status().heldBytes()).isZero();
        assertThat(published()).hasSize(fit + 1);
    }

    @Tag("slow")
    @Test
    void eachWillThatIsDueIsPublishedOnce() {
        RandomHistory.runEach(80, History::new);
    }

    /** Clients with wills on nodes that crash and come back, over a network that loses and doubles. */
    private static final class History extends RandomHistory {

        private final List<SimulatedNode> all = new ArrayList<>();
        private final Map<String, String> inForce = new HashMap<>();
        private final Map<String, Integer> at = new HashMap<>();
        private final Set<String> due = new HashSet<>();

        History(long seed) {
            super(seed);
        }

        @Override
        void run() {
            for (int i = 0; i < 4; i++) {
                start(i);
            }
            simulation.run(Duration.ofSeconds(3));
            faults(3, 50, 0.1, 2_000);
            int clients = 0;
            for (int round = 0; round < 6; round++) {
                for (int i = random.nextInt(20); i >= 0; i--) {
                    int index = random.nextInt(nodes.size());
                    String clientId = "c" + clients++;
                    inForce(index, clientId, clientId);
                }
                for (String clientId : List.copyOf(inForce.keySet())) {
                    int choice = random.nextInt(6);
                    if (choice == 0) {
                        wills(nodes.get(at.get(clientId))).gone(clientId);
                        inForce.remove(clientId);
                    } else if (choice == 1) {
                        inForce(at.get(clientId), clientId, clientId + "'" + round);
                    }
                }
                simulation.run(Duration.ofSeconds(20)); // all was heard
                int index = random.nextInt(nodes.size());
                nodes.get(index).crash();
                for (String clientId : List.copyOf(inForce.keySet())) {
                    if (at.get(clientId) == index) {
                        due.add(inForce.remove(clientId));
                    }
                }
                simulation.run(Duration.ofMillis(random.nextInt(60_000)));
                start(index);
                simulation.run(Duration.ofSeconds(60));
            }
            assertThat(all.stream().flatMap(node -> node.clients().published().stream()))
                    .containsExactlyInAnyOrderElementsOf(due);
        }

        private void inForce(int index, String clientId, String text) {
            wills(nodes.get(index)).inForce(clientId, null, will(text, random.nextInt(40)), 1_000);
            inForce.put(clientId, text);
            at.put(clientId, index);
        }

        private void start(int index) {
            SimulatedNode node = start("n" + index);
            all.add(node);
            if (index < nodes.size()) {
                nodes.set(index, node);
            } else {
                nodes.add(node);
            }
        }
    }
}
