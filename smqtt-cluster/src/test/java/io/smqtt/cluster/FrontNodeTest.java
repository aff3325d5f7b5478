// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static io.smqtt.cluster.BrokerCluster.receive;
import static io.smqtt.cluster.BrokerCluster.receivesNothing;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients of two front nodes, with two brokers that have a store. */
class FrontNodeTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.keeper(100);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.keeper(100);

    @RegisterExtension
    static final BrokerExtension FRONT = CLUSTER.front();

    @RegisterExtension
    static final BrokerExtension OTHER_FRONT = CLUSTER.front();

    private static final int REASON_STRING = 0x1F;
    private static final List<Integer> KEEPERS = List.of(0, 1);

    private static RawClient persistent(
            BrokerExtension broker, ProtocolVersion version, String clientId, boolean present) {
        RawClient client = broker.open(version);
        assertThat(client.connect(ConnectBytes.of(clientId).persistent(1_000)).sessionPresent())
                .isEqualTo(present);
        return client;
    }

    @ParameterizedTest
    @EnumSource(names = {"MQTT_3_1_1", "MQTT_5"}) // before them nothing tells of a session
    void anyFrontFindsTheSessionThatAnotherNodeKeeps(ProtocolVersion version) {
        String clientId = "stored-" + version;
        RawClient first = persistent(FRONT, version, clientId, false);
        first.subscribe(clientId, 2);
        int keeper = CLUSTER.servers(clientId).get(0);
        assertThat(KEEPERS).contains(keeper);
        assertThat(CLUSTER.frontOf(keeper, clientId)).isEqualTo("c");
        first.disconnect();
        CLUSTER.get(keeper).awaitOffline(clientId);
        RawClient publisher = FRONT.client(ProtocolVersion.MQTT_5, "publisher");
        for (int qos = 0; qos < 30; qos++) {
            publisher.publish(clientId, "m" + qos, 1 + qos % 2);
        }

        RawClient second = persistent(OTHER_FRONT, version, clientId, true);

        for (int qos = 0; qos < 30; qos++) {
            receive(second, "m" + qos);
        }
        receivesNothing(second);
        second.publish("elsewhere", "at QoS 2", 2);
        assertThat(CLUSTER.servers(clientId)).containsExactly(keeper);
        assertThat(CLUSTER.frontOf(keeper, clientId)).isEqualTo("d");
    }

    @Test
    void aSessionThatEndsWithItsConnectionStaysAtTheFront() {
        FRONT.client(ProtocolVersion.MQTT_5, "clean");
        FRONT.client(ProtocolVersion.MQTT_3_1_1, "clean-3");

        assertThat(CLUSTER.servers("clean")).containsExactly(2);
        assertThat(CLUSTER.servers("clean-3")).containsExactly(2);
    }

    @Test
    void theServingNodeKnowsTheAddressAndTheListenerOfTheClient() {
        RawClient client = persistent(FRONT, ProtocolVersion.MQTT_5, "known", false);
        BrokerExtension keeper = CLUSTER.get(CLUSTER.servers("known").get(0));

        ClientIdentity identity = keeper.broker().client("known").block().info().identity();

        assertThat(identity.remoteAddress()).isEqualTo(client.socket().getLocalSocketAddress());
        assertThat(identity.listener()).isEqualTo("mqtt");
    }

    @Test
    void whatFollowsTheConnectArrivesBehindIt() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(ConnectBytes.of("pipelined").persistent(1_000).toBytes(ProtocolVersion.MQTT_5));
        all.writeBytes(SubscribeBytes.of(1).filter("pipelined", 1).toBytes(ProtocolVersion.MQTT_5));
        for (int i = 1; i <= 20; i++) {
            all.writeBytes(
                    PublishBytes.to("pipelined").payload("p" + i).qos(1, 1 + i).toBytes(ProtocolVersion.MQTT_5));
        }
        byte[] bytes = all.toByteArray();
        RawClient client = FRONT.open(ProtocolVersion.MQTT_5);
        int cut = 5; // within the CONNECT

        client.send(Arrays.copyOf(bytes, cut));
        client.send(Arrays.copyOfRange(bytes, cut, bytes.length));

        client.expect(MqttMessageType.CONNACK);
        int next = 1;
        while (next <= 20) {
            ReceivedPacket packet = client.receive();
            assertThat(packet).isNotNull();
            if (packet.type() == MqttMessageType.PUBLISH) {
                assertThat(packet.text()).isEqualTo("p" + next++);
                client.pubAck(packet);
            }
        }
    }

    @Test
    void manyBytesPassInBothDirections() {
        RawClient client = persistent(FRONT, ProtocolVersion.MQTT_5, "many", false);
        client.subscribe("many", 1);
        RawClient publisher = persistent(OTHER_FRONT, ProtocolVersion.MQTT_3_1_1, "many-publisher", false);
        String payload = "x".repeat(300_000);
        for (int i = 0; i < 10; i++) {
            publisher.publish("many", payload + i, 1);
        }

        for (int i = 0; i < 10; i++) {
            receive(client, payload + i);
        }
    }

    @Test
    void theReasonOfAnEndReachesTheClient() {
        RawClient client = persistent(FRONT, ProtocolVersion.MQTT_5, "kicked", false);
        BrokerExtension keeper = CLUSTER.get(CLUSTER.servers("kicked").get(0));

        assertThat(keeper.broker().disconnect("kicked").block()).isTrue();

        client.expectDisconnect(ReasonCode.ADMINISTRATIVE_ACTION);
    }

    @Test
    void aNewConnectionByAnotherFrontTakesTheSessionOver() {
        RawClient first = persistent(FRONT, ProtocolVersion.MQTT_5, "twice", false);

        RawClient second = persistent(OTHER_FRONT, ProtocolVersion.MQTT_5, "twice", true);

        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        second.ping();
        await().atMost(PATIENCE).until(() -> CLUSTER.servers("twice").size() == 1);
    }

    @Test
    void theWillOfALostClientIsPublished() {
        RawClient watcher = FRONT.client(ProtocolVersion.MQTT_5, "watcher");
        watcher.subscribe("wills", 1);
        RawClient client = FRONT.open(ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of("lost")
                .persistent(1_000)
                .will(PublishBytes.to("wills").payload("lost")));

        client.abort();

        assertThat(watcher.expect(MqttMessageType.PUBLISH).text()).isEqualTo("lost");
    }

    @Test
    void aMalformedConnectIsAnsweredByTheFront() {
        RawClient client = FRONT.open(ProtocolVersion.MQTT_5);
        client.send((byte) 0x10, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF);
        client.expectClosed();
    }

    @Test
    void strangersGetNothingFromThePortForFronts() throws IOException {
        String[] relay = CLUSTER.status(0).self().relay().split(":");
        InetSocketAddress address = new InetSocketAddress(relay[0], Integer.parseInt(relay[1]));
        long before = CLUSTER.status(0).relay().refused(RelayRefusal.HANDSHAKE);
        for (byte[] sent : List.of(
                ConnectBytes.of("stranger").persistent(10).toBytes(ProtocolVersion.MQTT_5),
                new byte[200],
                ("smr\001" + "0".repeat(64)).getBytes(StandardCharsets.ISO_8859_1))) {
            try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
                socket.setSoTimeout((int) PATIENCE.toMillis());
                socket.getOutputStream().write(sent);
                byte[] received = readAll(socket);
                assertThat(received.length).isLessThanOrEqualTo(36 + 32);
            }
        }

        await().atMost(PATIENCE).until(() -> CLUSTER.status(0).relay().refused(RelayRefusal.HANDSHAKE) == before + 3);
    }

    private static byte[] readAll(Socket socket) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(all);
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset"); // closed with unread bytes
        }
        return all.toByteArray();
    }

    @Test
    void theClusterShowsTheRoles() {
        await().atMost(PATIENCE).untilAsserted(() -> {
            ClusterStatus status = CLUSTER.status(2);
            assertThat(status.self().front()).isTrue();
            assertThat(status.peers()).extracting(peer -> peer.node().front()).containsExactly(false, false, true);
            assertThat(status.peers().get(0).node().relay()).startsWith("127.0.0.1:");
        });

        long opened = CLUSTER.status(2).relay().opened();
        RawClient client = persistent(FRONT, ProtocolVersion.MQTT_5, "counted", false);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(CLUSTER.status(2).relay()).satisfies(relay -> {
                    assertThat(relay.opened()).isEqualTo(opened + 1);
                    assertThat(relay.waiting()).isZero();
                }));
        client.disconnect();
        client.expectClosed();
        await().atMost(PATIENCE).until(() -> CLUSTER.servers("counted").isEmpty());
    }

    @Test
    void anEmptyIdentifierIsAssignedByTheServingNode() {
        RawClient client = FRONT.open(ProtocolVersion.MQTT_5);
        ReceivedPacket answer = client.connect(ConnectBytes.of("").persistent(1_000));

        Object assigned = answer.property(0x12);

        assertThat(KEEPERS)
                .containsAll(CLUSTER.servers(String.valueOf(assigned)))
                .isNotEmpty();
        assertThat(CLUSTER.servers(String.valueOf(assigned))).hasSize(1);
        assertThat(answer.property(REASON_STRING)).isNull();
    }
}
