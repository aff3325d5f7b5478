// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients that were connected all the time get everything that was parked for their node, at their own pace. */
@Tag("slow")
@Timeout(180)
class PacedReturnTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    /** More than three queues hold. */
    private static final int MESSAGES = 3_500;

    private static final int RECEIVE_MAXIMUM = 10;

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension C = CLUSTER.broker(true);

    @RegisterExtension
    static final BrokerExtension D = CLUSTER.broker(true);

    @ParameterizedTest
    @CsvSource({"0, 1", "2, 3", "0, 3"})
    void nothingOfABurstIsDropped(int publisherAt, int subscriberAt) {
        String topic = "burst/" + publisherAt + subscriberAt;
        RawClient subscriber =
                CLUSTER.get(subscriberAt).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
        ConnectBytes connect = ConnectBytes.of("subscriber-" + topic).persistent(1_000);
        connect.properties().receiveMaximum(RECEIVE_MAXIMUM);
        subscriber.connect(connect);
        subscriber.subscribe(topic, 1);
        CLUSTER.cutOff(subscriberAt);
        try (RawClient publisher =
                CLUSTER.get(publisherAt).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE)) {
            publisher.connect("publisher-" + topic);
            for (int i = 0; i < MESSAGES; i++) {
                publisher.send(PublishBytes.to(topic).payload(String.valueOf(i)).qos(1, publisher.nextPacketId()));
                assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode())
                        .isZero();
            }
        }
        CLUSTER.heal(subscriberAt);

        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            numbers.add(Integer.valueOf(BrokerCluster.nextMessage(subscriber).text()));
        }
        assertThat(numbers)
                .containsExactlyElementsOf(IntStream.range(0, MESSAGES).boxed().toList());
        subscriber.close();
    }
}
