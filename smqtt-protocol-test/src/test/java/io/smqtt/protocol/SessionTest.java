// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.SessionConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sections 3.1.2 and 4.1 of both standards. Sessions live for 1,000 seconds at most, before MQTT 5.0 for 100. */
class SessionTest {

    private static final ProtocolVersion V5 = ProtocolVersion.MQTT_5;
    private static final int MESSAGE_EXPIRY = 0x02;
    private static final int SESSION_EXPIRY = 0x11;

    @RegisterExtension
    private final BrokerExtension broker = new BrokerExtension(config -> config.session(SessionConfig.builder()
            .maxExpiry(Duration.ofSeconds(1_000))
            .defaultExpiry(Duration.ofSeconds(100))
            .build()));

    /** Connects with a session that lives for 100 seconds in all versions. */
    private ReceivedPacket connect(RawClient client) {
        return client.connect(ConnectBytes.of("c").persistent(100));
    }

    private RawClient resumed(ProtocolVersion version) {
        RawClient client = broker.open(version);
        assertThat(connect(client).sessionPresent()).isEqualTo(version != ProtocolVersion.MQTT_3_1);
        return client;
    }

    private void advance(double seconds) {
        broker.ticker().advance(Duration.ofMillis((long) (seconds * 1_000)));
    }

    @ParameterizedTest
    @EnumSource
    void aSessionKeepsSubscriptionsAndCollectsMessages(ProtocolVersion version) {
        // [MQTT-3.1.2-5] [MQTT-3.1.2-23] [MQTT-3.2.2-3] [MQTT-4.1.0-1] [MQTT311-3.1.2-4] [MQTT311-3.1.2-5]
        // [MQTT311-3.2.2-2] [MQTT311-4.1.0-1]
        RawClient first = broker.open(version);
        connect(first);
        first.subscribe("a", 2);
        first.disconnect();
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a", "1", 1);
        publisher.publish("a", "2", 2);
        publisher.publish("a", "0", 0);
        RawClient second = resumed(version);
        assertThat(second.expectPublish("a", "1").dup()).isFalse();
        assertThat(second.expectPublish("a", "2").dup()).isFalse();
        second.expectNothing();
        publisher.publish("a", "3", 1);
        second.expectPublish("a", "3");
    }

    @ParameterizedTest
    @EnumSource
    void aConnectionThatIsLostEndsLikeOneThatIsClosed(ProtocolVersion version) {
        // [MQTT-4.1.0-1] [MQTT311-4.1.0-1] [MQTT311-4.1.0-2]
        RawClient first = broker.open(version);
        connect(first);
        first.subscribe("a", 1);
        first.abort();
        broker.awaitOffline("c");
        broker.client(version, "p").publish("a", "x", 1);
        resumed(version).expectPublish("a", "x");
    }

