// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Another broker with limits: what its CONNACK says is obeyed. */
@Timeout(60)
class BridgeLimitsTest {

    private static final int KEEP_ALIVE = 0x13;
    private static final int MAXIMUM_QOS = 0x24;
    private static final int RETAIN_AVAILABLE = 0x25;
    private static final int WILDCARDS_AVAILABLE = 0x28;
    private static final int IDENTIFIERS_AVAILABLE = 0x29;
    private static final int SHARED_AVAILABLE = 0x2a;
    private static final int ASSIGNED_CLIENT_IDENTIFIER = 0x12;
    private static final int TOPIC_ALIAS = 0x23;
    private static final int WINDOW = 10;

    private final RemoteStub remote = new RemoteStub();
    private final LoggedLines log = new LoggedLines();

    @AfterEach
    void close() {
        log.close();
        remote.close();
    }

    private BridgedBroker start(String... topics) {
        return BridgedBroker.with(
                        "cloud", BridgedBroker.bridge(remote.address(), topics).hopLimit(0))
                .start();
    }

    /** A remote such as those of cloud providers. */
    private static PropertyBytes narrow() {
        return PropertyBytes.none()
                .receiveMaximum(WINDOW)
                .u8(MAXIMUM_QOS, 1)
                .u8(RETAIN_AVAILABLE, 0)
                .maximumPacketSize(128 << 10)
                .topicAliasMaximum(8)
                .u8(IDENTIFIERS_AVAILABLE, 0)
                .u8(SHARED_AVAILABLE, 0)
                .string(ASSIGNED_CLIENT_IDENTIFIER, "another-name");
    }

    @Test
    void noMoreMessagesThanReceiveMaximumAreInFlightAndNoneIsAboveMaximumQos() {
        try (BridgedBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(narrow());
            broker.awaitConnected("cloud");
            for (int i = 0; i < 50; i++) {
                client.publish("a/b", "m" + i, i % 3);
            }
            Queue<ReceivedPacket> unacknowledged = new ArrayDeque<>();
            List<String> arrived = new ArrayList<>();
            while (arrived.size() < 50) {
                ReceivedPacket message = RemoteStub.nextPublish(bridge);
                assertThat(message.qos()).isLessThan(2);
                assertThat(message.propertyIds()).doesNotContain(TOPIC_ALIAS);
                arrived.add(message.text());
                if (message.qos() == 1) {
                    unacknowledged.add(message);
                }
                assertThat(unacknowledged).hasSizeLessThanOrEqualTo(WINDOW);
                if (unacknowledged.size() == WINDOW) {
                    bridge.pubAck(unacknowledged.remove());
                }
            }
            unacknowledged.forEach(bridge::pubAck);

            await().until(() -> broker.waiting("cloud") == 0);
            assertThat(arrived.stream().filter(text -> Integer.parseInt(text.substring(1)) % 3 == 2))
                    .as("QoS 2, in order")
                    .containsExactlyElementsOf(arrived.stream()
                            .filter(text -> Integer.parseInt(text.substring(1)) % 3 == 2)
                            .sorted((a, b) -> Integer.parseInt(a.substring(1)) - Integer.parseInt(b.substring(1)))
                            .toList());
        }
    }

    @Test
    void withMaximumQosZeroNothingIsAcknowledgedAndNothingStays() {
        try (BridgedBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(PropertyBytes.none().u8(MAXIMUM_QOS, 0));
            broker.awaitConnected("cloud");
            for (int i = 0; i < 9; i++) {
                client.publish("a/b", "m" + i, i % 3);
            }
            for (int i = 0; i < 9; i++) {
                assertThat(RemoteStub.nextPublish(bridge).qos()).isZero();
            }
            await().until(() -> broker.waiting("cloud") == 0);
        }
    }

