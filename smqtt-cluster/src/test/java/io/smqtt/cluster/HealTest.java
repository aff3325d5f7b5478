// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static io.smqtt.cluster.BrokerCluster.receive;
import static io.smqtt.cluster.BrokerCluster.receivesNothing;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client on both sides of a network that was split: what its sessions become when the sides meet. */
class HealTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension C = CLUSTER.broker(true);

    @RegisterExtension
    static final BrokerExtension D = CLUSTER.broker(true);

    private static RawClient persistent(int broker, String clientId, boolean clean) {
        RawClient client = CLUSTER.get(broker).open(ProtocolVersion.MQTT_5);
        ConnectBytes connect = ConnectBytes.of(clientId).persistent(1_000);
        client.connect(clean ? connect.cleanStart(true) : connect);
        return client;
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"0, 1", "0, 2", "2, 0", "2, 3"}) // from memory or a store to memory or a store
    void theOlderSessionLeavesItsMessagesAndSubscriptionsToTheLater(int older, int later) {
        String clientId = "both-" + older + later;
        String topic = "both/" + older + later;
        RawClient first = persistent(older, clientId, false);
        first.subscribe(topic + "/old", 2);
        first.disconnect();
        CLUSTER.get(older).awaitOffline(clientId);
        CLUSTER.cutOff(older);
        RawClient publisher = CLUSTER.get(older).client(ProtocolVersion.MQTT_5, "publisher-" + topic);
        for (int i = 0; i < 300; i++) {
            publisher.publish(topic + "/old", "m" + i, 1 + i % 2);
        }
        RawClient second = persistent(later, clientId, false);
        second.subscribe(topic + "/new", 1);

        CLUSTER.heal(older);

        for (int i = 0; i < 300; i++) {
            receive(second, "m" + i);
        }
        await().atMost(PATIENCE).until(() -> CLUSTER.owners(clientId) == 1);
        publisher.publish(topic + "/old", "by the old subscription", 1);
        receive(second, "by the old subscription");
        RawClient other = CLUSTER.get(later).client(ProtocolVersion.MQTT_5, "other-" + topic);
        other.publish(topic + "/new", "by the new one", 1);
        receive(second, "by the new one");
        receivesNothing(second);
    }

    @Test
    void whatCameBothWaysIsDeliveredOnce() {
        RawClient first = persistent(0, "twice", false);
        first.subscribe("twice", 2);
        first.disconnect();
        A.awaitOffline("twice");
        CLUSTER.cutOff(0);
        RawClient second = persistent(1, "twice", false);
        second.subscribe("twice", 2);
        RawClient publisher = B.client(ProtocolVersion.MQTT_5, "publisher-twice");
        for (int i = 0; i < 300; i++) { // here at once, and parked for the other side
            publisher.publish("twice", "m" + i, 2);
            receive(second, "m" + i);
        }

        CLUSTER.heal(0);

        await().atMost(PATIENCE).until(() -> CLUSTER.owners("twice") == 1);
        publisher.publish("twice", "last", 2);
        receive(second, "last");
        receivesNothing(second);
    }

    /** A node that both sides reach sends its messages to both: the older session reads them from its store when it leaves. */
    @ParameterizedTest
    @CsvSource({"0, 1, 2", "0, 2, 1", "2, 0, 1", "2, 3, 1"}) // from memory or a store to memory or a store
    void whatBothSessionsHaveTakenIsDeliveredOnce(int older, int later, int between) {
        String clientId = "two-" + older + later;
        String topic = "two/" + older + later;
        RawClient first = persistent(older, clientId, false);
        first.subscribe(topic, 2);
        first.disconnect();
        CLUSTER.get(older).awaitOffline(clientId);
        CLUSTER.cutOff(older);
        RawClient second = persistent(later, clientId, false);
        second.subscribe(topic, 2);
        CLUSTER.heal(older, between);
        RawClient publisher = CLUSTER.get(between).client(ProtocolVersion.MQTT_5, "publisher-" + topic);
        for (int i = 0; i < 300; i++) {
            publisher.publish(topic, "m" + i, 1 + i % 2);
        }
        for (int i = 0; i < 200; i++) {
            receive(second, "m" + i);
        }

        CLUSTER.heal(older);

        await().atMost(PATIENCE).until(() -> CLUSTER.owners(clientId) == 1);
        publisher.publish(topic, "last", 2);
        for (int i = 200; i < 300; i++) {
            receive(second, "m" + i);
        }
        receive(second, "last");
        receivesNothing(second);
    }

    @Test
    void whatWasTakenHereAndWentAwayWithItsSessionComesBack() {
        RawClient first = persistent(0, "back", false);
        first.subscribe("back", 1);
        first.disconnect();
        A.awaitOffline("back");
        RawClient publisher = C.client(ProtocolVersion.MQTT_5, "publisher-back");
        for (int i = 0; i < 50; i++) {
            publisher.publish("back", "m" + i, 1);
        }
        persistent(1, "back", false).close(); // the session goes there, and keeps what is not acknowledged
        B.awaitOffline("back");
        await().atMost(PATIENCE).until(() -> CLUSTER.owners("back") == 1);
        CLUSTER.cutOff(1);
        RawClient second = persistent(0, "back", false); // a new one, where the messages have been before

        CLUSTER.heal(1);

        for (int i = 0; i < 50; i++) {
            receive(second, "m" + i);
        }
        await().atMost(PATIENCE).until(() -> CLUSTER.owners("back") == 1);
        receivesNothing(second);
    }

    @Test
    void aCleanStartEndsTheSessionOfTheOtherSideToo() {
        RawClient first = persistent(0, "clean", false);
        first.subscribe("clean/old", 1);
        CLUSTER.cutOff(0);
        RawClient publisher = A.client(ProtocolVersion.MQTT_5, "publisher-clean");
        RawClient second = persistent(1, "clean", true);

        CLUSTER.heal(0);

        first.expectDisconnect(ReasonCode.SESSION_TAKEN_OVER);
        await().atMost(PATIENCE).until(() -> CLUSTER.owners("clean") == 1);
        await().atMost(PATIENCE).until(() -> {
            publisher.send(PublishBytes.to("clean/old").payload("x").qos(1, publisher.nextPacketId()));
            return publisher.expect(MqttMessageType.PUBACK).reasonCode() == 0x10; // nobody wants it
        });
        receivesNothing(second);
    }
}
