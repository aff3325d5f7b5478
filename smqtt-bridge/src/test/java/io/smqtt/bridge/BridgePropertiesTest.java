// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.BridgeConfig;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The properties of MQTT 5.0 on their way through a bridge. */
@Timeout(60)
class BridgePropertiesTest {

    private static final int PAYLOAD_FORMAT = 0x01;
    private static final int EXPIRY = 0x02;
    private static final int CONTENT_TYPE = 0x03;
    private static final int RESPONSE_TOPIC = 0x08;
    private static final int CORRELATION_DATA = 0x09;
    private static final int KEEP_ALIVE = 0x13;
    private static final long HOUR = 3_600;

    private final RemoteStub remote = new RemoteStub();

    @AfterEach
    void close() {
        remote.close();
    }

    private DialledBroker start(String version) {
        BridgeConfig config = BridgedBroker.bridge(remote.address(), "out/# out 1 \"\" plant/", "in/# in 1")
                .version(version)
                .tryPrivate(false)
                .build();
        return DialledBroker.with(config);
    }

    private static void awaitConnected(DialledBroker broker) {
        await().until(() -> broker.status().state() == BridgeStatus.State.CONNECTED);
    }

    private static PublishBytes message(String topic) {
        PublishBytes message = PublishBytes.to(topic).payload("x").qos(1, 7);
        message.properties()
                .payloadFormat(1)
                .messageExpiry(HOUR)
                .contentType("text/plain")
                .responseTopic("answers/7")
                .correlationData((byte) 1, (byte) 2)
                .user("a", "1")
                .user("a", "2");
        return message;
    }

    private static void assertHasAll(ReceivedPacket message) {
        assertThat(message.number(PAYLOAD_FORMAT)).isEqualTo(1);
        assertThat(message.number(EXPIRY)).isBetween(HOUR - 60, HOUR);
        assertThat(message.property(CONTENT_TYPE)).isEqualTo("text/plain");
        assertThat(message.property(RESPONSE_TOPIC)).isEqualTo("answers/7");
        assertThat(message.property(CORRELATION_DATA)).isEqualTo(new byte[] {1, 2});
        assertThat(message.userProperties()).hasSizeGreaterThanOrEqualTo(2);
        assertThat(message.userProperties().subList(0, 2)).containsExactly("a=1", "a=2");
    }

    @Test
    void theyGoAlongInBothDirections() {
        try (DialledBroker broker = start("5");
                RawClient client = broker.client("client")) {
            client.subscribe("in/#", 0);
            RawClient bridge = remote.accept(PropertyBytes.none());
            awaitConnected(broker);
            client.send(message("out/a"));
            assertHasAll(RemoteStub.nextPublish(bridge));
            client.expect(MqttMessageType.PUBACK);
            bridge.send(message("in/a"));
            assertHasAll(client.expectPublish("in/a", "x"));
        }
    }

    @Test
    void mqtt311HasNone() {
        try (DialledBroker broker = start("3.1.1");
                RawClient client = broker.client("client")) {
            RawClient bridge = remote.accept311(false);
            awaitConnected(broker);
            client.send(message("out/a"));
            ReceivedPacket arrived = RemoteStub.nextPublish(bridge);
            assertThat(arrived.text()).isEqualTo("x");
            assertThat(arrived.propertyIds()).isEmpty();
        }
    }

    /** The keep-alive of the other broker, a second, makes a PINGREQ after 750 ms, and an end after as much again. */
    @Test
    void aRemoteThatDoesNotAnswerPingReqIsLeft() {
        try (LoggedLines log = new LoggedLines();
                DialledBroker broker = start("5")) {
            RawClient bridge = remote.accept(PropertyBytes.none().u16(KEEP_ALIVE, 1));
            awaitConnected(broker);
            bridge.expect(MqttMessageType.SUBSCRIBE);
            bridge.expect(MqttMessageType.SUBSCRIBE); // for the identifier of the other broker
            bridge.expect(MqttMessageType.PINGREQ);
            bridge.expectClosed();
            log.awaitLine("it does not answer PINGREQ");
        }
    }
}
