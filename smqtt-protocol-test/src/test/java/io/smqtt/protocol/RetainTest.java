// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.3.1.3 and 3.8.4 of both standards. */
class RetainTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int MESSAGE_EXPIRY = 0x02;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension();

    private void retain(ProtocolVersion version, String topic, String payload, int qos) {
        RawClient publisher = broker.client(version, "retainer");
        publisher.publish(PublishBytes.to(topic).payload(payload).qos(qos).retained());
        publisher.disconnect();
    }

    @ParameterizedTest
    @EnumSource
    void theLastRetainedMessageOfEachTopicGoesToANewSubscription(ProtocolVersion version) {
        // [MQTT-3.3.1-5] [MQTT-3.3.1-9] [MQTT311-3.3.1-5] [MQTT311-3.3.1-6] [MQTT311-3.3.1-8]
        retain(version, "a/1", "old", 2);
        retain(version, "a/1", "new", 1);
        retain(version, "a/2", "two", 0);
        retain(version, "b", "b", 1);
        RawClient client = broker.client(version, "c");
        client.subscribe("a/+", 2);
        List<String> received = new ArrayList<>();
        client.expectNothingBut(packet -> {
            assertThat(packet.retain()).isTrue();
            received.add(packet.topic() + ' ' + packet.text() + ' ' + packet.qos());
        });
        assertThat(received).containsExactlyInAnyOrder("a/1 new 1", "a/2 two 0");
    }

    @ParameterizedTest
    @EnumSource
    void aRetainedMessageAtQos0ReplacesTheOneBefore(ProtocolVersion version) {
        // [MQTT311-3.3.1-7] [MQTT-3.3.1-5]
        retain(version, "a", "old", 2);
        retain(version, "a", "new", 0);
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 2);
        assertThat(client.expectPublish("a", "new").qos()).isZero();
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void anEmptyRetainedMessageClearsAndIsForwarded(ProtocolVersion version) {
        // [MQTT-3.3.1-6] [MQTT-3.3.1-7] [MQTT311-3.3.1-10] [MQTT311-3.3.1-11]
        retain(version, "a", "kept", 1);
        RawClient old = broker.client(version, "old");
        old.subscribe("a", 1);
        old.expectPublish("a", "kept");
        retain(version, "a", "", 1);
        assertThat(old.expectPublish("a", "").retain()).isFalse();
        RawClient late = broker.client(version, "late");
        late.subscribe("a", 1);
        late.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aMessageThatIsNotRetainedChangesNothing(ProtocolVersion version) {
        // [MQTT-3.3.1-8] [MQTT311-3.3.1-12]
        retain(version, "a", "kept", 1);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a", "passing", 1);
        publisher.publish("a", "", 1);
        publisher.publish("b", "passing", 1);
        RawClient client = broker.client(version, "c");
        client.subscribe("#", 1);
        client.expectPublish("a", "kept");
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void anExistingSubscriptionGetsItWithoutTheRetainFlag(ProtocolVersion version) {
        // [MQTT-3.3.1-12] [MQTT311-3.3.1-9]
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 1);
        retain(version, "a", "x", 1);
        assertThat(client.expectPublish("a", "x").retain()).isFalse();
    }

    @Test
    void retainAsPublishedKeepsTheFlagAsItCame() {
        // [MQTT-3.3.1-13]
        RawClient client = broker.client(V5, "c");
        client.subscribe("a", SubscribeBytes.RETAIN_AS_PUBLISHED);
        retain(V5, "a", "retained", 0);
        assertThat(client.expectPublish("a", "retained").retain()).isTrue();
        broker.client(V5, "p").publish("a", "passing", 0);
        assertThat(client.expectPublish("a", "passing").retain()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void everySubscribeBringsTheRetainedMessagesAgain(ProtocolVersion version) {
        // [MQTT-3.3.1-9] [MQTT-3.8.4-4] [MQTT311-3.8.4-3]
        retain(version, "a", "kept", 0);
        RawClient client = broker.client(version, "c");
        for (int i = 0; i < 3; i++) {
            client.subscribe("a", 0);
            assertThat(client.expectPublish("a", "kept").retain()).isTrue();
        }
        client.expectNothing();
    }

    @Test
    void retainHandling1IsForNewSubscriptionsOnly() {
        // [MQTT-3.3.1-10]
        retain(V5, "a", "kept", 0);
        RawClient client = broker.client(V5, "c");
        client.subscribe("a", SubscribeBytes.RETAINED_IF_NEW);
        client.expectPublish("a", "kept");
        client.subscribe("a", SubscribeBytes.RETAINED_IF_NEW);
        client.expectNothing();
        client.unsubscribe("a");
        client.subscribe("a", SubscribeBytes.RETAINED_IF_NEW);
        client.expectPublish("a", "kept");
    }

    @Test
    void retainHandling2SendsNone() {
        // [MQTT-3.3.1-11]
        retain(V5, "a", "kept", 0);
        RawClient client = broker.client(V5, "c");
        client.subscribe("a", SubscribeBytes.NO_RETAINED);
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void retainedMessagesOutliveTheSessionOfTheirPublisher(ProtocolVersion version) {
        // [MQTT311-3.1.2-7]
        retain(version, "a", "kept", 1);
        RawClient again = broker.client(version, "retainer"); // a clean session in place of the one before
        again.subscribe("a", 0);
        again.expectPublish("a", "kept");
    }

    @Test
    void retainedMessagesCountTheirExpiryDownAndGo() {
        // [MQTT-3.3.2-5] [MQTT-3.3.2-6]
        PublishBytes message = PublishBytes.to("a").payload("x").retained();
        message.properties().messageExpiry(60);
        broker.client(V5, "p").publish(message);
        broker.ticker().advance(Duration.ofSeconds(20));
        RawClient client = broker.client(V5, "c");
        client.subscribe("a", 0);
        assertThat(client.expectPublish("a", "x").number(MESSAGE_EXPIRY)).isEqualTo(40);
        broker.ticker().advance(Duration.ofSeconds(41));
        client.subscribe("a", 0);
        client.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void manyRetainedMessagesComeAsFastAsTheyAreAcknowledged(ProtocolVersion version) {
        RawClient publisher = broker.client(version, "p");
        int count = 3_000;
        for (int i = 0; i < count; i++) {
            publisher.send(
                    PublishBytes.to("many/" + i).qos(1, i + 1).payload("x").retained());
            if (i % 100 == 99) {
                for (int acknowledged = 0; acknowledged < 100; acknowledged++) {
                    publisher.expect(MqttMessageType.PUBACK);
                }
            }
        }
        ConnectBytes connect = ConnectBytes.of("c");
        connect.properties().receiveMaximum(10);
        RawClient client = broker.open(version);
        client.connect(connect);
        client.subscribe("many/#", 1);
        for (int i = 0; i < count; i++) {
            ReceivedPacket packet = client.expect(MqttMessageType.PUBLISH);
            assertThat(packet.retain()).isTrue();
            client.acknowledge(0x40, packet.packetId());
        }
        client.expectNothing();
    }
}
