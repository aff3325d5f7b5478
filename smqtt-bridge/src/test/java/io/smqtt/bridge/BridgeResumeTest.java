// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PublishBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a bridge resumes at the other broker. */
@Timeout(60)
class BridgeResumeTest {

    /** It may know packet identifiers of QoS 2 that this broker gives again. */
    @Test
    void aSessionThatOnlyTheOtherBrokerHasIsBegunAnew() {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with("cloud", BridgedBroker.bridge(remote.address(), "a/# out 2"))
                        .start()) {
            remote.accept(false, true).expectClosed();
            RawClient bridge = remote.accept(true, false);
            broker.awaitConnected("cloud");
            bridge.close();
            remote.accept(false, true);
            broker.awaitConnected("cloud");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void nothingIsSentInASessionThatIsNotResumed(int qos) {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with("cloud", BridgedBroker.bridge(remote.address(), "a/# out 2"))
                        .start();
                RawClient client = broker.client("publisher")) {
            client.publish("a/b", "x", qos);
            remote.accept(false, true).expectClosed();
            assertThat(RemoteStub.nextPublish(remote.accept(true, false)).text())
                    .isEqualTo("x");
        }
    }

    /** [MQTT-3.2.2-2]: such a broker is tried again with growing delays, as after any failure. */
    @Test
    void aSessionThatIsKeptInSpiteOfACleanStartIsAFailure() {
        try (LoggedLines log = new LoggedLines();
                RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with("cloud", BridgedBroker.bridge(remote.address(), "a/# out 2"))
                        .start()) {
            remote.accept(false, true).expectClosed();
            long begin = System.nanoTime();
            for (int attempt = 0; attempt < 5; attempt++) {
                remote.accept(true, true).expectClosed();
            }
            // 20, 40, 80, 160 ms, up to a half shorter
            assertThat(System.nanoTime() - begin)
                    .isGreaterThan(Duration.ofMillis(140).toNanos());
            remote.accept(true, false);
            broker.awaitConnected("cloud");
            assertThat(log.with("kept a session although a clean start was asked for"))
                    .hasSize(1);
        }
    }

    /** The session of a node that is chosen is new at its first connection only. */
    @Test
    void anAttemptThatFailsDoesNotMakeItForgetToBeginAnew() {
        try (RemoteStub remote = new RemoteStub()) {
            BridgeConfig config =
                    BridgedBroker.bridge(remote.address(), "a/# out 2").build();
            try (DialledBroker broker = DialledBroker.with(config, new SimulatedNodes("n1").module("n1"))) {
                remote.accept(false, true).expectClosed();
                remote.acceptConnect(true).close();
                RawClient bridge = remote.accept(true, false);
                await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
                bridge.close();
                remote.accept(false, true);
                await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            }
        }
    }