    @ParameterizedTest
    @EnumSource
    void withoutAStoredSessionANewOneBegins(ProtocolVersion version) {
        // [MQTT-3.1.2-6] [MQTT-3.2.2-3] [MQTT311-3.1.2-4] [MQTT311-3.2.2-3]
        assertThat(connect(broker.open(version)).sessionPresent()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void cleanStartDropsTheStoredSession(ProtocolVersion version) {
        // [MQTT-3.1.2-4] [MQTT-3.2.2-2] [MQTT311-3.1.2-6] [MQTT311-3.2.2-1]
        RawClient first = broker.open(version);
        connect(first);
        first.subscribe("a", 1);
        first.disconnect();
        broker.client(version, "p").publish("a", "waiting", 1);
        RawClient second = broker.open(version);
        assertThat(second.connect("c").sessionPresent()).isFalse();
        broker.client(version, "p").publish("a", "x", 1);
        second.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aCleanSessionEndsWithItsConnection(ProtocolVersion version) {
        // [MQTT311-3.1.2-6] [MQTT311-3.2.2-3] [MQTT-4.1.0-2]
        broker.client(version, "c").disconnect();
        assertThat(connect(broker.open(version)).sessionPresent()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void aCleanSessionIsNotTakenOver(ProtocolVersion version) {
        // [MQTT311-3.1.2-6] [MQTT311-3.2.2-3] [MQTT-4.1.0-2]: while its connection is still open
        RawClient first = broker.client(version, "c");
        first.subscribe("a", 1);
        RawClient second = broker.open(version);
        assertThat(connect(second).sessionPresent()).isFalse();
        broker.client(version, "p").publish("a", "x", 1);
        second.expectNothing();
    }

    @ParameterizedTest
    @EnumSource
    void aSessionEndsWhenItHasExpired(ProtocolVersion version) {
        // [MQTT-3.1.2-23] [MQTT-4.1.0-2]
        RawClient first = broker.open(version);
        connect(first);
        advance(500); // as long as the connection is open the time does not count [MQTT-4.1.0-1] [MQTT311-4.1.0-2]
        first.disconnect();
        advance(99.5);
        resumed(version).disconnect();
        advance(100.5);
        assertThat(broker.broker().clients().collectList().block()).isEmpty();
        assertThat(connect(broker.open(version)).sessionPresent()).isFalse();
    }

    @Test
    void aLongerExpiryThanPermittedIsCutAndTold() {
        RawClient client = broker.open(V5);
        assertThat(client.connect(ConnectBytes.of("c").persistent(0xFFFF_FFFFL)).number(SESSION_EXPIRY))
                .isEqualTo(1_000);
        assertThat(broker.open(V5).connect(ConnectBytes.of("d").persistent(999)).propertyIds())
                .doesNotContain(SESSION_EXPIRY);
    }

    @Test
    void theLastConnectDecidesOfTheExpiry() {
        RawClient first = broker.open(V5);
        first.connect(ConnectBytes.of("c").persistent(900));
        first.disconnect();
        RawClient second = broker.open(V5);
        second.connect(ConnectBytes.of("c").persistent(10));
        second.disconnect();
        advance(10.5);
        assertThat(connect(broker.open(V5)).sessionPresent()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void whatIsNotAcknowledgedIsSentAgainInOrderOnResumptionOnly(ProtocolVersion version) {
        // [MQTT-4.4.0-1] [MQTT311-4.4.0-1]
        RawClient first = broker.open(version);
        connect(first);
        first.subscribe("a", 2);
        RawClient publisher = broker.client(version, "p");
        publisher.publish("a", "1", 1);
        publisher.publish("a", "2", 2);
        publisher.publish("a", "3", 2);
        publisher.publish("a", "4", 1);
        int one = first.expectPublish("a", "1").packetId();
        int two = first.expectPublish("a", "2").packetId();
        int three = first.expectPublish("a", "3").packetId();
        int four = first.expectPublish("a", "4").packetId();
        first.acknowledge(0x50, two).expect(MqttMessageType.PUBREL);
        first.expectNothing();
        first.abort();
        broker.awaitOffline("c");
        publisher.publish("a", "5", 1);
        RawClient second = resumed(version);
        assertThat(second.expectPublish("a", "1").packetId()).isEqualTo(one);
        assertThat(second.expect(MqttMessageType.PUBREL).packetId()).isEqualTo(two);
        assertThat(second.expectPublish("a", "3").packetId()).isEqualTo(three);
        assertThat(second.expectPublish("a", "4").packetId()).isEqualTo(four);
        ReceivedPacket five = second.expectPublish("a", "5");
        assertThat(five.dup()).isFalse();
        assertThat(five.packetId()).isNotIn(one, two, three, four);
        second.expectNothing();
    }

    @Test
    void queuedMessagesCountTheirExpiryDownAndGo() {
        // [MQTT-3.3.2-5] [MQTT-3.3.2-6]
        RawClient first = broker.open(V5);
        connect(first);
        first.subscribe("a", 1);
        first.disconnect();
        RawClient publisher = broker.client(V5, "p");
        for (int seconds : new int[] {10, 60}) {
            PublishBytes message = PublishBytes.to("a").qos(1).payload("" + seconds);
            message.properties().messageExpiry(seconds);
            publisher.publish(message);
        }
        publisher.publish("a", "forever", 1);
        advance(20);
        RawClient second = resumed(V5);
        assertThat(second.expectPublish("a", "60").number(MESSAGE_EXPIRY)).isEqualTo(40);
        assertThat(second.expectPublish("a", "forever").propertyIds()).doesNotContain(MESSAGE_EXPIRY);
        second.expectNothing();
    }

    @Test
    void expiredMessagesAreRemovedThoughNobodyComes() {
        RawClient first = broker.open(V5);
        connect(first);
        first.subscribe("a", 1);
        first.disconnect();
        awaitQueued(0); // what is sent to a connection that ends would be in flight
        RawClient publisher = broker.client(V5, "p");
        for (int seconds : new int[] {10, 90, 10}) {
            PublishBytes message = PublishBytes.to("a").qos(1).payload("" + seconds);
            message.properties().messageExpiry(seconds);
            publisher.publish(message);
        }
        publisher.publish("a", "forever", 1);
        awaitQueued(4); // the acknowledgements do not wait for the session's loop
        advance(12);
        awaitQueued(2);
        advance(80);
        awaitQueued(1);
        RawClient second = resumed(V5);
        second.expectPublish("a", "forever");
        second.expectNothing();
    }

    private void awaitQueued(int count) {
        await().until(() -> broker.broker()
                .clients()
                .any(client -> !client.connected() && client.queued() == count)
                .blockOptional()
                .orElse(false));
    }

    @Test
    void aSessionGoesOnInAnotherProtocolVersion() {
        RawClient first = broker.open(ProtocolVersion.MQTT_3_1_1);
        connect(first);
        first.subscribe("a", 1);
        first.disconnect();
        broker.client(V5, "p").publish("a", "x", 1);
        RawClient second = resumed(V5);
        second.expectPublish("a", "x");
    }
}
