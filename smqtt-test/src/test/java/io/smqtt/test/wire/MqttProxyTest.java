// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import static io.netty.handler.codec.mqtt.MqttMessageType.CONNACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.DISCONNECT;
import static io.netty.handler.codec.mqtt.MqttMessageType.PINGREQ;
import static io.netty.handler.codec.mqtt.MqttMessageType.PINGRESP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.MqttBroker;
import io.smqtt.test.RawClient;
import io.smqtt.test.TestBroker;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@MqttBroker
@Timeout(120)
class MqttProxyTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    private TestBroker broker;
    private MqttProxy proxy;
    private RawClient client;

    @BeforeEach
    void connect(TestBroker started) {
        broker = started;
        proxy = broker.proxy();
        client = open();
        client.connect("c");
    }

    @AfterEach
    void close() {
        client.close();
    }

    private RawClient open() {
        return RawClient.to(proxy.address(), V5).deadline(Duration.ofSeconds(30));
    }

    private void publish(String payload, int packetId) {
        client.send(PublishBytes.to("a/" + payload).payload(payload).qos(1, packetId));
    }

    private List<String> payloads() {
        return broker.received().stream()
                .map(message -> message.payload().asString())
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void withoutFaultsAllVersionsPass(ProtocolVersion version) {
        try (RawClient other = RawClient.to(proxy.address(), version).deadline(Duration.ofSeconds(30))) {
            other.connect("other");
            other.subscribe("t", 2);
            other.send(PublishBytes.to("t").payload("x".repeat(200_000)).qos(0));
            assertThat(other.expect(PUBLISH).text()).hasSize(200_000);
            other.ping();
            assertThat(proxy.connectionCount()).isEqualTo(2);
            assertThat(proxy.openConnectionCount()).isEqualTo(2);
            other.disconnect();
        }
        Awaitility.await().until(() -> proxy.openConnectionCount() == 1);
    }

    @Test
    void anAcknowledgementIsSwallowed() {
        FaultRule rule = proxy.fromBroker(PUBACK).times(1).drop();
        publish("1", 1);
        publish("2", 2);

        assertThat(client.expect(PUBACK).packetId()).isEqualTo(2);
        assertThat(rule.hits()).singleElement().extracting(WirePacket::packetId).isEqualTo(1);
        assertThat(rule).hasToString("Drop[] for 1 [PUBACK] of the BROKER");
        assertThat(payloads()).containsExactly("1", "2");
    }

    @Test
    void aMessageIsLostOnTheWayToTheBroker() {
        FaultRule rule = proxy.fromClient(PUBLISH).topic("a/2").drop();
        publish("1", 1);
        publish("2", 2);
        publish("3", 3);

        assertThat(client.expect(PUBACK).packetId()).isEqualTo(1);
        assertThat(client.expect(PUBACK).packetId()).isEqualTo(3);
        rule.awaitHits(1);
        rule.cancel();
        publish("2", 4);
        assertThat(client.expect(PUBACK).packetId()).isEqualTo(4);
    }

    @Test
    void packetsAreDoubled() {
        proxy.fromClient(PUBLISH).times(1).duplicate();
        proxy.fromClient(PUBLISH).skip(1).apply(new Fault.Duplicate(2)); // has not seen what the first rule took
        publish("1", 1);
        publish("2", 2);
        publish("3", 3);
        for (int i = 0; i < 6; i++) {
            client.expect(PUBACK);
        }

        assertThat(payloads()).containsExactly("1", "1", "2", "3", "3", "3");
    }

    @Test
    void packetsAreOvertaken() {
        proxy.fromClient(PUBLISH).times(1).apply(new Fault.Reorder(2));
        publish("1", 1);
        publish("2", 2);
        publish("3", 3);
        publish("4", 4);
        for (int i = 0; i < 4; i++) {
            client.expect(PUBACK);
        }
        proxy.fromClient(PUBLISH).times(1).reorder();
        publish("5", 5);
        publish("6", 6);
        client.expect(PUBACK);
        client.expect(PUBACK);

        assertThat(payloads()).containsExactly("2", "3", "1", "4", "6", "5");
    }

    @Test
    void packetsComeLaterAndInOrder() {
        proxy.fromClient(PUBLISH)
                .matching("payload 1", packet -> packet.text().equals("1"))
                .delay(Duration.ofMillis(300));
        long began = System.nanoTime();
        publish("1", 1);
        publish("2", 2);

        assertThat(client.expect(PUBACK).packetId()).isEqualTo(1);
        assertThat(System.nanoTime() - began)
                .isGreaterThan(Duration.ofMillis(299).toNanos());
        assertThat(payloads()).startsWith("1");
    }

    @Test
    void aConnectionIsCutByAPacket() {
        proxy.fromClient(PUBLISH).topic("a/2").cut();
        publish("1", 1);
        assertThat(client.expect(PUBACK).packetId()).isEqualTo(1);
        publish("2", 2);

        client.expectClosed();
        assertThat(broker).hasDisconnected("c").receivedNothing("a/2");
    }

    @Test
    void aConnectionIsCutInsideAPacket() {
        proxy.fromBroker(CONNACK).apply(new Fault.Cut(2));
        try (RawClient other = open()) {
            other.send(ConnectBytes.of("other"));
            assertThatThrownBy(other::receive).hasMessage("the connection ended inside a packet");
        }
    }

    @Test
    void connectionsAreCutAndComeAgain() {
        proxy.cutConnections();
        client.expectClosed();
        assertThat(broker).hasDisconnected("c");

        try (RawClient again = open()) {
            again.connect("c");
            assertThat(broker).hasConnected("c");
        }
    }

    @Test
    void aConnectionIsCutAfterBytes() {
        proxy.cutAfterBytes(Side.CLIENT, 100);
        client.send(PublishBytes.to("a/1").payload("1").qos(0));
        client.ping();
        client.send(PublishBytes.to("a/2").payload("x".repeat(100)).qos(0));

        client.expectClosed();
        assertThat(payloads()).containsExactly("1");
        proxy.heal();
        try (RawClient again = open()) {
            again.connect("c");
            again.send(PublishBytes.to("a/3").payload("x".repeat(200)).qos(0));
            assertThat(broker).received("a/3");
        }
    }

    @Test
    void newConnectionsAreRefused() {
        proxy.refuseConnections();
        try (RawClient refused = open()) {
            refused.expectClosed();
        }
        client.ping();
        proxy.heal();
        try (RawClient again = open()) {
            again.connect("again");
        }
        assertThat(proxy.connectionCount()).isEqualTo(2);
    }

    @Test
    void aHalfOpenConnectionAnswersNobody() {
        proxy.record().halfOpen();
        try (RawClient mute = open()) {
            mute.send(ConnectBytes.of("mute"));
            Awaitility.await()
                    .until(() -> proxy.recordings().size() == 1
                            && !proxy.recordings().get(0).packetsOf(Side.CLIENT).isEmpty());
            mute.deadline(Duration.ofMillis(200));
            assertThatThrownBy(mute::receive).hasMessageContaining("nothing came");
            assertThat(broker).hasNoSession("mute").hasConnected("c");
        }
        proxy.heal();
        client.ping();
    }

    @Test
    void aSlowReaderIsSlow() {
        proxy.readSlowly(Side.BROKER, 2_000);
        try (RawClient slow = open()) {
            slow.connect("slow");
            slow.subscribe("big", 0);
            long began = System.nanoTime();
            broker.client(V5, "p").publish("big", "x".repeat(1_000), 0);
            assertThat(slow.expect(PUBLISH).text()).hasSize(1_000);
            assertThat(System.nanoTime() - began)
                    .isGreaterThan(Duration.ofMillis(400).toNanos());
        }
    }

    @Test
    void everyPacketTypeCanBeMeant() {
        FaultRule all = proxy.fromClient().times(2).drop();
        client.send((byte) 0xC0, (byte) 0);
        publish("1", 1);
        client.ping();
        assertThat(all.hits()).extracting(WirePacket::type).containsExactly(PINGREQ, PUBLISH);
        proxy.fromBroker(PINGRESP, PUBACK).times(1).drop();
        client.send((byte) 0xC0, (byte) 0);
        client.ping();
    }

    @Test
    void nonsenseIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Fault.Duplicate(0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Fault.Reorder(0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Fault.Cut(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Fault.Delay(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> proxy.readSlowly(Side.CLIENT, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> proxy.cutAfterBytes(Side.CLIENT, -1));
    }

    @Test
    void malformedPacketsPass() {
        client.send((byte) 0x30, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF, (byte) 0xFF);
        assertThat(client.expect(DISCONNECT).reasonCode()).isEqualTo(0x81);
    }

    @Test
    void withoutABrokerConnectionsEnd() {
        try (MqttProxy nowhere = MqttProxy.to(new InetSocketAddress("127.0.0.1", unusedPort()))) {
            try (RawClient lost = RawClient.to(nowhere.address(), V5)) {
                lost.expectClosed();
            }
        }
    }

    private static int unusedPort() {
        MqttProxy closed = MqttProxy.to(new InetSocketAddress("127.0.0.1", 1));
        closed.close();
        return closed.port();
    }
}
