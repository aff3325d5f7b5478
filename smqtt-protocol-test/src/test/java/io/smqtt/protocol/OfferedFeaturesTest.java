// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.MqttConfig;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PropertyId;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A broker that was told to offer less than it can: sections 3.2.2.3 and 4.11 of MQTT 5.0. */
class OfferedFeaturesTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;

    @RegisterExtension
    private final BrokerExtension little = new BrokerExtension(config -> config.mqtt(MqttConfig.builder()
            .maxQos(1)
            .retainAvailable(false)
            .wildcardAvailable(false)
            .sharedAvailable(false)
            .subscriptionIdentifiersAvailable(false)
            .validatePayloadFormat(true)
            .serverReference("other.example:1883")
            .build()));

    @RegisterExtension
    private final BrokerExtension everything = new BrokerExtension();

    @Test
    void theConnAckTellsWhatIsNotOffered() {
        // [MQTT-3.2.2-9]
        ReceivedPacket connAck = little.open(V5).connect("c");
        assertThat(connAck.number(PropertyId.MAXIMUM_QOS)).isEqualTo(1);
        assertThat(connAck.number(PropertyId.RETAIN_AVAILABLE)).isZero();
        assertThat(connAck.number(PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE)).isZero();
        assertThat(connAck.number(PropertyId.SHARED_SUBSCRIPTION_AVAILABLE)).isZero();
        assertThat(connAck.number(PropertyId.SUBSCRIPTION_IDENTIFIERS_AVAILABLE))
                .isZero();
    }

    @Test
    void whatIsOfferedGoesWithoutSaying() {
        assertThat(everything.open(V5).connect("c").propertyIds())
                .doesNotContain(
                        PropertyId.MAXIMUM_QOS,
                        PropertyId.RETAIN_AVAILABLE,
                        PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE,
                        PropertyId.SHARED_SUBSCRIPTION_AVAILABLE,
                        PropertyId.SUBSCRIPTION_IDENTIFIERS_AVAILABLE);
    }

    @ParameterizedTest
    @EnumSource
    void subscriptionsOfEveryQosAreAcceptedAndServedAtTheMaximum(ProtocolVersion version) {
        // [MQTT-3.2.2-10]
        RawClient client = little.client(version, "c");
        assertThat(client.subscribe("a", 2).reasonCodes()).containsExactly(1);
        little.broker()
                .publish(ApplicationMessage.builder("a")
                        .payload("x")
                        .qos(QoS.EXACTLY_ONCE)
                        .build())
                .block();
        assertThat(client.expectPublish("a", "x").qos()).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void aMessageAboveTheMaximumQosEndsTheConnection(ProtocolVersion version) {
        // [MQTT-3.2.2-11]
        RawClient client = little.client(version, "c");
        client.publish("a", "x", 1);
        client.send(PublishBytes.to("a").payload("x").qos(2, 7));
        client.expectDisconnect(ReasonCode.QOS_NOT_SUPPORTED);
    }

    @ParameterizedTest
    @EnumSource
    void aRetainedMessageEndsTheConnectionWhereNoneAreKept(ProtocolVersion version) {
        // [MQTT-3.2.2-14]
        RawClient client = little.client(version, "c");
        client.send(PublishBytes.to("a").payload("x").retained());
        client.expectDisconnect(ReasonCode.RETAIN_NOT_SUPPORTED);
    }

    @ParameterizedTest
    @EnumSource
    void aWillAboveTheMaximumQosRefusesTheConnection(ProtocolVersion version) {
        // [MQTT-3.2.2-12]
        RawClient client = little.open(version);
        client.send(ConnectBytes.of("c").will(PublishBytes.to("w").payload("x").qos(2)));
        expectRefusal(client, ReasonCode.QOS_NOT_SUPPORTED);
    }

    @ParameterizedTest
    @EnumSource
    void aRetainedWillRefusesTheConnectionWhereNoneAreKept(ProtocolVersion version) {
        // [MQTT-3.2.2-13]
        RawClient client = little.open(version);
        client.send(ConnectBytes.of("c").will(PublishBytes.to("w").payload("x").retained()));
        expectRefusal(client, ReasonCode.RETAIN_NOT_SUPPORTED);
    }

    private static void expectRefusal(RawClient client, ReasonCode reason) {
        ReceivedPacket connAck = client.expect(MqttMessageType.CONNACK);
        if (client.version().isV5()) {
            assertThat(connAck.reason()).isEqualTo(reason);
        } else {
            assertThat(connAck.reasonCode()).isNotZero();
        }
        client.expectClosed();
    }

    /** Sections 3.2.2.3.11 to 3.2.2.3.13: who was told and asks all the same breaks the protocol. */
    @ParameterizedTest
    @CsvSource({
        "a/+, 0, WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED",
        "#, 0, WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED",
        "$share/g/a, 0, SHARED_SUBSCRIPTIONS_NOT_SUPPORTED",
        "a, 1, SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED"
    })
    void aSubscriptionThatIsNotOfferedEndsTheConnection(String filter, int identifier, ReasonCode reason) {
        RawClient client = little.client(V5, "c");
        SubscribeBytes subscribe =
                SubscribeBytes.of(client.nextPacketId()).filter("fine", 0).filter(filter, 0);
        client.send(identifier == 0 ? subscribe : subscribe.identifier(identifier));
        client.expectDisconnect(reason);
    }

    @ParameterizedTest
    @EnumSource(names = {"MQTT_3_1", "MQTT_3_1_1"})
    void anOlderClientIsRefusedTheSubscriptionAlone(ProtocolVersion version) {
        // [MQTT311-3.8.3-2]
        RawClient client = little.client(version, "c");
        assertThat(client.subscribe(SubscribeBytes.of(client.nextPacketId())
                                .filter("a/+", 0)
                                .filter("$share/g/a", 0)
                                .filter("a", 1))
                        .reasonCodes())
                .containsExactly(0x80, 0x80, 1);
    }

    @Test
    void aPayloadThatIsNotTheTextItClaimsToBeIsRefused() {
        RawClient reader = little.client(V5, "r");
        reader.subscribe("a", 1);
        RawClient client = little.client(V5, "c");
        PublishBytes bad = PublishBytes.to("a").payload((byte) 'a', (byte) 0xC0).qos(1, 1);
        bad.properties().payloadFormat(1);
        client.send(bad);
        assertThat(client.expect(MqttMessageType.PUBACK).reason()).isEqualTo(ReasonCode.PAYLOAD_FORMAT_INVALID);
        PublishBytes good =
                PublishBytes.to("a").payload("gr\u00fcn \ud83d\ude00").qos(1, 2);
        good.properties().payloadFormat(1);
        client.send(good);
        assertThat(client.expect(MqttMessageType.PUBACK).reason()).isEqualTo(ReasonCode.SUCCESS);
        client.send(PublishBytes.to("a").payload((byte) 0xC0).qos(1, 3)); // claims nothing
        assertThat(client.expect(MqttMessageType.PUBACK).reason()).isEqualTo(ReasonCode.SUCCESS);
        reader.expectPublish("a", "gr\u00fcn \ud83d\ude00");
        assertThat(reader.expect(MqttMessageType.PUBLISH).payload()).containsExactly(0xC0);
    }

    @Test
    void aPayloadIsNotLookedAtUnlessSoConfigured() {
        RawClient client = everything.client(V5, "c");
        client.subscribe("a", 0);
        PublishBytes message = PublishBytes.to("a").payload((byte) 0xC0);
        message.properties().payloadFormat(1);
        client.send(message);
        assertThat(client.expect(MqttMessageType.PUBLISH).payload()).containsExactly(0xC0);
    }

    @Tag("slow")
    @Test
    void onShutdownClientsAreSentElsewhere() {
        RawClient client = little.client(V5, "c");
        little.broker().close(Duration.ofSeconds(5)).block();
        ReceivedPacket disconnect = Objects.requireNonNull(client.expectDisconnect(ReasonCode.USE_ANOTHER_SERVER));
        assertThat(disconnect.property(PropertyId.SERVER_REFERENCE)).isEqualTo("other.example:1883");
    }
}
