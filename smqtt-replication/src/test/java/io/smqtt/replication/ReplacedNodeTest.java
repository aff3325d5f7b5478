// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jgroups.protocols.DISCARD;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The node d takes the place of the lost node c, while a and b run. */
@Tag("slow")
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
class ReplacedNodeTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = 20;

    @TempDir
    private Path folder;

    private final Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c", "d", "e"));
    private final Map<String, ReplicaNode> nodes = new ConcurrentHashMap<>();
    private final Map<String, BrokerStore> stores = new ConcurrentHashMap<>();
    private final Map<String, DISCARD> networks = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        nodes.values().forEach(ReplicaNode::closeAll);
        threads.shutdownNow();
    }

    private void begin(String place, String name) throws Exception {
        TreeMap<String, String> addresses = new TreeMap<>();
        for (String node : List.of("a", "b", "c")) {
            addresses.put(node, "127.0.0.1:" + ports.get(node));
        }
        DISCARD network = new DISCARD();
        networks.put(name, network);
        nodes.put(
                name,
                ReplicaNode.open(
                        new ReplicaPlan(place, name, addresses, 3),
                        folder.resolve(name),
                        StoreSettings.defaults(),
                        () -> TestStack.reliable(name, ports, network)));
    }

    private void awaitStore(String name) throws Exception {
        BrokerStore store = nodes.get(name).awaitStore(PATIENCE);
        assertThat(store).isNotNull();
        stores.put(name, store);
    }

    private void open(String place, String name) throws Exception {
        begin(place, name);
        awaitStore(name);
    }

    private void open(String... names) throws Exception {
        TestStack.openTogether(threads, PATIENCE.multipliedBy(2), name -> open(name, name), names);
    }

    private void kill(String name) {
        networks.get(name).discardAll(true);
        nodes.remove(name).closeAll();
    }

    /** As soon as the others have noticed the end of the lost node. */
    private void replace(String at, String lost, String by) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(call(at, lost, by)).isEqualTo("c"));
    }

    private String call(String at, String lost, String by) throws Exception {
        try {
            return nodes.get(at).replace(lost, by).toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return e.getCause().getClass().getSimpleName() + ": " + e.getCause().getMessage();
        }
    }

    private void fill() {
        BrokerStore store = stores.get("c");
        store.recover(new RecoveredStore());
        try (StoreLoop loop = new StoreLoop(store)) {
            long session = store.newSession();
            loop.commit(writer -> {
                writer.putSession(new StoredSession(
                        session, "client", null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED));
                for (int i = 1; i <= MESSAGES; i++) {
                    ApplicationMessage message = ApplicationMessage.builder("topic")
                            .payload("payload " + i)
                            .qos(QoS.EXACTLY_ONCE)
                            .build();
                    writer.putMessage(
                            session,
                            new StoredMessage(
                                    i, message, "topic", QoS.EXACTLY_ONCE, false, new int[0], StoredDelivery.WAITING));
                }
            });
        }
    }

    private void assertFilled(String name) {
        RecoveredStore found = new RecoveredStore();
        stores.get(name).recover(found);
        assertThat(found.sessions()).hasSize(1);
        found.sessions()
                .values()
                .forEach(session -> assertThat(session.waiting().messages()).isEqualTo(MESSAGES));
    }

    private void awaitVoters() {
        TestStack.awaitSettled(PATIENCE, nodes);
        await().atMost(PATIENCE)
                .until(() -> nodes.values().stream()
                        .allMatch(node -> node.status().stream().allMatch(ReplicaStatus::voter)));
    }

    @Test
    void anotherNodeServesWhatTheLostOneHadStored() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        fill();
        kill("c");
        replace("a", "c", "d");
        assertThat(call("b", "c", "d")).isEqualTo("c"); // again, and elsewhere
        open("c", "d");

        assertFilled("d");
        awaitVoters();
        for (String name : List.of("a", "b", "d")) {
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(nodes.get(name).holders()).isEqualTo(Map.of("c", "d")));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(nodes.get(name).status())
                            .filteredOn(status -> status.home().equals("c"))
                            .allSatisfy(status -> {
                                assertThat(status.members()).containsExactly("a", "b", "d");
                                assertThat(status.connected()).containsExactly("a", "b", "d");
                                assertThat(status.leader()).isEqualTo("d");
                                assertThat(status.server()).isEqualTo("d");
                            }));
        }

        kill("d");
        assertThatThrownBy(() -> open("c", "c")) // with all that it had, while d is down
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("another node holds the place c of cluster.nodes: node d, not node c");
        open("c", "d");
        assertFilled("d");
    }

    @Test
    void aNodeThatWasReplacedEndsIfItIsThereFirst() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        fill();
        kill("c");
        replace("b", "c", "d");
        kill("a");
        kill("b");

        begin("c", "c");
        begin("a", "a");
        begin("b", "b");
        assertThatThrownBy(() -> awaitStore("c"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("another node holds the place c of cluster.nodes: node d, not node c");
        nodes.remove("c").closeAll();
        awaitStore("a");
        awaitStore("b");
        open("c", "d");
        assertFilled("d");
    }

    /** It was cut off, and has served clients on its side. */
    @Test
    void aNodeThatWasReplacedWhileItRanServesNothingAnyMore() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        fill();
        networks.get("c").discardAll(true);
        replace("a", "c", "d");
        networks.get("c").discardAll(false);

        ReplicaNode lost = nodes.get("c");
        await().atMost(PATIENCE).until(lost::needsRestart);
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(lost.own().failure())
                    .contains("another node holds the place c of cluster.nodes: node d, not node c");
            assertThat(stores.get("c").isHealthy()).isFalse();
        });
        open("c", "d");
        assertFilled("d");
        await().atMost(PATIENCE).until(() -> lost.own().connected().isEmpty());
    }

    @Test
    void aNodeThatWasNotNamedIsRefused() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        kill("c");
        await().atMost(PATIENCE)
                .until(() -> nodes.values().stream()
                        .allMatch(node -> node.own().connected().size() == 2));
        assertThatThrownBy(() -> open("c", "d"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("another node holds the place c of cluster.nodes: node c, not node d")
                .hasMessageContaining("smqtt ctl cluster replace");
    }

    @Test
    void aPlaceIsGivenOnAgain() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        fill();
        kill("c");
        replace("a", "c", "d");
        assertThat(call("a", "c", "e"))
                .isEqualTo("IllegalArgumentException: c is none of the nodes with replicas: a, b, d");
        replace("a", "d", "e"); // d has not started
        open("c", "e");

        assertFilled("e");
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(nodes.get("b").holders()).isEqualTo(Map.of("c", "e")));
        assertThatThrownBy(() -> begin("c", "d"))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("another node holds the place c of cluster.nodes: node e, not node d");
    }

    @Test
    void whatIsNotPossibleIsRefused() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        assertThat(call("a", "x", "d"))
                .isEqualTo("IllegalArgumentException: x is none of the nodes with replicas: a, b, c");
        assertThat(call("a", "c", "b"))
                .isEqualTo("IllegalArgumentException: b is a node with replicas already: a, b, c");
        assertThat(call("a", "c", "d")).startsWith("IllegalStateException: node c is connected");
        kill("c");
        kill("b");
        await().atMost(PATIENCE).until(() -> nodes.get("a").own().connected().size() == 1);
        assertThat(call("a", "c", "d")).startsWith("IllegalStateException: ");
        assertThat(nodes.get("a").holders()).isEmpty();
    }
}
