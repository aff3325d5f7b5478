// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.ConsumerEndedException;
import io.smqtt.ConsumerOptions;
import io.smqtt.MessageFlux;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.persistence.StoreUnusableException;
import io.smqtt.spi.BrokerStore;
import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSession;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.store.RecoveredStore;
import io.smqtt.test.store.StoreLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jgroups.protocols.DISCARD;
import org.jgroups.stack.Protocol;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Three nodes in one JVM, each with replicas of all three stores. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class ReplicaNodeTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MESSAGES = 100;

    @TempDir
    private Path folder;

    private final Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c"));
    private final Map<String, ReplicaNode> nodes = new ConcurrentHashMap<>();
    private final Map<String, BrokerStore> stores = new ConcurrentHashMap<>();
    private final Map<String, DISCARD> networks = new ConcurrentHashMap<>();
    private volatile boolean isFull;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        nodes.values().forEach(ReplicaNode::closeAll);
        threads.shutdownNow();
    }

    private ReplicaPlan plan(String name, int nodeCount) {
        TreeMap<String, String> addresses = new TreeMap<>();
        ports.forEach((node, port) -> addresses.put(node, "127.0.0.1:" + port));
        for (int more = 3; more < nodeCount; more++) {
            addresses.put("x" + more, "127.0.0.1:1");
        }
        return new ReplicaPlan(name, addresses, 3);
    }

    private void open(String name, ReplicaPlan plan) throws Exception {
        ReplicaNode node = ReplicaNode.open(
                plan, folder.resolve(name), StoreSettings.defaults(), () -> protocols(name), this::write);
        nodes.put(name, node);
        BrokerStore store = node.awaitStore(PATIENCE);
        assertThat(store).isNotNull();
        stores.put(name, store);
    }

    private List<Protocol> protocols(String name) throws Exception {
        DISCARD network = new DISCARD();
        networks.put(name, network);
        return TestStack.reliable(name, ports, network);
    }

    private void write(Path disk) throws IOException {
        if (isFull) {
            throw new IOException("No space left on device");
        }
    }

    private void open(String... names) throws Exception {
        TestStack.openTogether(threads, PATIENCE.multipliedBy(2), name -> open(name, plan(name, 3)), names);
        TestStack.awaitSettled(PATIENCE, nodes);
    }

    /** Proposes an entry of the own store until its effect is there: a node does not lead at all times. */
    private static void propose(ReplicaNode node, byte[] entry, BooleanSupplier effect) {
        RaftGroup group = node.replica("a").group();
        await().atMost(PATIENCE).until(() -> {
            if (!effect.getAsBoolean()) {
                group.propose(group.figures().term(), entry);
            }
            return effect.getAsBoolean();
        });
    }

    /** Waits until all groups have all their members. */
    private void awaitVoters() {
        await().atMost(PATIENCE)
                .until(() -> nodes.values().stream()
                        .allMatch(node -> node.status().stream().allMatch(ReplicaStatus::voter)));
    }

    private void kill(String name) {
        networks.get(name).discardAll(true);
        nodes.remove(name).closeAll();
    }

    private void wipe(String name) throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve(name))) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void fill(StoreLoop loop, long session, int from) {
        loop.commit(writer -> {
            writer.putSession(new StoredSession(
                    session, "client", null, 3_600, StoredSession.CONNECTED, null, StoredSession.CONNECTED));
            for (int i = 0; i < MESSAGES; i++) {
                writer.putMessage(session, queued(from + i));
            }
        });
    }

    private static StoredMessage queued(int sequence) {
        ApplicationMessage message = ApplicationMessage.builder("topic")
                .payload("payload " + sequence)
                .qos(QoS.AT_LEAST_ONCE)
                .build();
        return new StoredMessage(
                sequence, message, "topic", QoS.AT_LEAST_ONCE, false, new int[0], StoredDelivery.WAITING);
    }

    @Test
    void aNodeThatLosesItsDiskGetsItsStoreBack() throws Exception {
        open("a", "b", "c");
        stores.get("a").recover(new RecoveredStore());
        try (StoreLoop loop = new StoreLoop(stores.get("a"))) {
            fill(loop, stores.get("a").newSession(), 1);
        }
        kill("a");
        wipe("a");

        open("a", plan("a", 3));

        RecoveredStore found = new RecoveredStore();
        stores.get("a").recover(found);
        assertThat(found.sessions()).hasSize(1);
        found.sessions()
                .values()
                .forEach(session -> assertThat(session.waiting().messages()).isEqualTo(MESSAGES));
    }

    @Test
    void aNodeThatIsAloneRefusesAndContinuesWithTheOthers() throws Exception {
        open("a", "b", "c");
        BrokerStore store = stores.get("a");
        store.recover(new RecoveredStore());
        try (StoreLoop loop = new StoreLoop(store)) {
            long session = store.newSession();
            fill(loop, session, 1);
            networks.get("a").discardAll(true);
            await().atMost(PATIENCE)
                    .until(() -> !store.isHealthy() && !nodes.get("a").own().serves());
            long refused = loop.flush(writer -> writer.putMessage(session, queued(MESSAGES + 1)));
            loop.awaitTold(refused);
            assertThat(loop.safe()).isLessThan(refused);

            networks.get("a").discardAll(false);
            await().atMost(PATIENCE).until(store::isHealthy);
            fill(loop, session, MESSAGES + 2);
        }
        kill("a");
        open("a", plan("a", 3));

        RecoveredStore found = new RecoveredStore();
        stores.get("a").recover(found);
        assertThat(found.sessions().values().iterator().next().waiting().messages())
                .isEqualTo(2 * MESSAGES);
    }

    @Test
    void aNodeWhoseReplicaHasEndedSaysWhy() throws Exception {
        open("a", "b", "c");
        ReplicaNode node = nodes.get("a");
        byte[] noEntryOfAStore = {9};
        propose(node, noEntryOfAStore, () -> node.own().failure() != null);

        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(node.status()).allSatisfy(status -> {
                assertThat(status.failure()).contains("it is an entry of kind 9, not of a store");
                assertThat(status.connected()).isEmpty();
            });
            assertThat(node.own().serves()).isFalse();
            assertThat(stores.get("a").isCutOff()).isTrue();
            assertThat(stores.get("a").refusal()).isEqualTo(ReasonCode.SERVER_UNAVAILABLE);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void aNodeWhoseDiskHasRoomAgainContinues(String home) throws Exception {
        open("a", "b", "c");
        awaitVoters();
        ReplicaNode node = nodes.get("a");
        BrokerStore store = stores.get("a");
        store.recover(new RecoveredStore());
        try (StoreLoop loop = new StoreLoop(store)) {
            long session = store.newSession();
            fill(loop, session, 1);
            isFull = true;
            node.replica(home)
                    .group()
                    .failed(StoreUnusableException.of(folder, new IOException("No space left on device")));
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(store.isHealthy()).isFalse();
                assertThat(node.own().failure()).contains("No space left on device");
            });
            assertThat(node.needsRestart()).isFalse();
            long refused = loop.flush(writer -> writer.putMessage(session, queued(MESSAGES + 1)));
            loop.awaitTold(refused);
            assertThat(loop.safe()).isLessThan(refused);

            isFull = false;
            await().atMost(PATIENCE).until(store::isHealthy);
            fill(loop, session, MESSAGES + 2);
        }
        TestStack.awaitSettled(PATIENCE, nodes);
        awaitVoters();
        assertThat(node.own().failure()).isNull();
        assertThat(node.needsRestart()).isFalse();
        kill("a");
        open("a", plan("a", 3));

        RecoveredStore found = new RecoveredStore();
        stores.get("a").recover(found);
        assertThat(found.sessions().values().iterator().next().waiting().messages())
                .isEqualTo(2 * MESSAGES);
    }

    /** Its members of groups stay in use, and it has to be started again. */
    @Test
    void aNodeWhoseStoreAnotherHasServedDisconnectsItsStoredClients() throws Exception {
        open("a", "b", "c");
        ReplicaNode node = nodes.get("a");
        try (TestBroker broker = TestBroker.builder()
                        .parts(parts -> parts.store(stores.get("a")).module(new ReplicationModule(node)))
                        .start();
                RawClient stored = broker.open(ProtocolVersion.MQTT_5).deadline(PATIENCE);
                RawClient clean = broker.open(ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
            stored.connect(ConnectBytes.of("stored").persistent(600));
            clean.connect(ConnectBytes.of("clean"));
            AtomicReference<Throwable> ended = new AtomicReference<>();
            MessageFlux<ApplicationMessage> messages =
                    broker.broker().subscribe("topic", ConsumerOptions.DEFAULTS.durable("consumer"));
            messages.subscribe(message -> {}, ended::set);
            messages.ready().block(PATIENCE);
            propose(node, StoreEntry.begin(new Reign("b", 1)), node::needsRestart);

            stored.expectDisconnect(ReasonCode.SERVER_SHUTTING_DOWN);
            clean.ping();
            await().atMost(PATIENCE).until(() -> ended.get() != null);
            assertThat(ended.get())
                    .asInstanceOf(InstanceOfAssertFactories.type(ConsumerEndedException.class))
                    .extracting(ConsumerEndedException::reason)
                    .isEqualTo(ReasonCode.SERVER_UNAVAILABLE);
            try (RawClient again = broker.open(ProtocolVersion.MQTT_5).deadline(PATIENCE)) {
                ReceivedPacket answer =
                        again.send(ConnectBytes.of("stored").persistent(600)).expect(MqttMessageType.CONNACK);
                assertThat(answer.reason()).isEqualTo(ReasonCode.SERVER_UNAVAILABLE);
            }
            assertThat(node.needsRestart()).isTrue();
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(node.own().failure()).contains("node b serves this store since entry");
                assertThat(node.own().connected()).containsExactly("a", "b", "c");
                assertThat(node.status())
                        .filteredOn(status -> status.failure() != null)
                        .hasSize(1);
            });
        }
    }

    @Test
    void aNodeWithOtherNodesIsRefused() throws Exception {
        open("a", "b", "c");
        kill("c");
        wipe("c");
        assertThatThrownBy(() -> open("c", plan("c", 4)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("cluster.nodes and storage.replicas must be the same on all nodes");
    }

    @Test
    void aNodeWithTheDataOfAnotherClusterIsRefused() throws Exception {
        open("a", "b", "c");
        awaitVoters();
        List.of("a", "b", "c").forEach(this::kill);
        Files.move(folder.resolve("c"), folder.resolve("other"));
        wipe("a");
        wipe("b");
        open("a", "b", "c");
        awaitVoters();
        kill("c");
        wipe("c");
        Files.move(folder.resolve("other"), folder.resolve("c"));

        assertThatThrownBy(() -> open("c", plan("c", 3)))
                .isInstanceOf(ConfigurationException.class)
                .hasMessageContaining("storage.dir has the data of different clusters");
        await().atMost(PATIENCE).until(() -> nodes.get("a").own().serves());
    }

    @Test
    void eachNodeLeadsItsOwnGroup() throws Exception {
        open("a", "b", "c");

        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> { // an election may still follow the first one
                            for (String name : ports.keySet()) {
                                ReplicaNode node = nodes.get(name);
                                assertThat(node.status())
                                        .as(name)
                                        .extracting(ReplicaStatus::home, ReplicaStatus::leader)
                                        .containsExactly(tuple("a", "a"), tuple("b", "b"), tuple("c", "c"));
                                assertThat(node.own())
                                        .as(name)
                                        .matches(ReplicaStatus::serves)
                                        .extracting(ReplicaStatus::connected)
                                        .isEqualTo(List.of("a", "b", "c"));
                            }
                        });
    }
}
