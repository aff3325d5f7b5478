// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerBuilder;
import io.smqtt.BrokerModule;
import io.smqtt.cluster.relay.RelayChoices;
import io.smqtt.config.BrokerConfigBuilder;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ClusterConfigBuilder;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ParkConfig;
import io.smqtt.config.RelayConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.session.PacketSink;
import io.smqtt.session.Session;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.PeerQueries;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.LoopbackPorts;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Brokers of one JVM that form a cluster over a network that can be cut, and what clients do with them. */
final class BrokerCluster {

    /** Enough on a slow machine. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    static final String SECRET = "the-secret-of-the-test";

    private final LoopbackHub hub = new LoopbackHub();
    private final Map<String, SessionRegistry> registries = new ConcurrentHashMap<>();
    private final List<String> names = new ArrayList<>();
    private final List<ClusterModule> modules = new ArrayList<>();
    private final List<BrokerExtension> brokers = new ArrayList<>();

    /** Another broker, to be registered with the test; the first is {@code a}, has index 0, and so on. */
    BrokerExtension broker(boolean stored) {
        return broker(stored ? new ManualStore(System::nanoTime) : null, ParkConfig.defaults());
    }

    /** The same with a store of the test, or none, and limits of what is parked. */
    BrokerExtension broker(@Nullable ManualStore store, ParkConfig park) {
        return broker(store, park, UnaryOperator.identity());
    }

    /** The same with further settings of the broker. */
    BrokerExtension broker(@Nullable ManualStore store, ParkConfig park, UnaryOperator<BrokerConfigBuilder> settings) {
        return broker(store, settings, config -> config.park(park));
    }

    /** A front node, with a secret. */
    BrokerExtension front() {
        return front(null);
    }

    /** A front node with certificates, or else with a secret. */
    BrokerExtension front(@Nullable ClusterTlsConfig tls) {
        return broker(
                null,
                UnaryOperator.identity(),
                config -> proved(config, tls).enabled(true).role(ClusterConfig.Role.FRONT));
    }

    /** A front node with a secret, and with further settings of the broker. */
    BrokerExtension frontWith(UnaryOperator<BrokerConfigBuilder> settings) {
        return broker(
                null, settings, config -> proved(config, null).enabled(true).role(ClusterConfig.Role.FRONT));
    }

    /** A broker with a store that takes clients of front nodes with a secret, and has further parts. */
    BrokerExtension keeperWith(UnaryOperator<BrokerBuilder> parts) {
        return broker(
                new ManualStore(System::nanoTime),
                UnaryOperator.identity(),
                config -> proved(config, null).relay(relay(100)),
                parts);
    }

    /** A process that is a node for the others, takes clients of front nodes at an address, and does nothing else. */
    FrozenNode frozen(String nodeId, String relay) {
        return new FrozenNode(hub.transport(nodeId), nodeId, relay);
    }

    /** A broker with a store that takes so many clients of front nodes with a secret. */
    BrokerExtension keeper(int maxConnections) {
        return keeper(maxConnections, null);
    }

    /** The same of front nodes with certificates, or else with a secret. */
    BrokerExtension keeper(int maxConnections, @Nullable ClusterTlsConfig tls) {
        return broker(
                new ManualStore(System::nanoTime),
                UnaryOperator.identity(),
                config -> proved(config, tls).relay(relay(maxConnections)));
    }

    private static RelayConfig relay(int maxConnections) {
        return RelayConfig.builder()
                .bind("127.0.0.1:" + LoopbackPorts.one())
                .maxConnections(maxConnections)
                .build();
    }

    private static ClusterConfigBuilder proved(ClusterConfigBuilder config, @Nullable ClusterTlsConfig tls) {
        return tls == null ? config.secret(SECRET) : config.tls(tls);
    }

    private BrokerExtension broker(
            @Nullable ManualStore store,
            UnaryOperator<BrokerConfigBuilder> settings,
            UnaryOperator<ClusterConfigBuilder> cluster) {
        return broker(store, settings, cluster, UnaryOperator.identity());
    }

    private BrokerExtension broker(
            @Nullable ManualStore store,
            UnaryOperator<BrokerConfigBuilder> settings,
            UnaryOperator<ClusterConfigBuilder> cluster,
            UnaryOperator<BrokerBuilder> more) {
        String nodeId = Character.toString('a' + names.size());
        ClusterConfig config = cluster.apply(
                        ClusterConfig.builder().nodeId(nodeId).subscribeSync(ClusterConfig.SubscribeSync.ACKED))
                .build();
        ClusterModule module = new ClusterModule(config, nodeId, hub.transport(nodeId), ClusterSettings.defaults());
        BrokerExtension broker = new BrokerExtension(
                settings,
                parts -> more.apply(parts.module(module)
                        .module(new Seen(nodeId, registries))
                        .store(store)));
        names.add(nodeId);
        modules.add(module);
        brokers.add(broker);
        return broker;
    }

    BrokerExtension get(int index) {
        return brokers.get(index);
    }

    /** The front node by which a client of a broker has come; null without one. */
    @Nullable
    String frontOf(int broker, String clientId) {
        Session session =
                Objects.requireNonNull(registries.get(names.get(broker))).find(clientId);
        PacketSink sink = session == null ? null : session.sink();
        return sink == null ? null : sink.front();
    }

    /** The node to which a front node relays a client first. */
    String firstChoice(int front, String clientId) {
        return RelayChoices.first(status(front).peers(), clientId);
    }

    /** The state of the cluster as a broker sees it. */
    ClusterStatus status(int broker) {
        return modules.get(broker).status();
    }

