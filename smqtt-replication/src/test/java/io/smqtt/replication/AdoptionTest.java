// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerModule;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.persistence.StoreSettings;
import io.smqtt.session.AdoptionWatch;
import io.smqtt.session.NodeQueues;
import io.smqtt.spi.BrokerStore;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jgroups.protocols.DISCARD;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Brokers over the replicas of three nodes in one JVM, without a cluster between them: one serves the store of another. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class AdoptionTest {

    private static final Duration PATIENCE = Duration.ofSeconds(180);

    @TempDir
    private Path folder;

    private final Map<String, Integer> ports = TestStack.ports(Set.of("a", "b", "c"));
    private final Map<String, ReplicaNode> nodes = new ConcurrentHashMap<>();
    private final Map<String, TestBroker> brokers = new ConcurrentHashMap<>();
    private final Map<String, DISCARD> networks = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Completes the end of an adoption of the store of a, when the other nodes send nothing more; null if they say it at once. */
    private volatile @Nullable Queue<Runnable> quiet;

    @AfterEach
    void close() {
        brokers.values().forEach(TestBroker::close);
        nodes.values().forEach(ReplicaNode::closeAll);
        threads.shutdownNow();
    }

    private void open(String... names) throws Exception {
        TestStack.openTogether(threads, PATIENCE.multipliedBy(2), this::openOne, names);
        TestStack.awaitSettled(PATIENCE, nodes);
    }

    private void openOne(String name) {
        TreeMap<String, String> addresses = new TreeMap<>();
        ports.forEach((node, port) -> addresses.put(node, "127.0.0.1:" + port));
        DISCARD network = new DISCARD();
        networks.put(name, network);
        try {
            ReplicaNode node = ReplicaNode.open(
                    new ReplicaPlan(name, addresses, 3),
                    folder.resolve(name),
                    StoreSettings.defaults(),
                    () -> TestStack.reliable(name, ports, network, TestStack.LATE));
            nodes.put(name, node);
            BrokerStore store = node.awaitStore(PATIENCE);
            assertThat(store).isNotNull();
            brokers.put(
                    name,
                    TestBroker.builder()
                            .parts(parts ->
                                    parts.store(store).module(new Others()).module(new ReplicationModule(node, true)))
                            .start());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Ends a node without a word to the others. */
    private void kill(String name) {
        networks.get(name).discardAll(true);
        nodes.get(name).leave();
        brokers.remove(name).close();
        nodes.remove(name).closeAll();
    }

    /** Freezes a node for the others, and lets it wake. */
    private void cut(String name, boolean cut) {
        networks.get(name).discardAll(cut);
    }

    /** Waits until another node has adopted the sessions of a node. */
    private String awaitServer(String home, String other) {
        String found = await().atMost(PATIENCE)
                .until(
                        () -> nodes.entrySet().stream()
                                .filter(node -> !node.getKey().equals(other))
                                .filter(node -> node.getValue().status().stream()
                                        .anyMatch(status -> status.home().equals(home)
                                                && status.serves()
                                                && node.getKey().equals(status.server())))
                                .map(Map.Entry::getKey)
                                .findFirst()
                                .orElse(null),
                        server -> server != null);
        List<String> others = List.of("b", "c");
        await().atMost(PATIENCE).until(() -> !nodes.get(found).unserved().isAwaited(others));
        return found;
    }

    private RawClient connect(String node) {
        return brokers.get(node).open(ProtocolVersion.MQTT_5).deadline(PATIENCE);
    }

    /** Connects a client with a session. The view may change once more, and refuse it for a moment. */
    private RawClient resume(String node, String clientId) {
        return await().atMost(PATIENCE).until(() -> tryToResume(node, clientId), Objects::nonNull);
    }

    /** Does the same as {@link #resume}; null if the node refuses for the moment. */
    private @Nullable RawClient tryToResume(String node, String clientId) {
        RawClient client = connect(node);
        ReceivedPacket answer =
                client.send(ConnectBytes.of(clientId).persistent(3_600)).expect(MqttMessageType.CONNACK);
        if (answer.reasonCode() == ReasonCode.SERVER_UNAVAILABLE.value()) {
            client.close();
            return null;
        }
        assertThat(answer.sessionPresent()).as("%s: %s", clientId, answer).isTrue();
        return client;
    }

    private void store(String node, String clientId, String topic) {
        try (RawClient client = connect(node)) {
            client.connect(ConnectBytes.of(clientId).persistent(3_600));
            client.subscribe(topic, 2);
            client.disconnect();
        }
    }

    private void publish(String node, String topic, String text) {
        try (RawClient publisher = connect(node)) {
            publisher.connect("publisher");
            publisher.publish(PublishBytes.to(topic).payload(text).qos(2));
        }
    }

    @Test
    void sessionsOfAFailedNodeAreServedByAnotherOneAndGivenBack() throws Exception {
        open("a", "b", "c");
        store("a", "moves", "moves");
        store("a", "stays", "stays");
        publish("a", "moves", "first");
        publish("a", "stays", "first");

        kill("a");
        String server = awaitServer("a", "a");
        try (RawClient moves = resume(server, "moves")) {
            publish(server, "moves", "second");
            publish(server, "stays", "second");
            assertThat(moves.receiveExactlyOnce(2)).containsExactly("first", "second");

            open("a");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(nodes.get("a").own()).satisfies(own -> {
                        assertThat(own.serves()).isTrue();
                        assertThat(own.server()).isEqualTo("a");
                    }));
            publish(server, "moves", "third");
            moves.pubRecAndComp(moves.expectPublish("moves", "third"));
        }
        try (RawClient stays = resume("a", "stays")) {
            assertThat(stays.receiveExactlyOnce(2)).containsExactly("first", "second");
            stays.expectNothing();
        }
    }

    /** The other nodes of the cluster, as an adopter sees them. */
    private final class Others implements BrokerModule {

        @Override
        public Mono<Void> start(Core core) {
            return Mono.fromRunnable(() -> core.sessions().adoptions().watch(new AdoptionWatch() {
                @Override
                public void adopted(String home, long reign, List<String> leftOut, NodeQueues parked) {
                    core.sessions().adoptions().settled(home);
                }

                @Override
                public void ending(String home, Runnable done) {
                    Queue<Runnable> later = quiet;
                    if (later == null || !home.equals("a")) { // a slow machine takes a node for a failed one
                        done.run();
                    } else {
                        later.add(done);
                    }
                }
            }));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }

    @Test
    void theAdopterStaysUntilTheOtherNodesSendNothingMore() throws Exception {
        open("a", "b", "c");
        store("a", "client", "topic");
        kill("a");
        String server = awaitServer("a", "a");
        Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
        quiet = waiting;
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(Adopter.class);
        log.start();
        logger.addAppender(log);
        CompletableFuture<Void> start;
        try {
            start = CompletableFuture.runAsync(() -> openOne("a"), threads);
            await().atMost(PATIENCE).until(() -> !waiting.isEmpty());
            await().atMost(PATIENCE)
                    .until(() -> List.copyOf(log.list).stream()
                            .anyMatch(event -> event.getFormattedMessage()
                                    .equals("not all nodes have confirmed that the store of node a is given back;"
                                            + " it is served by this node until they have")));
        } finally {
            logger.detachAppender(log);
        }

        assertThat(nodes.get(server).replica("a").reigns()).isTrue();
        publish(server, "topic", "late");
        assertThat(start).isNotDone();
        waiting.remove().run();
        start.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        try (RawClient client = resume("a", "client")) {
            client.pubRecAndComp(client.expectPublish("topic", "late"));
        }
    }

    @Test
    void aStopDoesNotWaitForTheOtherNodes() throws Exception {
        open("a", "b", "c");
        store("a", "client", "topic");
        kill("a");
        String server = awaitServer("a", "a");
        Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
        quiet = waiting;
        CompletableFuture<Void> start = CompletableFuture.runAsync(() -> openOne("a"), threads);
        await().atMost(PATIENCE).until(() -> !waiting.isEmpty());

        brokers.remove(server).close();

        assertThat(nodes.get(server).replica("a").served()).as("its store").isNull();
        start.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void aHomeThatWakesLeavesItsStoreToTheNodeThatServesIt() throws Exception {
        open("a", "b", "c");
        store("a", "client", "topic");
        cut("a", true);
        awaitServer("a", "a");
        cut("a", false);
        await().atMost(PATIENCE)
                .until(() -> nodes.get("a").own().failure() != null
                        && nodes.get("a").own().connected().size() == 3);

        await().pollDelay(Duration.ofNanos(2 * HomeReturn.LONGEST_NANOS))
                .atMost(PATIENCE)
                .until(() -> !"a".equals(nodes.get("a").own().leader()));
        String[] server = new String[1];
        try (RawClient client = await().atMost(PATIENCE)
                .until(
                        () -> { // the view may change once more, and the server with it, but not to the home
                            server[0] = awaitServer("a", "a");
                            return tryToResume(server[0], "client");
                        },
                        Objects::nonNull)) {
            assertThat(nodes.get("a").own().serves()).isFalse();
            publish(server[0], "topic", "text");
            client.pubRecAndComp(client.expectPublish("topic", "text"));
        }
    }
}
