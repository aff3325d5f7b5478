// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
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
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random histories of brokers that fare badly: clients that read nothing or break off in the middle, queues that are full, messages that
 * expire, a store that fails, a network that is cut, nodes that are killed, clients that come back on another node. In the end what the meters
 * say balances all the same, on each node and so over all of them: what was received, times what it matched, and what came with sessions or was
 * repeated, is what was delivered, dropped, is elsewhere, and waits.
 *
 * <p>{@code -Dsmqtt.seed=S} tries one history, {@code -Dsmqtt.seeds=N} so many.
 */
@Tag("slow")
@Timeout(300)
class AccountsUnderFaultsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration ANSWER = Duration.ofMillis(300); // a store that is held gives none
    private static final int CLIENTS = 6;
    private static final int STEPS = 120;
    private static final String[] FILTERS = {"a", "b", "#", "+", "$share/g/a", "$share/g/#", "$share/h/b"};
    private static final String LARGE = "x".repeat(200_000);

    @Test
    void oneNode() {
        balance(1, "session_ended");
    }

    @Test
    void twoNodesMovesAndCuts() {
        balance(2, "session_ended", "moved");
    }

    @Test
    void threeNodesMovesCutsAndKills() {
        balance(3, "session_ended", "moved");
    }

    /** Some histories, in which some things have happened to messages. */
    private static void balance(int nodes, String... happened) {
        Set<String> reasons = new TreeSet<>();
        for (long seed : seeds()) {
            try (History history = new History(seed, nodes)) {
                reasons.addAll(history.run());
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(nodes + " nodes, -Dsmqtt.seed=" + seed, e);
            }
        }
        if (Long.getLong("smqtt.seed") == null) {
            assertThat(reasons).contains(happened);
        }
    }

    private static List<Long> seeds() {
        Long one = Long.getLong("smqtt.seed");
        List<Long> seeds = new ArrayList<>();
        for (long seed = 1; seed <= Integer.getInteger("smqtt.seeds", 2); seed++) {
            seeds.add(seed);
        }
        return one != null ? List.of(one) : seeds;
    }

    /** One history; a single thread acts, the brokers' own go on meanwhile. */
    private static final class History implements AutoCloseable {

        private final String context;
        private final Random random;
        private final @Nullable MemoryNetwork network;
        private final List<AccountedBroker> nodes = new ArrayList<>();
        private final Set<String> gone = new TreeSet<>(); // reasons that nodes told before they were killed
        private final Map<String, RawClient> clients = new HashMap<>();

        History(long seed, int count) {
            context = count + " nodes, -Dsmqtt.seed=" + seed;
            random = new Random(seed);
            network = count > 1 ? new MemoryNetwork() : null;
            for (int i = 0; i < count; i++) {
                nodes.add(new AccountedBroker("n" + i, random, network));
            }
        }

        Set<String> run() {
            for (int i = 0; i < STEPS; i++) {
                try {
                    step("c" + random.nextInt(CLIENTS), anyNode());
                } catch (UncheckedIOException | AssertionError e) {
                    // the broker has closed this connection, or does not answer while its store fails: so it goes
                }
            }
            for (AccountedBroker node : nodes) {
                node.store.heal();
                node.store.release();
            }
            if (network != null) {
                network.heal();
            }
            assertBalance("sessions wait");
            for (int i = 0; i < CLIENTS; i++) { // ends sessions with all that waits for them
                String id = "c" + i;
                AccountedBroker node = anyNode();
                await().atMost(PATIENCE)
                        .pollDelay(Duration.ZERO)
                        .ignoreExceptions()
                        .untilAsserted(() -> replace(id, node, ConnectBytes.of(id)));
            }
            assertBalance("sessions ended");
            await().atMost(PATIENCE).pollDelay(Duration.ZERO).untilAsserted(() -> {
                for (AccountedBroker node : nodes) {
                    assertThat(node.open())
                            .as("%s, node %s: %s", context, node.name, node.table())
                            .isZero();
                }
            });
            Set<String> reasons = new TreeSet<>(gone);
            nodes.forEach(node -> reasons.addAll(node.reasons()));
            return reasons;
        }

        private AccountedBroker anyNode() {
            return nodes.get(random.nextInt(nodes.size()));
        }

        private void assertBalance(String when) {
            await().atMost(PATIENCE)
                    .pollDelay(Duration.ZERO)
                    .untilAsserted(() ->
                            nodes.forEach(node -> node.assertBalance(context + ", " + when + ", node " + node.name)));
        }

        private void step(String id, AccountedBroker node) {
            switch (random.nextInt(22)) {
                case 0, 1, 2 -> connect(id, node);
                case 3 -> breakOff(id);
                case 4, 5 -> subscribe(id);
                case 6, 7, 8 -> read(id);
                case 9 -> node.broker().clock().advance(Duration.ofMillis(random.nextInt(1_500)));
                case 10 -> fault(node);
                case 11 -> burst(node);
                case 12 -> publish(node, LARGE);
                default -> publish(node, "x".repeat(random.nextInt(20)));
            }
        }

        private void fault(AccountedBroker node) {
            int kind = random.nextInt(12);
            if (kind == 0) {
                node.store.hold();
            } else if (kind == 1) {
                node.store.fail();
            } else if (kind < 6 || network == null) {
                node.store.heal();
                node.store.release();
            } else if (kind < 8) {
                network.partition(node.name);
            } else if (kind == 8 && nodes.size() > 2) {
                gone.addAll(node.reasons());
                node.kill();
            } else {
                network.heal();
            }
        }

        private void connect(String id, AccountedBroker node) {
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

        private void replace(String id, AccountedBroker node, ConnectBytes connect) {
            RawClient client = node.broker().open(ProtocolVersion.MQTT_5).deadline(ANSWER);
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
                String filter = FILTERS[random.nextInt(FILTERS.length)];
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

        private void publish(AccountedBroker node, String payload) {
            ApplicationMessage.Builder message = ApplicationMessage.builder(random.nextBoolean() ? "a" : "b")
                    .payload(payload)
                    .qos(QoS.of(random.nextInt(3)))
                    .retain(random.nextInt(8) == 0);
            if (random.nextInt(4) == 0) {
                message.expiryInterval(Duration.ofSeconds(1 + random.nextInt(2)));
            }
            node.broker().broker().publish(message.build()).subscribe(result -> {}, error -> {});
        }

        /** A publisher that breaks off before it has its answers. */
        private void burst(AccountedBroker node) {
            RawClient publisher = node.broker().open(ProtocolVersion.MQTT_5).deadline(ANSWER);
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
            nodes.forEach(AccountedBroker::close);
            if (network != null) {
                network.close();
            }
        }
    }
}