    /** The brokers that have a connected client. */
    List<Integer> servers(String clientId) {
        return IntStream.range(0, brokers.size())
                .filter(index -> Boolean.TRUE.equals(get(index)
                        .broker()
                        .clients()
                        .any(info -> info.identity().clientId().equals(clientId) && info.connected())
                        .block()))
                .boxed()
                .toList();
    }

    /** The sessions of a broker. */
    SessionRegistry sessions(int broker) {
        return Objects.requireNonNull(registries.get(names.get(broker)));
    }

    /** How many messages wait for shared groups on a node. */
    long waitingForGroups(int broker) {
        return Objects.requireNonNull(registries.get(names.get(broker))).queuedForGroups();
    }

    /** Whether calls about messages that wait for groups are lost without a notice. */
    void loseCalls(boolean lost) {
        hub.loseCalls(lost);
    }

    /** How many of these calls were sent so far, those that were lost included. */
    int calls() {
        return hub.calls();
    }

    /** One node hears from another one that members of a group are there. */
    void call(int to, int from, String group) {
        ClusterNode node = Objects.requireNonNull(modules.get(to).node());
        node.execute(() -> node.membership().all().stream()
                .filter(member -> member.nodeId().equals(names.get(from)))
                .forEach(member -> node.received(
                        Objects.requireNonNull(member.peer()),
                        FrameCodec.encode(member.identity(), new Frame.GroupCall(true, List.of(group)), 0))));
    }

    /** The questions of a node. */
    PeerQueries questions(int index) {
        return modules.get(index).peerQueries();
    }

    /** How many messages a node keeps for another one. */
    int parked(int broker, int absent) {
        return modules.get(broker).status().peers().stream()
                .filter(peer -> peer.node().nodeId().equals(names.get(absent)))
                .mapToInt(peer -> peer.parkedMessages())
                .sum();
    }

    /** How many messages a node has sent to others. */
    long forwarded(int broker) {
        return modules.get(broker).status().traffic().forwardedMessages();
    }

    /** One node is alone, and all know it. */
    void cutOff(int alone) {
        others(alone).forEach(other -> hub.cut(names.get(alone), names.get(other)));
        await().atMost(PATIENCE)
                .until(() -> others(alone).noneMatch(other -> reaches(alone, other) || reaches(other, alone)));
    }

    /** It is not any more. */
    void heal(int alone) {
        others(alone).forEach(other -> hub.heal(names.get(alone), names.get(other)));
        await().atMost(PATIENCE)
                .until(() -> others(alone).allMatch(other -> reaches(alone, other) && reaches(other, alone)));
    }

    /** Two nodes reach each other again, whatever else is cut. */
    void heal(int one, int other) {
        hub.heal(names.get(one), names.get(other));
        await().atMost(PATIENCE).until(() -> reaches(one, other) && reaches(other, one));
    }

    private IntStream others(int index) {
        return IntStream.range(0, names.size()).filter(other -> other != index);
    }

    private boolean reaches(int from, int to) {
        return modules.get(from).status().peers().stream()
                .anyMatch(peer -> peer.node().nodeId().equals(names.get(to)) && peer.reachable());
    }

    /** Connects a client whose session outlives the connection. */
    RawClient persistent(int broker, String clientId, boolean present) {
        RawClient client = brokers.get(broker).open(ProtocolVersion.MQTT_5);
        ReceivedPacket connAck = client.connect(ConnectBytes.of(clientId).persistent(1_000));
        assertThat(connAck.sessionPresent()).isEqualTo(present);
        return client;
    }

    /** How many brokers have a session of a client. */
    long owners(String clientId) {
        return brokers.stream()
                .filter(broker -> Boolean.TRUE.equals(broker.broker()
                        .clients()
                        .any(info -> info.identity().clientId().equals(clientId))
                        .block()))
                .count();
    }

    /** How many of them are connected. */
    long connected(String clientId) {
        return brokers.stream()
                .filter(broker -> Boolean.TRUE.equals(broker.broker()
                        .clients()
                        .any(info -> info.identity().clientId().equals(clientId) && info.connected())
                        .block()))
                .count();
    }

    /** The next message, acknowledged; handshakes that end in between are answered. */
    static ReceivedPacket nextMessage(RawClient client) {
        client.deadline(PATIENCE);
        while (true) {
            ReceivedPacket packet = client.receive();
            assertThat(packet).as("the connection has ended").isNotNull();
            if (packet.type() == MqttMessageType.PUBREL) {
                client.acknowledge(0x70, packet.packetId());
                continue;
            }
            assertThat(packet.type()).isEqualTo(MqttMessageType.PUBLISH);
            client.acknowledge(packet.qos() == 1 ? 0x40 : 0x50, packet.packetId());
            return packet;
        }
    }

    static void receive(RawClient client, String payload) {
        assertThat(nextMessage(client).text()).isEqualTo(payload);
    }

    /** Shows that no message comes before the answer to a ping; handshakes may end. */
    static void receivesNothing(RawClient client) {
        for (int pings = 0; pings < 2; pings++) {
            client.send((byte) 0xC0, (byte) 0);
            ReceivedPacket packet = client.receive();
            while (packet != null && packet.type() == MqttMessageType.PUBREL) {
                client.acknowledge(0x70, packet.packetId());
                packet = client.receive();
            }
            assertThat(packet).isNotNull();
            assertThat(packet.type()).isEqualTo(MqttMessageType.PINGRESP);
        }
    }

    /** Lets tests look at the sessions of a broker. */
    private record Seen(String nodeId, Map<String, SessionRegistry> registries) implements BrokerModule {

        @Override
        public Mono<Void> start(Core core) {
            return Mono.fromRunnable(() -> registries.put(nodeId, core.sessions()));
        }

        @Override
        public Mono<Void> stop() {
            return Mono.empty();
        }
    }
}