    /** Messages that the rate has held back are acknowledged when they leave, not before. */
    @Test
    void withMaximumQosZeroNothingThatHasNotLeftIsLost() {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a/# out 2")
                                        .maxRate(2)
                                        .hopLimit(0))
                        .start();
                RawClient client = broker.client("publisher")) {
            for (int i = 0; i < 5; i++) {
                client.publish("a/b", "m" + i, 1 + i % 2);
            }
            RawClient first = remote.accept(PropertyBytes.none().u8(MAXIMUM_QOS, 0));
            assertThat(RemoteStub.nextPublish(first).text()).isEqualTo("m0");
            first.close();

            RawClient second = remote.accept(PropertyBytes.none().u8(MAXIMUM_QOS, 0));
            List<String> arrived = new ArrayList<>();
            while (!arrived.contains("m4")) {
                arrived.add(RemoteStub.nextPublish(second).text());
            }
            assertThat(arrived).contains("m3", "m4");
            await().until(() -> broker.waiting("cloud") == 0);
        }
    }

    @Test
    void aMessageAboveTheMaximumPacketSizeIsDroppedAndLoggedOnce() {
        try (BridgedBroker broker = start("a/# out 2");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(narrow());
            broker.awaitConnected("cloud");
            byte[] fits = new byte[(128 << 10) - 64];
            for (int qos = 0; qos < 3; qos++) {
                client.publish(
                        PublishBytes.to("a/b").payload(new byte[128 << 10]).qos(qos));
            }
            client.publish(PublishBytes.to("a/b").payload(fits).qos(1));

            ReceivedPacket message = RemoteStub.nextPublish(bridge);
            assertThat(message.payload()).hasSize(fits.length);
            bridge.pubAck(message);
            await().until(() -> broker.waiting("cloud") == 0);
        }
        assertThat(log.with("larger than the Maximum Packet Size")).hasSize(1);
    }

    /** MQTT 3.1.1 has no Maximum Packet Size that it could obey. */
    @ParameterizedTest
    @CsvSource({"0, false", "1, false", "2, false", "1, true", "2, true"})
    void aPacketOfMqtt311AboveOurLimitIsSkippedAndAcknowledged(int qos, boolean webSocket) {
        BridgeConfig config = BridgedBroker.bridge((webSocket ? "ws://" : "") + remote.address(), "a/# in 2")
                .version("3.1.1")
                .tryPrivate(false)
                .build();
        try (DialledBroker broker = DialledBroker.with(config);
                RawClient client = broker.client("subscriber")) {
            client.subscribe("a/#", 2);
            RawClient bridge = remote.accept311(webSocket);
            bridge.expect(MqttMessageType.SUBSCRIBE);
            await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
            byte[] large = new byte[3 << 20];
            bridge.send(PublishBytes.to("a/b").payload(large).qos(qos, 7));
            bridge.send(PublishBytes.to("a/b").payload("fits").qos(1, 8));
            if (qos > 0) {
                ReceivedPacket answer = bridge.expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC);
                assertThat(answer.packetId()).isEqualTo(7);
            }
            assertThat(bridge.expect(MqttMessageType.PUBACK).packetId()).isEqualTo(8);
            client.expectPublish("a/b", "fits");
        }
        assertThat(log.with("larger than limits.max-packet-bytes")).hasSize(1);
        assertThat(log.with("no longer connected")).isEmpty();
    }

    @Test
    void aPayloadAboveTheLimitOfTheBridgeIsNotForwarded() {
        try (BridgedBroker broker = BridgedBroker.with(
                                "cloud",
                                BridgedBroker.bridge(remote.address(), "a/# both 2")
                                        .maxPayloadBytes(10)
                                        .hopLimit(0))
                        .start();
                RawClient client = broker.client("client")) {
            client.subscribe("a/#", 2);
            RawClient bridge = remote.accept(PropertyBytes.none());
            bridge.expect(MqttMessageType.SUBSCRIBE);
            broker.awaitConnected("cloud");
            client.send(PublishBytes.to("a/b").payload("12345678901"));
            client.send(PublishBytes.to("a/b").payload("1234567890"));
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("1234567890");

            bridge.send(PublishBytes.to("a/in").payload("12345678901").qos(1, 7));
            bridge.send(PublishBytes.to("a/in").payload("ok"));
            bridge.expect(MqttMessageType.PUBACK);
            client.expectPublish("a/b", "12345678901");
            client.expectPublish("a/b", "1234567890");
            client.expectPublish("a/in", "ok");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void theRetainFlagIsKeptOnlyIfItIsAvailable(int available) {
        try (BridgedBroker broker = start("a/# out 1");
                RawClient client = broker.client("publisher")) {
            RawClient bridge = remote.accept(PropertyBytes.none().u8(RETAIN_AVAILABLE, available));
            broker.awaitConnected("cloud");
            client.publish(PublishBytes.to("a/b").payload("x").retained());

            assertThat(RemoteStub.nextPublish(bridge).retain()).isEqualTo(available == 1);
        }
    }

    @Test
    void withoutWildcardsOnlyPlainTopicsAreSubscribed() {
        try (BridgedBroker broker = start("a/# in 1", "b/c in 1")) {
            RawClient bridge = remote.accept(PropertyBytes.none().u8(WILDCARDS_AVAILABLE, 0));
            ReceivedPacket subscribe = bridge.expect(MqttMessageType.SUBSCRIBE);
            assertThat(new String(subscribe.bytes(), java.nio.charset.StandardCharsets.US_ASCII))
                    .contains("b/c");
            await().until(() -> broker.isConnected("cloud"));
            bridge.deadline(Duration.ofMillis(100));
            assertThatThrownBy(bridge::receive).isInstanceOf(AssertionError.class);
        }
        assertThat(log.with("has no wildcard subscriptions; nothing comes in by a/#"))
                .hasSize(1);
    }

    @Test
    void theKeepAliveOfTheOtherBrokerIsUsed() {
        try (BridgedBroker broker = start("a/# out 1")) {
            RawClient bridge = remote.accept(PropertyBytes.none().u16(KEEP_ALIVE, 1));
            bridge.expect(MqttMessageType.PINGREQ); // after 750 ms, where ours would be a minute
            await().until(() -> broker.isConnected("cloud"));
        }
        assertThat(log.with("bridge cloud connected to")).hasSize(1);
    }
}
