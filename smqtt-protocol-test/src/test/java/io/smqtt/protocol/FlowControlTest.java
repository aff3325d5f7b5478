// SPDX-License-Identifier: Apache-2.0
package io.smqtt.protocol;

import static io.netty.handler.codec.mqtt.MqttMessageType.PINGRESP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBACK;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBCOMP;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBLISH;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREC;
import static io.netty.handler.codec.mqtt.MqttMessageType.PUBREL;
import static io.netty.handler.codec.mqtt.MqttMessageType.SUBACK;
import static io.smqtt.message.ProtocolVersion.MQTT_3_1_1;
import static io.smqtt.message.ProtocolVersion.MQTT_5;
import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.config.LimitsConfig;
import io.smqtt.message.ReasonCode;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.packet.SubscribeBytes;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Receive Maximum and send quota, both ways (MQTT 5.0, section 4.9). */
class FlowControlTest {

    private static final int RECEIVE_MAXIMUM = 5;

    @RegisterExtension
    static final BrokerExtension BROKER = new BrokerExtension(config -> config.limits(LimitsConfig.builder()
            .receiveMaximum(RECEIVE_MAXIMUM)
            .maxAwaitingRelease(RECEIVE_MAXIMUM)
            .build()));

    private static RawClient subscriber(String id, int receiveMaximum, int qos) {
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of(id).persistent(100);
        connect.properties().receiveMaximum(receiveMaximum);
        client.connect(connect);
        client.subscribe("flow/" + id, qos);
        return client;
    }

    private static void publish(String topic, int qos, int from, int to) {
        RawClient publisher = BROKER.client(MQTT_5, "publisher-" + topic.replace('/', '-'));
        for (int i = from; i <= to; i++) {
            publisher.publish(topic, String.valueOf(i), qos);
        }
        publisher.disconnect();
    }

    private static void publishNow(RawClient client, int qos, int packetId) {
        client.send(PublishBytes.to("flow/nobody").qos(qos, packetId));
    }

    @Test
    void noMoreQos1MessagesAreOutThanTheClientAllows() { // [MQTT-3.3.4-9] [MQTT-4.9.0-1] [MQTT-4.9.0-2]
        RawClient client = subscriber("window-1", 2, 1);
        publish("flow/window-1", 1, 1, 4);

        int first = client.expectPublish("flow/window-1", "1").packetId();
        client.expectPublish("flow/window-1", "2");
        client.expectNothing();
        client.acknowledge(0x40, first);
        client.expectPublish("flow/window-1", "3");
        client.expectNothing();
    }

    @Test
    void aQos2MessageCountsUntilItsPubComp() { // [MQTT-3.3.4-9] [MQTT-4.9.0-2]
        RawClient client = subscriber("window-2", 1, 2);
        publish("flow/window-2", 2, 1, 2);

        int id = client.expectPublish("flow/window-2", "1").packetId();
        client.acknowledge(0x50, id).expect(PUBREL);
        client.expectNothing();
        client.acknowledge(0x70, id);
        client.expectPublish("flow/window-2", "2");
    }

    @Test
    void aPubRecWithAnErrorGivesTheQuotaBack() { // [MQTT-4.9.0-1]
        RawClient client = subscriber("window-3", 1, 2);
        publish("flow/window-3", 2, 1, 2);

        int id = client.expectPublish("flow/window-3", "1").packetId();
        client.send((byte) 0x50, (byte) 3, (byte) (id >> 8), (byte) id, (byte) ReasonCode.UNSPECIFIED_ERROR.value());
        client.expectPublish("flow/window-3", "2");
    }

    @Test
    void aUsedUpQuotaDelaysNothingButPublishes() {
        // [MQTT-3.3.4-10] [MQTT-4.9.0-3]
        RawClient client = subscriber("busy", 1, 1);
        publish("flow/busy", 1, 1, 2);
        client.expectPublish("flow/busy", "1");

        client.send((byte) 0xC0, (byte) 0).expect(PINGRESP);
        client.subscribe("other/busy", 0);
        client.send(PublishBytes.to("flow/nobody").qos(1, 100)).expect(PUBACK);
        client.send(PublishBytes.to("flow/nobody").qos(2, 101)).expect(PUBREC);
        client.acknowledge(0x62, 101).expect(PUBCOMP);
        publish("other/busy", 0, 7, 7);
        client.expectPublish("other/busy", "7"); // QoS 0 knows no quota
        client.unsubscribe("other/busy");
    }

