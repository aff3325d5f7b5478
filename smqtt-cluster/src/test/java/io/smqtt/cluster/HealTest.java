// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.ClusterConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client on both sides of a network that was split: what its sessions become when the sides meet. */
class HealTest {

    private static final LoopbackHub HUB = new LoopbackHub();
    private static final List<String> NAMES = List.of("a", "b", "c", "d");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final List<ClusterModule> MODULES =
            NAMES.stream().map(HealTest::module).toList();

    @RegisterExtension
    static final BrokerExtension A = broker(0, false);

    @RegisterExtension
    static final BrokerExtension B = broker(1, false);

    @RegisterExtension
    static final BrokerExtension C = broker(2, true);

    @RegisterExtension
    static final BrokerExtension D = broker(3, true);

    private static final List<BrokerExtension> ALL = List.of(A, B, C, D);

    private static ClusterModule module(String nodeId) {
        ClusterConfig config = ClusterConfig.builder()
                .subscribeSync(ClusterConfig.SubscribeSync.ACKED)
                .build();
        return new ClusterModule(config, nodeId, HUB.transport(nodeId), ClusterSettings.defaults());
    }

    private static BrokerExtension broker(int index, boolean stored) {
        return new BrokerExtension(
                broker -> broker,
                parts -> parts.module(MODULES.get(index)).store(stored ? new ManualStore(System::nanoTime) : null));
    }

    /** One node is alone. */
    private static void cutOff(int alone) {
        others(alone).forEach(other -> HUB.cut(NAMES.get(alone), NAMES.get(other)));
        await().atMost(PATIENCE)
                .until(() -> others(alone).noneMatch(other -> reaches(alone, other) || reaches(other, alone)));
    }

    private static void heal(int alone) {
        others(alone).forEach(other -> HUB.heal(NAMES.get(alone), NAMES.get(other)));
        await().atMost(PATIENCE)
                .until(() -> others(alone).allMatch(other -> reaches(alone, other) && reaches(other, alone)));
    }

    private static IntStream others(int index) {
        return IntStream.range(0, NAMES.size()).filter(other -> other != index);
    }

    private static boolean reaches(int from, int to) {
        return MODULES.get(from).status().peers().stream()
                .anyMatch(peer -> peer.node().nodeId().equals(NAMES.get(to)) && peer.reachable());
    }

    private static RawClient persistent(int broker, String clientId, boolean clean) {
        RawClient client = ALL.get(broker).open(ProtocolVersion.MQTT_5);
        ConnectBytes connect = ConnectBytes.of(clientId).persistent(1_000);
        client.connect(clean ? connect.cleanStart(true) : connect);
        return client;
    }

    private static long owners(String clientId) {
        return ALL.stream()
                .filter(broker -> Boolean.TRUE.equals(broker.broker()
                        .clients()
                        .any(info -> info.identity().clientId().equals(clientId))
                        .block()))
                .count();
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "2, 0", "2, 3"}) // from memory or a store to memory or a store
    void theOlderSessionLeavesItsMessagesAndSubscriptionsToTheLater(int older, int later) {
        String clientId = "both-" + older + later;
        String topic = "both/" + older + later;
        RawClient first = persistent(older, clientId, false);
        first.subscribe(topic + "/old", 2);
        first.disconnect();
        ALL.get(older).awaitOffline(clientId);
        cutOff(older);
        RawClient publisher = ALL.get(older).client(ProtocolVersion.MQTT_5, "publisher-" + topic);
        for (int i = 0; i < 300; i++) {
            publisher.publish(topic + "/old", "m" + i, 1 + i % 2);
        }
        RawClient second = persistent(later, clientId, false);
        second.subscribe(topic + "/new", 1);

        heal(older);

        for (int i = 0; i < 300; i++) {
            receive(second, "m" + i);
        }
        await().atMost(PATIENCE).until(() -> owners(clientId) == 1);
        publisher.publish(topic + "/old", "by the old subscription", 1);
        receive(second, "by the old subscription");
        RawClient other = ALL.get(later).client(ProtocolVersion.MQTT_5, "other-" + topic);
        other.publish(topic + "/new", "by the new one", 1);
        receive(second, "by the new one");
        receivesNothing(second);
    }

    @Test
    void whatCameBothWaysIsDeliveredOnce() {
        RawClient first = persistent(0, "twice", false);
        first.subscribe("twice", 2);
        first.disconnect();
        A.awaitOffline("twice");
        cutOff(0);
        RawClient second = persistent(1, "twice", false);
        second.subscribe("twice", 2);
        RawClient publisher = B.client(ProtocolVersion.MQTT_5, "publisher-twice");
        for (int i = 0; i < 300; i++) { // here at once, and parked for the other side
            publisher.publish("twice", "m" + i, 2);
            receive(second, "m" + i);
        }

        heal(0);

        await().atMost(PATIENCE).until(() -> owners("twice") == 1);
        publisher.publish("twice", "last", 2);
        receive(second, "last");
        receivesNothing(second);
    }

    @Test
    void whatWasTakenHereAndWentAwayWithItsSessionComesBack() {
        RawClient first = persistent(0, "back", false);
        first.subscribe("back", 1);
        first.disconnect();
        A.awaitOffline("back");
        RawClient publisher = C.client(ProtocolVersion.MQTT_5, "publisher-back");
        for (int i = 0; i < 50; i++) {
            publisher.publish("back", "m" + i, 1);
        }
        persistent(1, "back", false).close(); // the session goes there, and keeps what is not acknowledged
        B.awaitOffline("back");
        await().atMost(PATIENCE).until(() -> owners("back") == 1);
        cutOff(1);
        RawClient second = persistent(0, "back", false); // a new one, where the messages have been before

        heal(1);

        for (int i = 0; i < 50; i++) {
            receive(second, "m" + i);
        }
        await().atMost(PATIENCE).until(() -> owners("back") == 1);
        receivesNothing(second);
    }

    @Test
    void aCleanStartEndsTheSessionOfTheOtherSideToo() {
        RawClient first = persistent(0, "clean", false);
        first.subscribe("clean/old", 1);
        cutOff(0);
        RawClient publisher = A.client(ProtocolVersion.MQTT_5, "publisher-clean");
        RawClient second = persistent(1, "clean", true);

        heal(0);

        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        await().atMost(PATIENCE).until(() -> owners("clean") == 1);
        await().atMost(PATIENCE).until(() -> {
            publisher.send(PublishBytes.to("clean/old").payload("x").qos(1, publisher.nextPacketId()));
            return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0x10; // nobody wants it
        });
        receivesNothing(second);
    }

    /** The next message, acknowledged; handshakes that end in between are answered. */
    private static void receive(RawClient client, String payload) {
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
            assertThat(packet.text()).isEqualTo(payload);
            return;
        }
    }

    /** Shows that no message comes before the answer to a ping; handshakes may end. */
    private static void receivesNothing(RawClient client) {
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
}
