// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.8 and 3.9 of both standards. Nobody may subscribe to "forbidden". */
class SubscribeTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int SUBSCRIPTION_IDENTIFIER = 0x0B;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config,
            builder -> builder.authorizer(request -> (request.action() == AccessAction.SUBSCRIBE
                                    && request.topic().equals("forbidden")
                            ? AccessDecision.DENY
                            : AccessDecision.ALLOW)
                    .now()));

    @ParameterizedTest
    @EnumSource
    void eachFilterIsAnsweredInOrder(ProtocolVersion version) {
        // [MQTT-3.8.4-1] [MQTT-3.8.4-2] [MQTT-2.2.1-6] [MQTT311-3.8.4-1] [MQTT311-3.8.4-2] [MQTT311-2.3.1-7]
        // [MQTT-3.8.4-5] [MQTT-3.8.4-6] [MQTT-3.8.4-7] [MQTT-3.9.3-1] [MQTT-3.9.3-2]
        // [MQTT311-3.8.4-4] [MQTT311-3.8.4-5] [MQTT311-3.9.3-1] [MQTT311-3.9.3-2]
        RawClient client = broker.client(version, "c");
        String tooDeep = "/".repeat(1_000);
        ReceivedPacket subAck = client.subscribe(SubscribeBytes.of(0xABCD)
                .filter("a/2", 2)
                .filter("forbidden", 1)
                .filter("a/0", 0)
                .filter(tooDeep, 0)
                .filter("a/1", 1));
        assertThat(subAck.packetId()).isEqualTo(0xABCD);
        int denied = version.isV5() ? 0x87 : 0x80;
        int invalid = version.isV5() ? 0x8F : 0x80;
        assertThat(subAck.reasonCodes()).containsExactly(2, denied, 0, invalid, 1);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("forbidden", "x", 0);
        publisher.publish("a/1", "1", 2);
        publisher.publish("a/0", "0", 2);
        assertThat(client.expectPublish("a/1", "1").qos()).isEqualTo(1);
        assertThat(client.expectPublish("a/0", "0").qos()).isZero();
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void messagesArriveAtTheLowerQos(ProtocolVersion version) {
        // [MQTT-3.8.4-8] [MQTT311-3.8.4-6]
        for (int granted = 0; granted <= 2; granted++) {
            RawClient client = broker.client(version, "c" + granted);
            assertThat(client.subscribe("a", granted).reasonCodes()).containsExactly(granted);
            for (int published = 0; published <= 2; published++) {
                broker.client(version, "p").publish("a", "x", published);
                assertThat(client.expectPublish("a", "x").qos()).isEqualTo(Math.min(granted, published));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void subscribingAgainReplacesTheSubscription(ProtocolVersion version) {
        // [MQTT-3.8.4-3] [MQTT311-3.8.4-3] [MQTT-3.8.4-4]: the retained message comes again
        broker.client(version, "p")
                .publish(PublishBytes.to("a").qos(1).payload("kept").retained());
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 1);
        assertThat(client.expectPublish("a", "kept").qos()).isEqualTo(1);
        client.subscribe("a", 0);
        assertThat(client.expectPublish("a", "kept").qos()).isZero();
        broker.client(version, "p").publish("a", "x", 1);
        assertThat(client.expectPublish("a", "x").qos()).isZero();
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void nothingIsLostWhileASubscriptionIsReplaced(ProtocolVersion version) {
        // [MQTT-3.8.4-4] [MQTT311-3.8.4-3]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient publisher = broker.client(version, "p");
        int count = 500;
        for (int i = 0; i < count; i++) {
            publisher.send(PublishBytes.to("a").payload("" + i));
            if (i % 5 == 0) {
                client.send(SubscribeBytes.of(i + 1).filter("a", 0));
            }
        }
        publisher.ping();
        for (int i = 0; i < count; ) {
            ReceivedPacket packet = client.receive();
            assertThat(packet).isNotNull();
            if (packet.type() == MqttMessageType.PUBLISH) {
                assertThat(packet.text()).isEqualTo("" + i++);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void overlappingSubscriptionsDeliverAtTheHighestQos(ProtocolVersion version) {
        // [MQTT-3.3.4-2] [MQTT311-3.3.5-1]
        RawClient client = broker.client(version, "c");
        client.subscribe(SubscribeBytes.of(1).filter("a/b", 0).filter("a/+", 2).filter("a/#", 1));
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a/b", "x", 2);
        assertThat(client.expectPublish("a/b", "x").qos()).isEqualTo(2);
        publisher.publish("a/b", "y", 1);
        assertThat(client.expectPublish("a/b", "y").qos()).isEqualTo(1);
        client.expectNothing();
    }

    @Test
    void theCopyOfOverlappingSubscriptionsCarriesAllIdentifiers() {
        // [MQTT-3.3.4-3] [MQTT-3.3.4-4]
        RawClient client = broker.client(V5, "c");
        client.subscribe(SubscribeBytes.of(1).identifier(7).filter("a/b", 1));
        client.subscribe(SubscribeBytes.of(2).identifier(268_435_455).filter("a/+", 2));
        client.subscribe(SubscribeBytes.of(3).filter("#", 0));
        broker.client(V5, "p").publish("a/b", "x", 2);
        ReceivedPacket packet = client.expectPublish("a/b", "x");
        assertThat(packet.qos()).isEqualTo(2);
        assertThat(packet.properties(SUBSCRIPTION_IDENTIFIER)).containsExactlyInAnyOrder(7, 268_435_455);
        client.expectNothing();
    }

    @Test
    void anIdentifierGoesWithItsSubscriptionAndChangesWithIt() {
        // [MQTT-3.3.4-3] [MQTT-3.8.4-3]
        RawClient client = broker.client(V5, "c");
        RawClient publisher = broker.client(V5, "p");
        client.subscribe(SubscribeBytes.of(1).identifier(7).filter("a", 0));
        publisher.publish("a", "x", 0);
        assertThat(client.expectPublish("a", "x").properties(SUBSCRIPTION_IDENTIFIER))
                .containsExactly(7);
        client.subscribe(SubscribeBytes.of(2).identifier(8).filter("a", 0));
        publisher.publish("a", "x", 0);
        assertThat(client.expectPublish("a", "x").properties(SUBSCRIPTION_IDENTIFIER))
                .containsExactly(8);
        client.subscribe(SubscribeBytes.of(3).filter("a", 0));
        publisher.publish("a", "x", 0);
        assertThat(client.expectPublish("a", "x").properties(SUBSCRIPTION_IDENTIFIER))
                .isEmpty();
    }

    @Test
    void noLocalKeepsAClientsOwnMessagesAway() {
        // [MQTT-3.8.3-3]
        RawClient client = broker.client(V5, "c");
        client.subscribe("a", SubscribeBytes.NO_LOCAL);
        client.subscribe("b", 0);
        client.publish("a", "own", 1);
        client.expectNothing();
        broker.client(V5, "p").publish("a", "other", 1);
        client.expectPublish("a", "other");
        client.send(PublishBytes.to("b").payload("own"));
        client.expectPublish("b", "own");
    }
}
