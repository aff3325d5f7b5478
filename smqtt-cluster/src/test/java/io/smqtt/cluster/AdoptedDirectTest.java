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

/** A third node has parked messages for adopted sessions, and sends newer ones to another session of the adopter, with the same filter. */
@Tag("slow")
@Timeout(120)
class AdoptedDirectTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();
    private static final ManualStore OF_HOME = new ManualStore(System::nanoTime);
    private static final ManualStore OF_PUBLISHER = new ManualStore(System::nanoTime);
    private static final String TOPIC = "t";
    private static final int HOME = 0;
    private static final int ADOPTER = 1;
    private static final int PUBLISHING = 2;
    private static final int PARKED = 20;

    @RegisterExtension
    static final BrokerExtension HOME_BROKER = CLUSTER.broker(OF_HOME, ParkConfig.defaults());

    @RegisterExtension
    static final BrokerExtension ADOPTING_BROKER =
            CLUSTER.broker(new ManualStore(System::nanoTime), ParkConfig.defaults());

    @RegisterExtension
    static final BrokerExtension PUBLISHING_BROKER = CLUSTER.broker(OF_PUBLISHER, ParkConfig.defaults());

    private static RawClient client(int broker) {
        return CLUSTER.get(broker).open(ProtocolVersion.MQTT_5).deadline(BrokerCluster.PATIENCE);
    }

    @Test
    void adoptedSessionsTakeNewerMessagesBehindWhatWasParked() {
        try (RawClient subscriber = CLUSTER.persistent(HOME, "subscriber", false)) {
            subscriber.subscribe(TOPIC, 2);
            subscriber.disconnect();
        }
        try (RawClient other = client(ADOPTER);
                RawClient publisher = client(PUBLISHING)) {
            other.connect("other");
            other.subscribe(TOPIC, 2);
            publisher.connect("publisher");
            CLUSTER.cutOff(HOME);
            for (int i = 0; i < PARKED; i++) {
                publish(publisher, i);
                BrokerCluster.receive(other, Integer.toString(i));
            }
            OF_PUBLISHER.holdReads();
            ManualStore adopted = OF_HOME.reopened(System::nanoTime);
            assertThat(CLUSTER.sessions(ADOPTER).adopt("a", 7, adopted).sessions())
                    .isPositive();

            publish(publisher, PARKED);
            BrokerCluster.receive(other, Integer.toString(PARKED));
            OF_PUBLISHER.releaseReads();

            await().atMost(BrokerCluster.PATIENCE) // the clock stands still: a claim that is busy is not repeated
                    .until(() -> !CLUSTER.sessions(ADOPTER).adoptions().isAwaited(List.of("b", "c")));
            await().atMost(BrokerCluster.PATIENCE).until(() -> CLUSTER.parked(PUBLISHING, HOME) == 0);
            publish(publisher, PARKED + 1);
            try (RawClient subscriber = client(ADOPTER)) {
                assertThat(subscriber
                                .connect(ConnectBytes.of("subscriber").persistent(1_000))
                                .sessionPresent())
                        .isTrue();
                for (int i = 0; i <= PARKED + 1; i++) {
                    BrokerCluster.receive(subscriber, Integer.toString(i));
                }
                BrokerCluster.receivesNothing(subscriber);
            }
        }
    }

    /** Publishes at QoS 1 and 2 in turn. */
    private static void publish(RawClient publisher, int number) {
        int qos = 1 + number % 2;
        int packetId = publisher.nextPacketId();
        publisher.send(PublishBytes.to(TOPIC).payload(Integer.toString(number)).qos(qos, packetId));
        assertThat(publisher
                        .expect(qos == 1 ? MqttMessageType.PUBACK : MqttMessageType.PUBREC)
                        .reasonCode())
                .isZero();
        if (qos == 2) {
            publisher.acknowledge(0x62, packetId);
            publisher.expect(MqttMessageType.PUBCOMP);
        }
    }
}
