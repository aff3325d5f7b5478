// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.spi.BridgeDrop;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What was published is sent, waits, or was dropped: the sum over all connections of a bridge is right whatever happens to them. What the other broker
 * refuses is a part of what was sent.
 */
@Timeout(60)
class BridgeAccountsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CONNECTIONS = 3;
    private static final int TOPICS = 12;
    private static final int IN_FLIGHT = 2;
    private static final int QUEUED = 90;

    private static void publish(RawClient client, int rounds) {
        for (int i = 0; i < rounds; i++) {
            for (int topic = 0; topic < TOPICS; topic++) {
                client.publish("out/" + topic, String.valueOf(i), 1);
            }
        }
    }

    private static long sum(DialledBroker broker, ToLongFunction<BridgeStatus> of) {
        return broker.module().status().stream().mapToLong(of).sum();
    }

    private static void awaitBalance(DialledBroker broker, int published) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(sum(broker, each -> each.sent() + each.queued() + each.dropped()))
                        .isEqualTo(published));
    }

    @Test
    void sentAndQueuedAndDroppedAreWhatWasPublished() {
        try (RemoteStub stub = new RemoteStub()) {
            BridgeConfig config = BridgedBroker.bridge(stub.address(), "out/# out 1")
                    .connections(CONNECTIONS)
                    .maxQueuedMessages(QUEUED)
                    .build();
            try (DialledBroker local = DialledBroker.with(config);
                    RawClient here = local.client("here")) {
                List<RawClient> bridges = new ArrayList<>();
                for (int i = 0; i < CONNECTIONS; i++) {
                    bridges.add(stub.accept(PropertyBytes.none().receiveMaximum(IN_FLIGHT)));
                }
                publish(here, 5);
                awaitBalance(local, 5 * TOPICS);
                assertThat(sum(local, BridgeStatus::sent)).isEqualTo(CONNECTIONS * IN_FLIGHT);
                assertThat(sum(local, BridgeStatus::dropped)).isZero();

                bridges.forEach(bridge -> bridge.pubAck(RemoteStub.nextPublish(bridge)));
                int sent = CONNECTIONS * (IN_FLIGHT + 1);
                await().atMost(PATIENCE).until(() -> sum(local, BridgeStatus::sent) == sent);
                awaitBalance(local, 5 * TOPICS);

                stub.close(); // and all connections to it
                await().atMost(PATIENCE)
                        .until(() -> local.module().status().stream()
                                .allMatch(each -> each.state() == BridgeStatus.State.DISCONNECTED));
                publish(here, 30); // more than fits
                awaitBalance(local, 35 * TOPICS);
                assertThat(sum(local, BridgeStatus::dropped)).isPositive();
                assertThat(sum(local, each -> each.drops().get(BridgeDrop.QUEUE)))
                        .isEqualTo(sum(local, BridgeStatus::dropped));

                try (DialledBroker remote = DialledBroker.without(stub.port())) {
                    await().atMost(PATIENCE).until(() -> sum(local, BridgeStatus::queued) == 0);
                    awaitBalance(local, 35 * TOPICS);
                    assertThat(sum(local, BridgeStatus::resent)).isEqualTo(CONNECTIONS * IN_FLIGHT);
                    assertThat(remote.connected()).hasSize(CONNECTIONS);
                }
                publish(here, 2);
                awaitBalance(local, 37 * TOPICS);
            }
        }
    }

    /** [MQTT-4.3.2-3]: such a message is not sent again, and nothing else reports it. */
    @Test
    void aMessageThatIsRefusedCountsOnce() {
        try (LoggedLines log = new LoggedLines();
                RemoteStub stub = new RemoteStub();
                DialledBroker local = DialledBroker.with(
                        BridgedBroker.bridge(stub.address(), "out/# out 2").build());
                RawClient here = local.client("here")) {
            RawClient bridge = stub.accept(PropertyBytes.none());
            here.publish("out/1", "x", 1);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            bridge.send(PacketBytes.packet(0x40).u16(first.packetId()).u8(0x87).u8(0));
            here.publish("out/2", "x", 2);
            ReceivedPacket second = RemoteStub.nextPublish(bridge);
            bridge.send(PacketBytes.packet(0x50).u16(second.packetId()).u8(0x87).u8(0));
            await().atMost(PATIENCE).until(() -> local.status().refused() == 2);
            awaitBalance(local, 2);
            assertThat(local.status().sent()).isEqualTo(2);
            assertThat(log.with("refuses a message with reason 0x87; it is not sent again"))
                    .hasSize(1);
        }
    }

    /** A smaller Maximum Packet Size of the next connection excludes it. */
    @Test
    void aMessageThatWasSentAndMayNotBeSentAgainCountsOnce() {
        try (RemoteStub stub = new RemoteStub();
                DialledBroker local = DialledBroker.with(BridgedBroker.bridge(stub.address(), "out/# out 2")
                        .hopLimit(0)
                        .build());
                RawClient here = local.client("here")) {
            RawClient bridge = stub.accept(PropertyBytes.none());
            here.publish("out/a", "x".repeat(200), 1);
            RemoteStub.nextPublish(bridge);
            bridge.close();
            RawClient again = stub.accept(PropertyBytes.none().maximumPacketSize(100));
            here.publish("out/a", "y", 1);
            assertThat(RemoteStub.nextPublish(again).text()).isEqualTo("y");
            awaitBalance(local, 2);
            assertThat(local.status().refused()).isEqualTo(1);
            assertThat(local.status().dropped()).isZero();
        }
    }

    /** What the rate holds back is not sent yet. At the end of the connection QoS 0 is dropped, and the rest comes over the next one as new. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aMessageThatIsHeldBackCountsWhenItLeaves(int qos) {
        try (RemoteStub stub = new RemoteStub();
                DialledBroker local = DialledBroker.with(BridgedBroker.bridge(stub.address(), "out/# out 2")
                        .maxRate(4)
                        .hopLimit(0)
                        .build());
                RawClient here = local.client("here")) {
            RawClient bridge = stub.accept(PropertyBytes.none());
            await().atMost(PATIENCE).until(() -> local.status().state() == BridgeStatus.State.CONNECTED);
            for (int i = 0; i < 4; i++) {
                here.publish("out/a", "m" + i, qos);
            }
            awaitBalance(local, 4);
            local.module().operate("cloud", Bridges.Operation.STOP);
            int arrived = 0;
            for (ReceivedPacket next = bridge.receive();
                    next != null && next.type() != MqttMessageType.DISCONNECT;
                    next = bridge.receive()) {
                arrived++;
            }
            awaitBalance(local, 4);
            assertThat(local.status().sent()).isEqualTo(arrived);
            assertThat(local.status().dropped()).isEqualTo(qos == 0 ? 4 - arrived : 0);
            assertThat(local.status().drops())
                    .containsEntry(BridgeDrop.CONNECTION_ENDS, local.status().dropped());
            local.module().operate("cloud", Bridges.Operation.START);
            RawClient again = stub.accept(PropertyBytes.none());
            for (int i = 0; qos > 0 && i < 4; i++) {
                assertThat(RemoteStub.nextPublish(again).dup()).as("m" + i).isEqualTo(i < arrived);
            }
            awaitBalance(local, 4);
            assertThat(local.status().resent()).isEqualTo(qos == 0 ? 0 : arrived);
        }
    }

    /** The session there knows packet identifiers that this one gives again, so the connection ends before anything is passed on. */
    @Test
    void aMessageThatWasWithheldCountsOnce() {
        try (RemoteStub stub = new RemoteStub();
                DialledBroker local = DialledBroker.with(
                        BridgedBroker.bridge(stub.address(), "out/# out 2").build());
                RawClient here = local.client("here")) {
            here.publish("out/1", "x", 1);
            stub.accept(false, true).expectClosed();
            ReceivedPacket first = RemoteStub.nextPublish(stub.accept(true, false));
            assertThat(first.dup()).isFalse();
            awaitBalance(local, 1);
            assertThat(local.status().sent()).isEqualTo(1);
            assertThat(local.status().resent()).isZero();
        }
    }

    /** Messages of the other broker are published here or dropped, and acknowledged in both cases. */
    @Test
    void aMessageOfTheOtherBrokerThatIsNotPublishedCountsOnce() {
        try (RemoteStub stub = new RemoteStub();
                DialledBroker local = DialledBroker.with(BridgedBroker.bridge(stub.address(), "in/# in 1")
                        .maxPayloadBytes(10)
                        .build());
                RawClient here = local.client("here")) {
            here.subscribe("in/#", 0);
            RawClient bridge = stub.accept(PropertyBytes.none());
            for (String topic : List.of("former/a", "in/large", "in/a")) {
                String text = topic.equals("in/large") ? "x".repeat(11) : "x";
                bridge.send(PublishBytes.to(topic).payload(text).qos(1, 7));
                RemoteStub.next(bridge, MqttMessageType.PUBACK);
            }
            here.expectPublish("in/a", "x");
            await().atMost(PATIENCE).until(() -> local.status().received() == 1);
            assertThat(local.status().receivedDrops().entrySet().stream().filter(each -> each.getValue() > 0))
                    .containsExactlyInAnyOrder(
                            Map.entry(BridgeDrop.TOPIC, 1L), Map.entry(BridgeDrop.PAYLOAD_TOO_LARGE, 1L));
            assertThat(local.status().receivedDropped()).isEqualTo(2);
            assertThat(local.status().dropped()).isZero();
        }
    }
}