    /** A new session of the other broker gives the identifiers of the former one to new messages. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anIdentifierThatComesInAgainIsARepetitionOnlyInTheSameSession(boolean present) {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a/# in 2")
                                        .hopLimit(0))
                        .start();
                RawClient client = broker.client("subscriber")) {
            client.subscribe("a/#", 0);
            RawClient bridge = remote.accept(false, false);
            bridge.expect(MqttMessageType.SUBSCRIBE);
            bridge.send(PublishBytes.to("a/b").payload("first").qos(2, 7));
            bridge.expect(MqttMessageType.PUBREC);
            client.expectPublish("a/b", "first");
            bridge.close(); // without a PUBREL

            RawClient again = remote.accept(false, present);
            again.expect(MqttMessageType.SUBSCRIBE);
            again.send(PublishBytes.to("a/b").payload("second").qos(2, 7));
            again.send(PublishBytes.to("a/b").payload("third").qos(2, 8));
            again.expect(MqttMessageType.PUBREC);
            again.expect(MqttMessageType.PUBREC);
            if (!present) {
                client.expectPublish("a/b", "second");
            }
            client.expectPublish("a/b", "third");
        }
    }

    /** [MQTT-2.2.1-3]: the bridge subscribes with identifiers that no message in flight has. */
    @Test
    void theIdentifierOfAMessageInFlightIsNotThatOfASubscription() throws Exception {
        int largest = 65_535;
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "b/# in 1", "a/# out 1")
                                        .hopLimit(0))
                        .start();
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(false, false);
            int request = bridge.expect(MqttMessageType.SUBSCRIBE).packetId();
            bridge.send(PacketBytes.packet(0x90).u16(request).u8(0).u8(1));
            broker.awaitConnected("cloud");
            ByteArrayOutputStream messages = new ByteArrayOutputStream();
            for (int id = 1; id <= largest; id++) {
                messages.writeBytes(PublishBytes.to("a/b").qos(1, id).toBytes(ProtocolVersion.MQTT_5));
            }
            CompletableFuture<RawClient> sent = CompletableFuture.supplyAsync(
                    () -> client.send(messages.toByteArray()), task -> new Thread(task, "publisher").start());
            int part = (largest - 1) / 151; // fewer than limits.max-in-flight
            for (int first = 1; first < largest; first += part) {
                take(bridge, messages.size() / largest, first, part);
                assertThat(client.socket().getInputStream().readNBytes(4 * part))
                        .hasSize(4 * part); // PUBACK
            }
            sent.join();
            assertThat(RemoteStub.nextPublish(bridge).packetId()).isEqualTo(largest);
            bridge.close();

            RawClient again = remote.accept(false, true);
            List<ReceivedPacket> both = List.of(again.receive(), again.receive());
            assertThat(both)
                    .extracting(ReceivedPacket::type)
                    .containsExactlyInAnyOrder(MqttMessageType.SUBSCRIBE, MqttMessageType.PUBLISH);
            assertThat(both)
                    .extracting(ReceivedPacket::packetId)
                    .contains(largest)
                    .doesNotHaveDuplicates();
        }
    }

    /** Takes packets of one length, with packet identifiers one after the other, and acknowledges them. */
    private static void take(RawClient bridge, int length, int first, int count) throws IOException {
        assertThat(bridge.socket().getInputStream().readNBytes(count * length)).hasSize(count * length);
        ByteBuffer answers = ByteBuffer.allocate(4 * count);
        for (int id = first; id < first + count; id++) {
            answers.putShort((short) 0x4002).putShort((short) id);
        }
        bridge.send(answers.array());
    }

    /** TCP gives both at once. */
    @Test
    void whatComesBeforeADisconnectCounts() {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a/# out 1", "b in")
                                        .hopLimit(0))
                        .start();
                RawClient client = broker.client("client")) {
            client.subscribe("b", 0);
            RawClient bridge = remote.accept(false, false);
            broker.awaitConnected("cloud");
            client.publish("a/b", "first", 1);
            client.publish("a/b", "second", 1);
            int first = RemoteStub.nextPublish(bridge).packetId();
            RemoteStub.nextPublish(bridge);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            bytes.writeBytes(PublishBytes.to("b").payload("at most once").toBytes(ProtocolVersion.MQTT_5));
            bytes.writeBytes(PacketBytes.packet(0x40).u16(first).toBytes());
            bytes.writeBytes(PacketBytes.packet(0xe0).u8(0x8b).toBytes()); // server shutting down
            bridge.send(bytes.toByteArray());

            client.expectPublish("b", "at most once");
            assertThat(RemoteStub.nextPublish(remote.accept(false, true)).text())
                    .isEqualTo("second");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aMessageThatWasNotAcknowledgedIsSentAgainWithItsIdentifier(int qos) {
        try (RemoteStub remote = new RemoteStub();
                BridgedBroker broker = BridgedBroker.with("cloud", BridgedBroker.bridge(remote.address(), "a/# out 2"))
                        .start();
                RawClient client = broker.client("publisher")) {
            client.publish("a/b", "x", qos);
            RawClient bridge = remote.accept(false, false);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            bridge.close();
            ReceivedPacket again = RemoteStub.nextPublish(remote.accept(false, true));

            assertThat(first.dup()).isFalse();
            assertThat(again.dup()).isTrue();
            assertThat(again.packetId()).isEqualTo(first.packetId());
            assertThat(again.qos()).isEqualTo(qos);
        }
    }
}