    @Test
    void whatIsSentAgainAfterResumptionKeepsToTheQuota() { // [MQTT-3.3.4-9] [MQTT-4.9.0-1]
        RawClient client = subscriber("resumed", 4, 1);
        publish("flow/resumed", 1, 1, 6);
        for (int i = 1; i <= 4; i++) {
            client.expectPublish("flow/resumed", String.valueOf(i));
        }
        client.abort();

        RawClient again = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("resumed").persistent(100);
        connect.properties().receiveMaximum(2);
        again.connect(connect);
        List<String> order = new ArrayList<>();
        for (int i = 1; i <= 5; i += 2) {
            ReceivedPacket first = again.expect(PUBLISH);
            ReceivedPacket second = again.expect(PUBLISH);
            assertThat(second.dup()).isEqualTo(i < 5); // four were sent before
            again.expectNothing();
            order.add(first.text());
            order.add(second.text());
            again.acknowledge(0x40, first.packetId()).acknowledge(0x40, second.packetId());
        }

        assertThat(order).containsExactly("1", "2", "3", "4", "5", "6");
    }

    @Test
    void aPubRelSentAgainCountsForTheQuota() { // [MQTT-3.3.4-9]
        RawClient client = subscriber("released", 2, 2);
        publish("flow/released", 2, 1, 3);
        int first = client.expectPublish("flow/released", "1").packetId();
        client.expectPublish("flow/released", "2");
        client.acknowledge(0x50, first).expect(PUBREL);
        client.abort();

        RawClient again = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("released").persistent(100);
        connect.properties().receiveMaximum(2);
        again.connect(connect);
        assertThat(again.expect(PUBREL).packetId()).isEqualTo(first);
        again.expectPublish("flow/released", "2");
        again.expectNothing();
        again.acknowledge(0x70, first);
        again.expectPublish("flow/released", "3");
    }

    @Test
    void aClientOf311HasTheWindowOfTheBroker() {
        RawClient client = BROKER.client(MQTT_3_1_1, "older");
        client.subscribe("flow/older", 1);
        publish("flow/older", 1, 1, 20);

        for (int i = 1; i <= 20; i++) {
            client.expectPublish("flow/older", String.valueOf(i));
        }
    }

    @Test
    void theConnAckTellsTheBrokersReceiveMaximum() {
        RawClient client = BROKER.open(MQTT_5);

        assertThat(client.connect("told").number(0x21)).isEqualTo(RECEIVE_MAXIMUM);
    }

    @Test
    void moreUnreleasedMessagesThanTheReceiveMaximumEndTheConnection() { // [MQTT-3.3.4-7]
        RawClient client = BROKER.client(MQTT_5, "over");
        for (int id = 1; id <= RECEIVE_MAXIMUM; id++) {
            publishNow(client, 2, id);
            client.expect(PUBREC);
        }

        publishNow(client, 2, RECEIVE_MAXIMUM + 1);
        client.expectDisconnect(ReasonCode.RECEIVE_MAXIMUM_EXCEEDED);
    }

    @Test
    void theReceiveMaximumMayBeUsedAgainAndAgain() {
        RawClient client = BROKER.client(MQTT_5, "steady");
        for (int round = 0; round < 3; round++) {
            for (int id = 1; id <= RECEIVE_MAXIMUM; id++) {
                publishNow(client, 2, id);
                client.expect(PUBREC);
            }
            publishNow(client, 2, 1);
            client.expect(PUBREC); // the same message again takes no room
            for (int id = 1; id <= RECEIVE_MAXIMUM; id++) {
                client.acknowledge(0x62, id).expect(PUBCOMP);
            }
        }
        client.expectNothing();
    }

    @Test
    void anOlderClientWithTooManyUnreleasedMessagesIsClosed() {
        RawClient client = BROKER.client(MQTT_3_1_1, "over-older");
        for (int id = 1; id <= RECEIVE_MAXIMUM; id++) {
            publishNow(client, 2, id);
            client.expect(PUBREC);
        }

        publishNow(client, 2, RECEIVE_MAXIMUM + 1);
        client.expectClosed();
    }

    @Test
    void retainedMessagesKeepToTheQuotaToo() { // [MQTT-3.3.4-9]
        RawClient publisher = BROKER.client(MQTT_5, "retainer");
        for (int i = 1; i <= 3; i++) {
            publisher.publish(PublishBytes.to("kept/" + i).payload("x").qos(1).retained());
        }
        RawClient client = BROKER.open(MQTT_5);
        ConnectBytes connect = ConnectBytes.of("reader");
        connect.properties().receiveMaximum(1);
        client.connect(connect);
        client.send(SubscribeBytes.of(9).filter("kept/+", 1)).expect(SUBACK);

        for (int i = 1; i <= 3; i++) {
            int id = client.expect(PUBLISH).packetId();
            client.expectNothing();
            client.acknowledge(0x40, id);
        }
    }
}
