// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREC;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.MqttConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.DropReason;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PropertyBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of properties on their way through the broker. */
class PropertiesTest {

    private static final int PAYLOAD_FORMAT = 0x01;
    private static final int EXPIRY = 0x02;
    private static final int CONTENT_TYPE = 0x03;
    private static final int RESPONSE_TOPIC = 0x08;
    private static final int CORRELATION_DATA = 0x09;
    private static final int RESPONSE_INFORMATION = 0x1A;
    private static final int REASON_STRING = 0x1F;
    private static final Counters COUNTERS = new Counters();
    private static final Authorizer DENIES = request -> (request.action() != AccessAction.RECEIVE
                            && request.topic().startsWith("denied")
                    ? AccessDecision.DENY
                    : AccessDecision.ALLOW)
            .now();

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(
            config -> config.mqtt(
                    MqttConfig.builder().responseInformation("answers/").build()),
            parts -> parts.observer(COUNTERS).authorizer(DENIES));

    private static RawClient subscriber(String topic) {
        RawClient client = BROKER.client(MQTT_5, "reader-of-" + topic.replace('/', '-'));
        client.subscribe(topic, 1);
        return client;
    }

    /** Publishes a message with properties and shows what a subscriber gets. */
    private static ReceivedPacket forwarded(String topic, UnaryOperator<PropertyBytes> properties) {
        RawClient reader = subscriber(topic);
        PublishBytes message = PublishBytes.to(topic).payload("x").qos(1);
        properties.apply(message.properties());
        BROKER.client(MQTT_5, "writer-of-" + topic.replace('/', '-')).publish(message);
        return reader.expect(PUBLISH);
    }

    @Test
    void aPacketWithoutPropertiesHasAPropertyLengthOfZero() { // [MQTT-2.2.2-1]
        RawClient client = BROKER.client(MQTT_5, "none");
        byte[] subAck = client.subscribe("none/t", 0).bytes();
        client.send(PublishBytes.to("none/t").payload("x"));
        byte[] publish = client.expect(PUBLISH).bytes();
        byte[] unsubAck = client.unsubscribe("none/t").bytes();

        assertThat(subAck).containsExactly(0x90, 4, 0, 1, 0, 0);
        assertThat(publish).containsExactly(0x30, 10, 0, 6, 'n', 'o', 'n', 'e', '/', 't', 0, 'x');
        assertThat(unsubAck).containsExactly(0xB0, 4, 0, 2, 0, 0);
    }

    @Test
    void responseInformationIsSentOnRequestOnly() { // [MQTT-3.1.2-28]
        ConnectBytes wants = ConnectBytes.of("wants");
        wants.properties().requestResponseInformation(1);
        ConnectBytes declines = ConnectBytes.of("declines");
        declines.properties().requestResponseInformation(0);

        assertThat(BROKER.open(MQTT_5).connect(wants).property(RESPONSE_INFORMATION))
                .isEqualTo("answers/");
        assertThat(BROKER.open(MQTT_5).connect(declines).property(RESPONSE_INFORMATION))
                .isNull();
        assertThat(BROKER.open(MQTT_5).connect("silent").property(RESPONSE_INFORMATION))
                .isNull();
    }

