// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.DelayedConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages to $delayed/SECONDS/TOPIC. Three may wait, two of a client, and nobody may publish to "forbidden". */
class DelayedPublishTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int MESSAGE_EXPIRY = 0x02;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(
            config -> config.delayed(DelayedConfig.defaults().toBuilder()
                    .maxMessages(3)
                    .maxMessagesPerClient(2)
                    .maxBytes(4_096)
                    .build()),
            builder -> builder.authorizer(request -> (request.action() == AccessAction.PUBLISH
                                    && request.topic().equals("forbidden")
                            ? AccessDecision.DENY
                            : AccessDecision.ALLOW)
                    .now()));

    private static int reasonOf(RawClient publisher, String topic, int packetId) {
        publisher.send(PublishBytes.to(topic).qos(1, packetId).payload("x"));
        return publisher.expect(MqttMessageType.PUBACK).reasonCode();
    }

    @ParameterizedTest
    @EnumSource
    void messagesArriveInTheOrderOfTheirTimeAndNotBefore(ProtocolVersion version) {
        RawClient client = broker.client(version, "c");
        client.subscribe("#", 2);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("$delayed/5/a", "second", 2);
        publisher.publish("$delay/3/a", "first", 1);
        pass(2_900);
        client.expectNothing();
        pass(3_000);
        client.pubAck(client.expectPublish("a", "first"));
        assertThat(client.expectPublish("a", "second").qos()).isEqualTo(2);
    }

    @Test
    void theTopicItselfIsAuthorized() {
        RawClient publisher = broker.client(V5, "p");
        assertThat(reasonOf(publisher, "$delayed/1/forbidden", 1)).isEqualTo(0x87);
        assertThat(reasonOf(publisher, "$delayed/1/allowed", 2)).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "$delayed/3600/$SYS/topic",
                "$delayed/3600/$SYS/brokers/smqtt/clients/c/connected",
                "$delayed/1/$events/client/connected",
                "$delayed/1/$smqtt/object/user/admin"
            })
    void aTopicThatIsClosedToClientsIsClosedLaterToo(String topic) {
        RawClient publisher = broker.client(V5, "p");
        assertThat(reasonOf(publisher, topic, 1)).isEqualTo(0x87);
        assertThat(reasonOf(publisher, topic.substring(topic.indexOf('/', 9) + 1), 2))
                .isEqualTo(0x87);
    }

    @Test
    void aDelayWithinADelayIsATopicLikeAnyOther() {
        RawClient client = broker.client(V5, "c");
        client.subscribe("$delayed/1/a", 0);
        client.subscribe("a", 0);
        assertThat(reasonOf(broker.client(V5, "p"), "$delayed/1/$delayed/1/a", 1))
                .isZero();
        pass(1_200);
        client.expectPublish("$delayed/1/a", "x");
        pass(5_000);
        client.expectNothing();
    }

    @Test
    void aDeepTopicIsDelayedToo() {
        String deep = "/".repeat(100) + "a";
        RawClient client = broker.client(V5, "c");
        client.subscribe(deep, 0);
        assertThat(reasonOf(broker.client(V5, "p"), "$delayed/1/" + deep, 1)).isZero();
        pass(1_200);
        client.expectPublish(deep, "x");
    }

    @Test
    void aTopicWithoutADelayIsRefused() {
        RawClient publisher = broker.client(V5, "p");
        assertThat(reasonOf(publisher, "$delayed/soon/a", 1)).isEqualTo(0x90);
        assertThat(reasonOf(publisher, "$delayed/4294968/a", 2)).isEqualTo(0x90);
    }

    @ParameterizedTest
    @EnumSource
    void aboveTheLimitAMessageIsRefusedUntilAnotherHasLeft(ProtocolVersion version) {
        RawClient client = broker.client(version, "c");
        client.subscribe("a", 0);
        RawClient publisher = broker.client(version, "p");
        assertThat(reasonOf(publisher, "$delayed/1/a", 1)).isZero();
        assertThat(reasonOf(publisher, "$delayed/90/a", 2)).isZero();
        assertThat(reasonOf(publisher, "$delayed/1/a", 3)).isEqualTo(version.isV5() ? 0x97 : 0);
        pass(1_200);
        client.expectPublish("a", "x");
        client.expectNothing();
        assertThat(reasonOf(publisher, "$delayed/1/a", 4)).isZero();
    }

    @Test
    void aClientMayHaveSomeMessagesOfAllThatMayWait() {
        RawClient first = broker.client(V5, "first");
        assertThat(reasonOf(first, "$delayed/10/a", 1)).isZero();
        assertThat(reasonOf(first, "$delayed/20/a", 2)).isZero();
        assertThat(reasonOf(first, "$delayed/10/a", 3)).isEqualTo(0x97);
        RawClient second = broker.client(V5, "second");
        assertThat(reasonOf(second, "$delayed/30/a", 1)).isZero();
        assertThat(reasonOf(broker.client(V5, "third"), "$delayed/30/a", 1)).isEqualTo(0x97);
        pass(10_200);
        await().until(() -> reasonOf(first, "$delayed/10/a", 4) == 0);
    }

    @Test
    void waitingMessagesHaveALimitOfBytesToo() {
        RawClient publisher = broker.client(V5, "p");
        publisher.send(PublishBytes.to("$delayed/5/a").qos(1, 1).payload("x".repeat(2_500)));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isZero();
        publisher.send(PublishBytes.to("$delayed/5/a").qos(1, 2).payload("x".repeat(2_500)));
        assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isEqualTo(0x97);
        assertThat(reasonOf(publisher, "$delayed/5/a", 3)).isZero();
    }

    @Test
    void theExpiryIntervalBeginsWhenTheMessageIsPublished() {
        RawClient client = broker.client(V5, "c");
        client.subscribe("a", 0);
        PublishBytes message = PublishBytes.to("$delayed/10/a").payload("x").qos(1, 1);
        message.properties().messageExpiry(60);
        broker.client(V5, "p").send(message).expect(MqttMessageType.PUBACK);
        pass(10_200);
        assertThat(client.expectPublish("a", "x").number(MESSAGE_EXPIRY)).isEqualTo(60);
    }

    /** Lets time pass, in small steps first: a deadline that is set after a step counts from there. */
    private void pass(int millis) {
        RawClient other = broker.client(V5, "other");
        for (int step : new int[] {10, 10, millis - 20}) {
            broker.ticker().advance(Duration.ofMillis(step));
            other.ping();
        }
    }
}
