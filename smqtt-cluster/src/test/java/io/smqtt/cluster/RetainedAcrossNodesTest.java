// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.PublishBytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that subscribes after the acknowledgement of a retained message gets it, at any node. */
class RetainedAcrossNodesTest {

    private static final int MESSAGES = 100;
    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(true);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension C = CLUSTER.broker(false);

    private static void retain(RawClient client, String topic, String payload, int qos) {
        client.publish(PublishBytes.to(topic).payload(payload).qos(qos).retained());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void itIsReadAtAllNodes(int qos) {
        String topic = "read/" + qos;
        RawClient publisher = B.client(ProtocolVersion.MQTT_5, "publisher-" + qos);
        RawClient first = A.client(ProtocolVersion.MQTT_5, "first-" + qos);
        RawClient second = C.client(ProtocolVersion.MQTT_3_1_1, "second-" + qos);
        for (int i = 0; i < MESSAGES; i++) {
            retain(publisher, topic, "m" + i, qos);
            for (RawClient reader : new RawClient[] {first, second}) {
                reader.subscribe(topic, 0);
                ReceivedPacket message = reader.expect(MqttMessageType.PUBLISH);
                assertThat(message.text()).isEqualTo("m" + i);
                assertThat(message.retain()).isTrue();
                reader.unsubscribe(topic);
            }
        }
    }

    @Test
    void noneReadsAMessageWhoseRemovalIsAcknowledged() {
        RawClient publisher = A.client(ProtocolVersion.MQTT_5, "remover");
        RawClient reader = B.client(ProtocolVersion.MQTT_5, "reader");
        for (int i = 0; i < MESSAGES; i++) {
            retain(publisher, "removed", "m" + i, 1);
            retain(publisher, "removed", "", 1);
            reader.subscribe("removed", 0);
            reader.ping(); // nothing comes before
            reader.unsubscribe("removed");
        }
    }
}