    @Test
    void problemInformationIsLeftOutOnRequest() { // [MQTT-3.1.2-29]
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("no-problems");
        connect.properties().requestProblemInformation(0);
        client.connect(connect);
        RawClient other = BROKER.client(MQTT_5, "problems");

        ReceivedPacket told = other.send(PublishBytes.to("denied/t").qos(1, 5)).expect(PUBACK);
        assertThat(told.property(REASON_STRING)).isNotNull();
        ReceivedPacket pubAck =
                client.send(PublishBytes.to("denied/t").qos(1, 5)).expect(PUBACK);
        ReceivedPacket pubRec =
                client.send(PublishBytes.to("denied/t").qos(2, 6)).expect(PUBREC);
        ReceivedPacket subAck = client.subscribe(SubscribeBytes.of(7).filter("denied/+", 0));
        for (ReceivedPacket packet : new ReceivedPacket[] {pubAck, pubRec, subAck}) {
            assertThat(packet.propertyIds()).as(packet.toString()).isEmpty();
        }
        assertThat(pubAck.reason()).isEqualTo(ReasonCode.NOT_AUTHORIZED);
        assertThat(subAck.reasonCodes()).containsExactly(ReasonCode.NOT_AUTHORIZED.value());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void thePayloadFormatIsForwarded(int format) { // [MQTT-3.3.2-4]
        assertThat(forwarded("format/" + format, properties -> properties.payloadFormat(format))
                        .number(PAYLOAD_FORMAT))
                .isEqualTo(format);
    }

    @Test
    void responseTopicCorrelationDataAndContentTypeAreForwarded() {
        // [MQTT-3.3.2-15] [MQTT-3.3.2-16] [MQTT-3.3.2-20]
        ReceivedPacket packet = forwarded(
                "request/t",
                properties -> properties
                        .responseTopic("answers/é/1")
                        .correlationData((byte) 0, (byte) 0xFF, (byte) 7)
                        .contentType("text/plain; ü"));

        assertThat(packet.property(RESPONSE_TOPIC)).isEqualTo("answers/é/1");
        assertThat((byte[]) packet.property(CORRELATION_DATA)).containsExactly(0, 0xFF, 7);
        assertThat(packet.property(CONTENT_TYPE)).isEqualTo("text/plain; ü");
    }

    @Test
    void userPropertiesAreForwardedInTheirOrder() { // [MQTT-3.3.2-17] [MQTT-3.3.2-18]
        ReceivedPacket packet = forwarded(
                "user/t",
                properties -> properties
                        .user("b", "2")
                        .user("a", "1")
                        .contentType("between")
                        .user("b", "2")
                        .user("", ""));

        assertThat(packet.userProperties()).containsExactly("b=2", "a=1", "b=2", "=");
    }

    @Test
    void aMessageThatExpiresInTheQueueIsNotDelivered() { // [MQTT-3.3.2-5]
        RawClient reader = BROKER.open(MQTT_5);
        reader.connect(ConnectBytes.of("late").persistent(1_000));
        reader.subscribe("expiry/late", 1);
        reader.abort();
        BROKER.awaitOffline("late"); // else the messages would be in flight
        RawClient writer = BROKER.client(MQTT_5, "late-writer");
        for (long seconds : new long[] {10, 100, 4_294_967_295L}) {
            PublishBytes message =
                    PublishBytes.to("expiry/late").payload("for " + seconds).qos(1);
            message.properties().messageExpiry(seconds);
            writer.publish(message);
        }
        long before = COUNTERS.dropped(DropReason.EXPIRED);
        BROKER.ticker().advance(Duration.ofSeconds(11));

        RawClient back = BROKER.open(MQTT_5);
        back.connect(ConnectBytes.of("late").persistent(1_000));
        back.expectPublish("expiry/late", "for 100");
        back.expectPublish("expiry/late", "for 4294967295");
        back.expectNothing();
        assertThat(COUNTERS.dropped(DropReason.EXPIRED) - before).isEqualTo(1);
    }

    @Test
    void theForwardedExpiryIsReducedByTheTimeInTheBroker() { // [MQTT-3.3.2-6]
        RawClient reader = BROKER.open(MQTT_5);
        reader.connect(ConnectBytes.of("counted").persistent(1_000));
        reader.subscribe("expiry/counted", 1);
        reader.abort();
        BROKER.awaitOffline("counted"); // else the messages would be in flight
        PublishBytes message = PublishBytes.to("expiry/counted").payload("x").qos(1);
        message.properties().messageExpiry(100);
        BROKER.client(MQTT_5, "counted-writer").publish(message);
        BROKER.ticker().advance(Duration.ofSeconds(40));

        RawClient back = BROKER.open(MQTT_5);
        back.connect(ConnectBytes.of("counted").persistent(1_000));
        assertThat(back.expect(PUBLISH).number(EXPIRY)).isBetween(59L, 60L);
    }

    @Test
    void anExpiryThatHasNotBegunToRunIsForwardedAsItCame() { // [MQTT-3.3.2-6]
        assertThat(forwarded("expiry/now", properties -> properties.messageExpiry(4_294_967_295L))
                        .number(EXPIRY))
                .isEqualTo(4_294_967_295L);
        assertThat(forwarded("expiry/none", properties -> properties).propertyIds())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a/+", "#", "a/#"})
    void aResponseTopicHasNoWildcard(String topic) { // [MQTT-3.3.2-14]
        PublishBytes message = PublishBytes.to("t");
        message.properties().responseTopic(topic);
        RawClient client = BROKER.client(MQTT_5, "wild-response");

        assertThat(end(client.send(message))).isEqualTo(ReasonCode.PROTOCOL_ERROR);
    }

    @ParameterizedTest
    @ValueSource(ints = {RESPONSE_TOPIC, CONTENT_TYPE})
    void responseTopicAndContentTypeAreValidStrings(int property) { // [MQTT-3.3.2-13] [MQTT-3.3.2-19]
        PublishBytes message = PublishBytes.to("t");
        message.properties().binary(property, (byte) 0xED, (byte) 0xA0, (byte) 0x80);
        RawClient client = BROKER.client(MQTT_5, "bad-string");

        assertThat(end(client.send(message))).isEqualTo(ReasonCode.MALFORMED_PACKET);
    }

    @Test
    void aClientSendsNoSubscriptionIdentifierInAPublish() { // [MQTT-3.3.4-6]
        PublishBytes message = PublishBytes.to("t");
        message.properties().subscriptionIdentifier(5);
        RawClient client = BROKER.client(MQTT_5, "identifier");

        assertThat(end(client.send(message))).isEqualTo(ReasonCode.PROTOCOL_ERROR);
    }

    private static ReasonCode end(RawClient client) {
        ReceivedPacket goodbye = client.expect(io.netty.handler.codec.mqtt.MqttMessageType.DISCONNECT);
        client.expectClosed();
        return goodbye.reason();
    }
}
