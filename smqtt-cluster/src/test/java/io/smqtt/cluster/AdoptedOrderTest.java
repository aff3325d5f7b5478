// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.handler.codec.mqtt.MqttMessageType;
import io.smqtt.config.ParkConfig;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.packet.ConnectBytes;
import io.smqtt.test.packet.PublishBytes;
import io.smqtt.test.store.ManualStore;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The order of messages that a node has parked, and those that come when it has adopted their sessions. */
@Tag("slow")
@Timeout(120)
class AdoptedOrderTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();
    private static final ManualStore OF_HOME = new ManualStore(System::nanoTime);
    private static final ManualStore OF_ADOPTER = new ManualStore(System::nanoTime);
    private static final int HOME = 0;
    private static final int ADOPTER = 1;
    private static final int PARKED = 20;

    @RegisterExtension
    static final BrokerExtension HOME_BROKER = CLUSTER.broker(OF_HOME, ParkConfig.defaults());

    @RegisterExtension
    static final BrokerExtension ADOPTING_BROKER = CLUSTER.broker(OF_ADOPTER, ParkConfig.defaults());

    private static PublishBytes message(int number, int packetId) {
        return PublishBytes.to("t").payload(Integer.toString(number)).qos(1, packetId);
    }

    @Test
    void whatTheAdopterHasParkedComesBeforeNewerMessagesOfItsPublishers() {
        try (RawClient subscriber = CLUSTER.persistent(HOME, "subscriber", false)) {
            subscriber.subscribe("t", 1);
            subscriber.disconnect();
        }
        CLUSTER.cutOff(HOME);
        try (RawClient publisher =
                CLUSTER.get(ADOPTER).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE)) {
            publisher.connect("publisher");
            for (int i = 0; i < PARKED; i++) {
                publisher.send(message(i, publisher.nextPacketId()));
                assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode())
                        .isZero();
            }
            OF_ADOPTER.holdReads();
            ManualStore adopted = OF_HOME.reopened(System::nanoTime);
            assertThat(CLUSTER.sessions(ADOPTER).adopt("a", 7, adopted).sessions())
                    .isOne();

            publisher.send(message(PARKED, publisher.nextPacketId()));
            publisher.ping();
            OF_ADOPTER.releaseReads();

            assertThat(publisher.expect(MqttMessageType.PUBACK).reasonCode()).isZero();
            await().atMost(BrokerCluster.PATIENCE) // the clock stands still: a claim that is busy is not repeated
                    .until(() -> !CLUSTER.sessions(ADOPTER).adoptions().isAwaited(List.of("b")));
            try (RawClient subscriber =
                    CLUSTER.get(ADOPTER).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE)) {
                assertThat(subscriber
                                .connect(ConnectBytes.of("subscriber").persistent(1_000))
                                .sessionPresent())
                        .isTrue();
                for (int i = 0; i <= PARKED; i++) {
                    BrokerCluster.receive(subscriber, Integer.toString(i));
                }
            }
        }
        CLUSTER.heal(HOME);
    }
}
