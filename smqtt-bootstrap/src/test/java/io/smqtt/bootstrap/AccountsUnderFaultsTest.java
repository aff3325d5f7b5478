// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.FunctionCounter;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.DropPolicy;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.ManagementConfig;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.metric.MetricModule;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.test.BrokerClock;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import io.smqtt.test.store.ManualStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random histories of brokers that fare badly: clients that read nothing or break off in the middle, queues that are full, messages that
 * expire, a store that fails, a network that is cut. In the end what the meters say balances all the same: what was received, times what it
 * matched, is what was delivered, dropped, and waits.
 *
 * <p>{@code -Dsmqtt.seed=S} tries one history, {@code -Dsmqtt.seeds=N} so many.
 */
@Timeout(300)
class AccountsUnderFaultsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration ANSWER = Duration.ofMillis(500); // a store that is held gives none
    private static final int CLIENTS = 6;
    private static final int STEPS = 250;
    private static final String[] FILTERS = {"a", "b", "#", "+", "$share/g/a", "$share/g/#", "$share/h/b"};
    private static final int PLAIN = 4; // of them, not shared
    private static final String LARGE = "x".repeat(200_000);

    @Test
    void oneNode() {
        Set<String> reasons = new TreeSet<>();
        for (long seed : seeds(4)) {
            try (History history = new History(seed, 1)) {
                reasons.addAll(history.run());
            }
        }
        assertThat(reasons).contains("queue_count", "session_ended");
    }

    @Test
    void twoNodesAndACut() {
        Set<String> reasons = new TreeSet<>();
        for (long seed : seeds(4)) {
            try (History history = new History(seed, 2)) {
                reasons.addAll(history.run());
            }
        }
        assertThat(reasons).contains("queue_count", "session_ended");
    }

    private static List<Long> seeds(int usual) {
        Long one = Long.getLong("smqtt.seed");
        List<Long> seeds = new ArrayList<>();
        for (long seed = 1; seed <= Integer.getInteger("smqtt.seeds", usual); seed++) {
            seeds.add(seed);
        }
        return one != null ? List.of(one) : seeds;
    }

    /** A broker with meters, a store that can fail, and what the observer was told as a second account. */
    private static final class Node implements AutoCloseable {

        final ManualStore store;
        final TestBroker broker;
        final AtomicLong matches = new AtomicLong();
        private @Nullable MetricModule metrics;

        Node(String name, Random random, @Nullable MemoryNetwork network) {
            BrokerClock clock = BrokerClock.running();
            store = new ManualStore(clock);
            boolean queueQos0 = random.nextBoolean();
            DropPolicy policy = random.nextBoolean() ? DropPolicy.OLDEST : DropPolicy.NEWEST;
            broker = TestBroker.builder()
                    .clock(clock)
                    .config(config -> config.limits(LimitsConfig.builder()
                                    .maxQueuedMessages(6)
                                    .maxOutboundBytes(300_000)
                                    .build())
                            .session(SessionConfig.builder()
                                    .queueQos0(queueQos0)
                                    .dropPolicy(policy)
                                    .build())
                            .management(ManagementConfig.builder()
                                    .port(0)
                                    .sysInterval(Duration.ZERO)
                                    .build()))
                    .parts(parts -> {
                        MetricModule module = MetricModule.create(BrokerConfig.builder()
                                .listeners(Map.of("mqtt", ListenerConfig.tcp(0)))
                                .management(ManagementConfig.builder()
                                        .port(0)
                                        .sysInterval(Duration.ZERO)
                                        .build())
                                .build());
                        metrics = module;
                        if (network != null) {
                            parts.module(ClusterModule.of(
                                    ClusterConfig.builder().nodeId(name).build(), network.transport(name)));
                        }
                        return parts.store(store)
                                .module(module)
                                .observer(module.observer())
                                .observer(new BrokerObserver() {
                                    @Override
                                    public void messageReceived(QoS qos, int payloadBytes, int count) {
                                        matches.addAndGet(count);
                                    }
                                });
                    })
                    .start();
        }

        long sum(String meter, String... tags) {
            return (long) metrics.registry().find(meter).tags(tags).functionCounters().stream()
                    .mapToDouble(FunctionCounter::count)
                    .sum();
        }

        long gauge(String meter) {
            return (long) metrics.registry().get(meter).gauge().value();
        }

        Set<String> dropReasons() {
            return metrics.registry().find("smqtt.messages.dropped").functionCounters().stream()
                    .filter(counter -> counter.count() > 0)
                    .map(counter -> counter.getId().getTag("reason"))
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        /** Nothing is on its way any more, and the account balances. */
        void assertBalance(String context) {
            long matched = sum("smqtt.messages.matched");
            long ended = sum("smqtt.messages.delivered") + sum("smqtt.messages.dropped");
            long waiting = gauge("smqtt.messages.waiting");
            assertThat(sum("smqtt.messages.matched", "source", "publish"))
                    .as("%s: matches of what was received", context)
                    .isEqualTo(matches.get());
            assertThat(matched - ended)
                    .as("%s: %s matched, %s ended, the rest waits", context, matched, ended)
                    .isBetween(
                            waiting,
                            waiting + gauge("smqtt.messages.inflight")); // QoS 2 leaves its queue before it is sent
        }

        @Override
        public void close() {
            broker.close();
        }
    }

    /** One history; a single thread acts, the brokers' own go on meanwhile. */
    private static final class History implements AutoCloseable {

        private final String context;
        private final Random random;
        private final @Nullable MemoryNetwork network;
        private final List<Node> nodes = new ArrayList<>();
        private final Map<String, RawClient> clients = new HashMap<>();

        History(long seed, int count) {
            context = count + " nodes, -Dsmqtt.seed=" + seed;
            random = new Random(seed);
            network = count > 1 ? new MemoryNetwork() : null;
            for (int i = 0; i < count; i++) {
                nodes.add(new Node("n" + i, random, network));
            }
        }

        Set<String> run() {
            for (int i = 0; i < STEPS; i++) {
                try {
                    int client = random.nextInt(CLIENTS);
                    step("c" + client, home(client));
                } catch (UncheckedIOException | AssertionError e) {
                    // the broker has closed this connection, or does not answer while its store fails: so it goes
                }
            }
            for (Node node : nodes) {
                node.store.heal();
                node.store.release();
            }
            if (network != null) {
                network.heal();
            }
            assertBalance("sessions wait");
            for (int i = 0; i < CLIENTS; i++) { // ends sessions with all that waits for them
                String id = "c" + i;
                int number = i;
                await().atMost(PATIENCE)
                        .ignoreExceptions()
                        .untilAsserted(() -> replace(id, home(number), ConnectBytes.of(id)));
            }
            assertBalance("sessions ended");
            Set<String> reasons = new TreeSet<>();
            for (Node node : nodes) {
                await().atMost(PATIENCE)
                        .untilAsserted(() -> assertThat(node.gauge("smqtt.messages.pending"))
                                .as(context)
                                .isZero());
                assertThat(node.sum("smqtt.messages.delivered")).as(context).isPositive();
                reasons.addAll(node.dropReasons());
            }
            return reasons;
        }

        /** Clients keep to one node: what moves with a session is not accounted for exactly. */
        private Node home(int client) {
            return nodes.get(client % nodes.size());
        }

        private void assertBalance(String when) {
            for (int i = 0; i < nodes.size(); i++) {
                Node node = nodes.get(i);
                String where = context + ", " + when + ", node " + i;
                await().atMost(PATIENCE).untilAsserted(() -> node.assertBalance(where));
            }
        }

        private void step(String id, Node node) {
            switch (random.nextInt(22)) {
                case 0, 1, 2 -> connect(id, node);
                case 3 -> breakOff(id);
                case 4, 5 -> subscribe(id);
                case 6, 7, 8 -> read(id);
                case 9 -> node.broker.clock().advance(Duration.ofMillis(random.nextInt(1_500)));
                case 10 -> fault(node);
                case 11 -> burst(node);
                case 12 -> publish(node, LARGE);
                default -> publish(node, "x".repeat(random.nextInt(20)));
            }
        }

        private void fault(Node node) {
            int kind = random.nextInt(8);
            if (kind == 0) {
                node.store.hold();
            } else if (kind == 1) {
                node.store.fail();
            } else if (kind < 5 || network == null) {
                node.store.heal();
                node.store.release();
            } else if (kind == 5) {
                network.partition("n0");
            } else {
                network.heal();
            }
        }

        private void connect(String id, Node node) {
            ConnectBytes connect = ConnectBytes.of(id);
            if (random.nextInt(4) > 0) {
                connect.cleanStart(random.nextInt(5) == 0).persistent(random.nextInt(100));
            }
            connect.properties().receiveMaximum(1 + random.nextInt(4));
            if (random.nextInt(4) == 0) {
                connect.properties().maximumPacketSize(40);
            }
            replace(id, node, connect);
        }

        private void replace(String id, Node node, ConnectBytes connect) {
            RawClient client = node.broker.open(ProtocolVersion.MQTT_5).deadline(ANSWER);
            RawClient old = clients.put(id, client);
            try {
                client.connect(connect);
            } finally {
                if (old != null) {
                    old.abort();
                }
            }
        }

        /** In the middle of whatever is on its way. */
        private void breakOff(String id) {
            RawClient client = clients.remove(id);
            if (client != null) {
                client.abort();
            }
        }

        private void subscribe(String id) {
            RawClient client = clients.get(id);
            if (client != null) {
                String filter = FILTERS[random.nextInt(network == null ? FILTERS.length : PLAIN)];
                client.send(SubscribeBytes.of(client.nextPacketId()).filter(filter, random.nextInt(3)));
            }
        }

        /** Takes some of what is there, and acknowledges most of it. */
        private void read(String id) {
            RawClient client = clients.get(id);
            for (int i = random.nextInt(10); client != null && i > 0 && hasBytes(client); i--) {
                ReceivedPacket packet = client.receive();
                if (packet == null) {
                    clients.remove(id);
                    return;
                }
                if (random.nextInt(8) > 0) {
                    answer(client, packet);
                }
            }
        }

        private static void answer(RawClient client, ReceivedPacket packet) {
            switch (packet.type()) {
                case PUBLISH -> {
                    if (packet.qos() > 0) {
                        client.acknowledge(packet.qos() == 1 ? 0x40 : 0x50, packet.packetId());
                    }
                }
                case PUBREL -> client.acknowledge(0x70, packet.packetId());
                default -> {}
            }
        }

        private static boolean hasBytes(RawClient client) {
            try {
                return client.socket().getInputStream().available() > 0;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void publish(Node node, String payload) {
            ApplicationMessage.Builder message = ApplicationMessage.builder(random.nextBoolean() ? "a" : "b")
                    .payload(payload)
                    .qos(QoS.of(random.nextInt(3)))
                    .retain(random.nextInt(8) == 0);
            if (random.nextInt(4) == 0) {
                message.expiryInterval(Duration.ofSeconds(1 + random.nextInt(2)));
            }
            node.broker.broker().publish(message.build()).subscribe(result -> {}, error -> {});
        }

        /** A publisher that breaks off before it has its answers. */
        private void burst(Node node) {
            RawClient publisher = node.broker.open(ProtocolVersion.MQTT_5).deadline(ANSWER);
            publisher.connect(ConnectBytes.of("publisher" + random.nextInt(2)));
            for (int i = 1 + random.nextInt(20); i > 0; i--) {
                int qos = random.nextInt(3);
                PublishBytes message =
                        PublishBytes.to(random.nextBoolean() ? "a" : "b").payload("burst");
                publisher.send(qos == 0 ? message : message.qos(qos, publisher.nextPacketId()));
            }
            publisher.abort();
        }

        @Override
        public void close() {
            nodes.forEach(Node::close);
            if (network != null) {
                network.close();
            }
        }
    }
}
