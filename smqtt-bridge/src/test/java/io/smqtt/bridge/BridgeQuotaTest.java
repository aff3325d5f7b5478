// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeConfigBuilder;
import io.smqtt.test.ManualTicker;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PacketBytes;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that the other broker refuses with reason 0x97: its quota is exceeded for the time being. */
@Timeout(60)
class BridgeQuotaTest {

    private static final int QUOTA_EXCEEDED = 0x97;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final LoggedLines log = new LoggedLines();
    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        log.close();
        remote.close();
    }

    private BridgeConfigBuilder config() {
        return BridgedBroker.bridge(remote.address(), "out/# out 2").hopLimit(0);
    }

    private static void refuse(RawClient bridge, ReceivedPacket message) {
        bridge.send(PacketBytes.packet(message.qos() == 1 ? 0x40 : 0x50)
                .u16(message.packetId())
                .u8(QUOTA_EXCEEDED)
                .u8(0));
    }

    private static void accept(RawClient bridge, ReceivedPacket... messages) {
        for (ReceivedPacket message : messages) {
            bridge.acknowledge(message.qos() == 1 ? 0x40 : 0x50, message.packetId());
        }
        if (messages[0].qos() == 2) {
            for (ReceivedPacket message : messages) {
                bridge.expect(MqttMessageType.PUBREL);
            }
            for (ReceivedPacket message : messages) {
                bridge.acknowledge(0x70, message.packetId());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theyAreSentAgainInOrderBeforeAnyOther(int qos) {
        try (DialledBroker local = DialledBroker.with(config().build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none().receiveMaximum(2));
            here.publish("out/a", "1", qos);
            here.publish("out/a", "2", qos);
            here.publish("out/a", "3", qos);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            ReceivedPacket second = RemoteStub.nextPublish(bridge);
            refuse(bridge, first);
            refuse(bridge, second);
            ReceivedPacket again = RemoteStub.nextPublish(bridge);
            assertThat(again.text()).isEqualTo("1");
            assertThat(again.packetId()).isEqualTo(first.packetId());
            assertThat(again.dup()).as("the other broker has not taken it").isFalse();
            refuse(bridge, first); // more than once
            again = RemoteStub.nextPublish(bridge);
            assertThat(again.text()).isEqualTo("1");
            accept(bridge, again);
            again = RemoteStub.nextPublish(bridge);
            assertThat(again.text()).isEqualTo("2");
            accept(bridge, again);
            ReceivedPacket third = RemoteStub.nextPublish(bridge);
            assertThat(third.text()).isEqualTo("3");
            assertThat(third.dup()).isFalse();
            accept(bridge, third);
            await().atMost(PATIENCE).until(() -> local.status().queued() == 0);
            assertThat(local.status().sent()).isEqualTo(3);
            assertThat(local.status().resent()).isEqualTo(3);
            assertThat(local.status().refused()).isZero();
            assertThat(local.status().dropped()).isZero();
            assertThat(log.with("refuses a message with reason 0x97 (quota exceeded); it is sent again"))
                    .hasSize(1);
        }
    }

    @Test
    void othersWaitUntilAllRefusedOnesAreTaken() {
        try (DialledBroker local = DialledBroker.with(config().build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none().receiveMaximum(10));
            here.publish("out/a", "1", 1);
            refuse(bridge, RemoteStub.nextPublish(bridge));
            ReceivedPacket again = RemoteStub.nextPublish(bridge);
            here.publish("out/a", "2", 1);
            here.publish("out/b", "3", 0);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("3"); // 2 is not sent, although there is room
            refuse(bridge, again);
            again = RemoteStub.nextPublish(bridge);
            assertThat(again.text()).isEqualTo("1");
            accept(bridge, again);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("2");
        }
    }

    /** Such as one that refuses a message and ends the connection. */
    @Test
    void theTimeGoesOnOverConnections() {
        try (DialledBroker local = DialledBroker.with(config().minDelay(Duration.ofMillis(10))
                        .maxDelay(Duration.ofMillis(10))
                        .quotaTimeout(Duration.ofMillis(1))
                        .build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            here.publish("out/a", "1", 1);
            refuse(bridge, RemoteStub.nextPublish(bridge));
            log.awaitLine("and others wait");
            bridge.close();

            RawClient next = remote.accept(PropertyBytes.none());
            refuse(next, RemoteStub.nextPublish(next));
            await().atMost(PATIENCE).until(() -> local.status().refused() == 1);
        }
    }

    @Test
    void othersWaitMeanwhileInTheQueue() {
        try (DialledBroker local = DialledBroker.with(config().minDelay(Duration.ofSeconds(30))
                        .maxDelay(Duration.ofSeconds(30))
                        .build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            here.publish("out/a", "1", 1);
            refuse(bridge, RemoteStub.nextPublish(bridge));
            await().atMost(PATIENCE).until(() -> !log.with("and others wait").isEmpty());
            here.publish("out/a", "2", 1);
            here.publish("out/b", "3", 0);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("3");
            assertThat(local.status().queued()).isEqualTo(1);
            assertThat(local.status().sent()).isEqualTo(2);
        }
    }

    @Test
    void theyComeFirstOverANewConnection() {
        try (DialledBroker local = DialledBroker.with(
                        config().minDelay(Duration.ofMillis(200)).build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            here.publish("out/a", "1", 1);
            refuse(bridge, RemoteStub.nextPublish(bridge));
            bridge.close();
            log.awaitLine("closed the connection after it has refused a message with reason 0x97");
            here.publish("out/a", "2", 1);

            RawClient next = remote.accept(PropertyBytes.none());
            ReceivedPacket again = RemoteStub.nextPublish(next);
            assertThat(again.text()).isEqualTo("1");
            assertThat(again.dup()).as("the refusal has ended its exchange").isFalse();
            assertThat(RemoteStub.nextPublish(next).text()).isEqualTo("2");
            next.close();
            ReceivedPacket unanswered = RemoteStub.nextPublish(remote.accept(PropertyBytes.none()));
            assertThat(unanswered.text()).isEqualTo("1");
            assertThat(unanswered.dup()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aRefusedMessageThatExpiresBetweenTwoConnectionsCounts(int qos) {
        ManualTicker ticker = new ManualTicker();
        BridgeConfig config = config().minDelay(Duration.ofMillis(500))
                .maxDelay(Duration.ofMillis(500))
                .build();
        try (DialledBroker local = DialledBroker.with(config, ticker);
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            PublishBytes brief = PublishBytes.to("out/a").payload("brief").qos(qos);
            brief.properties().messageExpiry(60);
            here.publish(brief);
            refuse(bridge, RemoteStub.nextPublish(bridge));
            bridge.close();
            log.awaitLine("closed the connection after it has refused a message with reason 0x97");
            ticker.advance(Duration.ofSeconds(61));
            here.publish("out/a", "later", 1);

            assertThat(RemoteStub.nextPublish(remote.accept(PropertyBytes.none()))
                            .text())
                    .isEqualTo("later");
            await().atMost(PATIENCE).until(() -> local.status().refused() == 1);
            assertThat(local.status().sent()).isEqualTo(2);
            assertThat(log.with("a message expires that")).hasSize(1);
        }
    }

    /** With a Maximum QoS of 1 a message of QoS 2 is refused by a PUBACK. */
    @Test
    void aLoweredQosIsKept() {
        try (DialledBroker local = DialledBroker.with(config().build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none().u8(0x24, 1));
            here.publish("out/a", "1", 2);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            assertThat(first.qos()).isEqualTo(1);
            refuse(bridge, first);
            ReceivedPacket again = RemoteStub.nextPublish(bridge);
            assertThat(again.qos()).isEqualTo(1);
            assertThat(again.text()).isEqualTo("1");
            bridge.pubAck(again);
            here.publish("out/a", "2", 2);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("2");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void afterTheTimeARefusalIsFinal(int timeoutMillis) {
        try (DialledBroker local = DialledBroker.with(
                        config().quotaTimeout(Duration.ofMillis(timeoutMillis)).build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            here.publish("out/a", "1", 1);
            here.publish("out/a", "2", 2);
            ReceivedPacket first = RemoteStub.nextPublish(bridge);
            ReceivedPacket second = RemoteStub.nextPublish(bridge);
            refuse(bridge, first);
            refuse(bridge, second);
            if (timeoutMillis > 0) {
                refuse(bridge, RemoteStub.nextPublish(bridge));
                refuse(bridge, RemoteStub.nextPublish(bridge));
            }
            await().atMost(PATIENCE).until(() -> local.status().refused() == 2);
            assertThat(local.status().sent()).isEqualTo(2);
            assertThat(local.status().dropped()).isZero();
            assertThat(log.with("reason 0x97; it is not sent again")).hasSize(1);
            here.publish("out/a", "3", 1);
            assertThat(RemoteStub.nextPublish(bridge).text()).isEqualTo("3");
        }
    }

    /** The refusal has ended the exchange, so the message is not handed over yet: [MQTT-3.3.2-5] applies, at QoS 2 too. */
    @Test
    void aRefusedMessageExpires() {
        try (DialledBroker local = DialledBroker.with(config().build());
                RawClient here = local.client("here")) {
            RawClient bridge = remote.accept(PropertyBytes.none());
            PublishBytes brief = PublishBytes.to("out/a").payload("brief").qos(2);
            brief.properties().messageExpiry(3);
            here.publish(brief);
            refuse(bridge, RemoteStub.nextPublish(bridge));
            log.awaitLine("and others wait");
            here.publish("out/a", "later", 1);
            ReceivedPacket next = RemoteStub.nextPublish(bridge);
            while (next.text().equals("brief")) {
                refuse(bridge, next);
                next = RemoteStub.nextPublish(bridge);
            }
            assertThat(next.text()).isEqualTo("later");
            assertThat(local.status().refused()).isEqualTo(1);
            assertThat(local.status().sent()).isEqualTo(2);
            assertThat(local.status().dropped()).isZero();
            assertThat(log.with("a message expires that")).hasSize(1);
        }
    }
}
