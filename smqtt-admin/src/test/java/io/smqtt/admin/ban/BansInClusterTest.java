// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.BrokerModule;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.cluster.ClusterModule;
import io.smqtt.config.ClusterConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.Bans;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.cluster.MemoryNetwork;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** A ban that is made at one node is in force at all of them. */
class BansInClusterTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private final AtomicReference<Instant> now = new AtomicReference<>(NOW);
    private final MemoryNetwork network = new MemoryNetwork();
    private final Node a = new Node("a");
    private final Node b = new Node("b");
    private final List<RawClient> clients = new ArrayList<>();

    /** A broker with bans. */
    private final class Node implements BrokerModule {

        private final LiveObjects objects = new LiveObjects();
        private final BanPart part = new BanPart(objects, now::get);
        private final TestBroker broker;

        Node(String name) {
            ClusterConfig config = ClusterConfig.builder().nodeId(name).build();
            broker = TestBroker.builder()
                    .parts(parts -> parts.authenticator(request ->
                                    Authentication.accepted(request.userName()).now())
                            .module(ClusterModule.of(config, network.transport(name)))
                            .module(this))
                    .start();
        }

        @Override
        public Bans bans() {
            return part.bans();
        }

        @Override
        public Mono<Void> start(Core core) {
            return objects.start(core).then(part.start(core));
        }

        @Override
        public Mono<Void> stop() {
            return part.stop().then(Mono.fromRunnable(objects::stop));
        }

        void ban(String who, @Nullable Instant until) {
            ban(BanKind.CLIENTID, who, until);
        }

        /** Returns the identifier of the ban. */
        String ban(BanKind kind, String who, @Nullable Instant until) {
            Ban ban = new Ban(kind, who, "me", "", NOW, until);
            part.objects().put(ban.id(), ban, Expected.NOTHING, "me").block(PATIENCE);
            return ban.id();
        }
    }

    @AfterEach
    void stop() {
        clients.forEach(RawClient::close);
        a.broker.close();
        b.broker.close();
        network.close();
    }

    private int connectCode(Node node, String clientId) {
        try (RawClient client = node.broker.open(ProtocolVersion.MQTT_5)) {
            return client.send(ConnectBytes.of(clientId))
                    .expect(MqttMessageType.CONNACK)
                    .reasonCode();
        }
    }

    @Test
    void clientsOfOtherNodesAreDisconnectedAndRefused() {
        RawClient client = b.broker.client(ProtocolVersion.MQTT_5, "bad");
        clients.add(client);
        a.ban("bad", null);
        client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        assertThat(connectCode(a, "bad")).isEqualTo(0x8A);
        assertThat(connectCode(b, "bad")).isEqualTo(0x8A);
        assertThat(connectCode(b, "good")).isZero();

        b.part.objects().delete("clientid:bad", Expected.SOMETHING, "me").block(PATIENCE);
        await().atMost(PATIENCE).until(() -> connectCode(a, "bad") == 0);
    }

    private static ConnectBytes bad() {
        return ConnectBytes.of("bad-7").userName("ann").password("x");
    }

    private static int code(Node node) {
        try (RawClient client = node.broker.open(ProtocolVersion.MQTT_5)) {
            return client.send(bad()).expect(MqttMessageType.CONNACK).reasonCode();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "CLIENTID, bad-7",
        "USERNAME, ann",
        "PEERHOST, 127.0.0.1",
        "CLIENTID_RE, ^bad-[0-9]+$",
        "USERNAME_RE, ^an",
        "PEERHOST_NET, 127.0.0.0/8"
    })
    void eachKindIsInForceAtAllNodes(BanKind kind, String who) {
        RawClient client = b.broker.open(ProtocolVersion.MQTT_5);
        clients.add(client);
        assertThat(client.send(bad()).expect(MqttMessageType.CONNACK).reasonCode())
                .isZero();

        String id = a.ban(kind, who, null);
        client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
        for (Node node : List.of(a, b)) {
            assertThat(code(node)).as(kind + " at " + node).isEqualTo(0x8A);
        }

        b.part.objects().delete(id, Expected.SOMETHING, "me").block(PATIENCE);
        await().atMost(PATIENCE).until(() -> code(a) == 0 && code(b) == 0);
    }

    @Test
    void aClientThatConnectsWhileItIsBannedDoesNotStay() throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            String clientId = "racer-" + i;
            Node node = i % 2 == 0 ? a : b;
            RawClient client = node.broker.open(ProtocolVersion.MQTT_5);
            clients.add(client);
            Thread thread = new Thread(() -> client.send(ConnectBytes.of(clientId)));
            threads.add(thread);
            thread.start();
            a.ban(clientId, null);
        }
        for (Thread thread : threads) {
            thread.join(PATIENCE.toMillis());
        }
        await().atMost(PATIENCE)
                .until(() -> Objects.requireNonNull(a.broker
                                .broker()
                                .clients()
                                .concatWith(b.broker.broker().clients())
                                .filter(client -> client.connected())
                                .count()
                                .block(PATIENCE))
                        == 0);
    }

    @Test
    void bansThatHaveEndedAreDeleted() {
        a.ban("bad", NOW.plusSeconds(10));
        a.ban("worse", null);
        await().atMost(PATIENCE).until(() -> b.part.objects().list().size() == 2);
        now.set(NOW.plusSeconds(10));
        assertThat(connectCode(b, "bad")).isZero();
        b.part.deleteEnded();
        await().atMost(PATIENCE).until(() -> a.part.objects().list().size() == 1);
        assertThat(a.part.objects().list()).extracting(LiveObject::id).containsExactly("clientid:worse");
    }
}
