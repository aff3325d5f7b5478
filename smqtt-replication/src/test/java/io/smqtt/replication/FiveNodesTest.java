// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.spi.BrokerStore;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jgroups.Address;
import org.jgroups.protocols.DISCARD;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Five nodes with three replicas each, of which two are away or on the other side of a partition: a client has one session. The replicas of a and c are on
 * a, c and e, those of b and e on b, c and e, those of d on b, d and e.
 */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class FiveNodesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(180);
    private static final int REASON_STRING = 0x1F;
    private static final String[] ALL = {"a", "b", "c", "d", "e"};
    private static final Set<String> SMALLER = Set.of("a", "c");
    private static final String IN_THE_STORE_OF_A = "the session is in the store of node a, which no node serves now";
    private static final String TWO_OF_FIVE =
            "this node reaches 2 of the 5 nodes of cluster.nodes: new sessions are stored on the side with more than half of them only";

    @TempDir
    private Path folder;

    private final Map<String, Integer> ports = TestStack.ports(Set.of(ALL));
    private final Map<String, ReplicaNode> nodes = new ConcurrentHashMap<>();
    private final Map<String, TestBroker> brokers = new ConcurrentHashMap<>();
    private final Map<String, DISCARD> networks = new ConcurrentHashMap<>();
    private final MemoryNetwork frames = new MemoryNetwork();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void open() throws Exception {
        TestStack.openTogether(threads, PATIENCE, this::openOne, ALL);
        for (String clientId : List.of("moves", "cleans", "old")) {
            store("a", clientId);
        }
        store("b", "here");
    }

    @AfterEach
    void close() throws Exception {
        all(end(ALL));
        frames.close();
        threads.shutdownNow();
    }

    /** Ends nodes without a word to the others. */
    private List<CompletableFuture<Void>> end(String... names) {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (String name : names) {
            networks.get(name).discardAll(true);
            nodes.get(name).leave();
            ends.add(later(() -> {
                brokers.remove(name).close();
                nodes.remove(name).closeAll();
            }));
        }
        return ends;
    }

    private CompletableFuture<Void> later(Runnable task) {
        return CompletableFuture.runAsync(task, threads);
    }

    private static void all(List<CompletableFuture<Void>> tasks) throws Exception {
        for (CompletableFuture<Void> task : tasks) {
            task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private void openOne(String name) throws Exception {
        TreeMap<String, String> addresses = new TreeMap<>();
        ports.forEach((node, port) -> addresses.put(node, "127.0.0.1:" + port));
        DISCARD network = new DISCARD();
        networks.put(name, network);
        ReplicaNode node = ReplicaNode.open(
                new ReplicaPlan(name, addresses, 3),
                folder.resolve(name),
                StoreSettings.defaults(),
                () -> TestStack.reliable(name, ports, network));
        nodes.put(name, node);
        BrokerStore store = Objects.requireNonNull(node.awaitStore(PATIENCE));
        ClusterConfig cluster = ClusterConfig.builder().nodeId(name).build();
        brokers.put(
                name,
                TestBroker.builder()
                        .parts(parts -> parts.store(store)
                                .module(ClusterModule.of(cluster, frames.transport(name)))
                                .module(new ReplicationModule(node, true)))
                        .start());
    }

    private static Address addressOf(DISCARD network) {
        return network.getProtocolStack().getChannel().getAddress();
    }

    /** Cuts a and c off from the others. */
    private void split() {
        for (String name : ALL) {
            for (String other : ALL) {
                if (SMALLER.contains(name) != SMALLER.contains(other)) {
                    networks.get(name).addIgnoreMember(addressOf(networks.get(other)));
                }
            }
        }
        frames.partition("a", "c");
    }

    private void heal() {
        networks.values().forEach(DISCARD::resetIgnoredMembers);
        frames.heal();
    }

    private RawClient connect(String node, ProtocolVersion version) {
        return brokers.get(node).open(version).deadline(PATIENCE);
    }

    private void store(String node, String clientId) {
        try (RawClient client = connect(node, ProtocolVersion.MQTT_5)) {
            client.connect(ConnectBytes.of(clientId).persistent(3_600));
            client.subscribe(clientId, 1);
            client.disconnect();
        }
        try (RawClient publisher = connect(node, ProtocolVersion.MQTT_5)) {
            publisher.connect("publisher");
            publisher.publish(PublishBytes.to(clientId).payload("first").qos(1));
        }
    }

    /** Connects until the node accepts the client; a node may need a moment until it serves after a change. */
    private RawClient accepted(String node, ConnectBytes connect, boolean present) {
        return await().atMost(PATIENCE).until(() -> tried(node, connect, present), Objects::nonNull);
    }

    private @Nullable RawClient tried(String node, ConnectBytes connect, boolean present) {
        RawClient client = connect(node, ProtocolVersion.MQTT_5);
        ReceivedPacket answer = client.send(connect).expect(MqttMessageType.CONNACK);
        if (answer.reasonCode() == ReasonCode.SERVER_UNAVAILABLE.value()) {
            client.close();
            return null;
        }
        assertThat(answer.reasonCode()).isZero();
        assertThat(answer.sessionPresent()).as("%s at %s", answer, node).isEqualTo(present);
        return client;
    }

    /** The node refuses the client as often as it tries, in the end for this reason. */
    private void refused(String node, ConnectBytes connect, String text) {
        await().atMost(PATIENCE).until(() -> {
            try (RawClient client = connect(node, ProtocolVersion.MQTT_5)) {
                ReceivedPacket answer = client.send(connect).expect(MqttMessageType.CONNACK);
                assertThat(answer.reasonCode()).as("%s", answer).isEqualTo(ReasonCode.SERVER_UNAVAILABLE.value());
                return text.equals(answer.property(REASON_STRING));
            }
        });
    }

    private static ConnectBytes stored(String clientId) {
        return ConnectBytes.of(clientId).persistent(3_600);
    }

    private void servesCleanSession(String node, String clientId) {
        try (RawClient client = accepted(node, ConnectBytes.of(clientId), false)) {
            client.subscribe("t/" + clientId, 1);
            client.publish(PublishBytes.to("no/subscriber").payload("text").qos(1));
        }
    }

    private void servesNewSession(String node, String clientId) {
        accepted(node, stored(clientId), false).close();
        accepted(node, stored(clientId), true).close();
    }

    private long sessionsOf(String clientId) {
        return brokers.values().stream()
                .filter(broker -> Boolean.TRUE.equals(broker.broker()
                        .clients()
                        .any(info -> info.identity().clientId().equals(clientId))
                        .block()))
                .count();
    }

    private void findsTheMessage(RawClient client) {
        client.acknowledge(0x40, client.expectPublish("moves", "first").packetId());
    }

    private void refusesEarlierVersions() {
        try (RawClient client = connect("b", ProtocolVersion.MQTT_3_1_1)) {
            ReceivedPacket answer =
                    client.send(ConnectBytes.of("old").cleanStart(false)).expect(MqttMessageType.CONNACK);
            assertThat(answer.reasonCode()).isEqualTo(3);
        }
    }

    @Test
    void aPartitionMakesNoSecondSession() throws Exception {
        split();
        all(List.of(
                later(() -> refused("b", stored("moves"), IN_THE_STORE_OF_A)),
                later(() -> refused("b", stored("cleans").cleanStart(true), IN_THE_STORE_OF_A)),
                later(() -> refused("c", stored("new"), TWO_OF_FIVE))));
        servesCleanSession("b", "clean-b");
        servesCleanSession("c", "clean-c");
        servesNewSession("b", "new");
        accepted("d", stored("here"), true).close();
        accepted("c", stored("moves"), true).close(); // its store has a majority on this side

        heal();
        try (RawClient client = accepted("b", stored("moves"), true)) {
            findsTheMessage(client);
        }
        await().atMost(PATIENCE).until(() -> sessionsOf("moves") == 1 && sessionsOf("new") == 1);
    }

    @Test
    void aGroupWithoutAMajorityKeepsItsClients() throws Exception {
        frames.partition("a", "c");
        List<CompletableFuture<Void>> ends = end("a", "c");
        all(List.of(
                later(() -> refused("d", stored("moves"), IN_THE_STORE_OF_A)),
                later(() -> refused("d", stored("cleans").cleanStart(true), IN_THE_STORE_OF_A)),
                later(this::refusesEarlierVersions)));
        servesCleanSession("d", "clean");
        servesNewSession("b", "new");
        accepted("d", stored("here"), true).close();

        all(ends);
        frames.heal();
        TestStack.openTogether(threads, PATIENCE, this::openOne, "a", "c");
        try (RawClient client = accepted("d", stored("moves"), true)) {
            findsTheMessage(client);
        }
        await().atMost(PATIENCE).until(() -> sessionsOf("moves") == 1 && sessionsOf("new") == 1);
    }
}
