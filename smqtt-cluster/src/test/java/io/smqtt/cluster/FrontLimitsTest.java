// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static io.smqtt.cluster.BrokerCluster.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import io.smqtt.test.ReceivedPacket;
import io.smqtt.test.packet.ConnectBytes;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A front node whose clients find no node with room, or none at all. */
class FrontLimitsTest {

    private static final int REASON_STRING = 0x1F;

    private final BrokerCluster cluster = new BrokerCluster();

    @RegisterExtension
    final BrokerExtension keeper = cluster.keeper(1);

    @RegisterExtension
    final BrokerExtension front = cluster.front();

    private ReceivedPacket connect(ProtocolVersion version, String clientId) {
        RawClient client = front.open(version);
        client.send(ConnectBytes.of(clientId).persistent(1_000));
        return client.receive();
    }

    @Test
    void aNodeWithTooManyClientsIsBusy() {
        RawClient first = front.open(ProtocolVersion.MQTT_5);
        first.connect(ConnectBytes.of("first").persistent(1_000));

        ReceivedPacket second = connect(ProtocolVersion.MQTT_5, "second");
        ReceivedPacket third = connect(ProtocolVersion.MQTT_3_1_1, "third");

        assertThat(second.reasonCode()).isEqualTo(0x89);
        assertThat(second.property(REASON_STRING)).isEqualTo("the nodes that store sessions take no more clients");
        assertThat(third.reasonCode()).isEqualTo(3); // server unavailable
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(List.of(cluster.status(0), cluster.status(1)))
                        .extracting(status -> status.relay().refused(RelayRefusal.BUSY))
                        .containsExactly(2L, 2L));
        first.ping();

        first.disconnect();
        keeper.awaitOffline("first");
        await().atMost(PATIENCE).until(() -> cluster.status(0).relay().connections() == 0);
        assertThat(connect(ProtocolVersion.MQTT_5, "fourth").reasonCode()).isZero();
    }

    @Test
    void withoutANodeTheClientIsRefusedAndOthersAreServed() {
        keeper.broker().close(Duration.ofSeconds(5)).block();

        await().atMost(PATIENCE).untilAsserted(() -> {
            ReceivedPacket refused = connect(ProtocolVersion.MQTT_5, "stored");
            assertThat(refused.reasonCode()).isEqualTo(0x88);
            assertThat(String.valueOf(refused.property(REASON_STRING))).startsWith("no node that stores sessions");
        });

        await().atMost(PATIENCE).until(() -> cluster.status(1).relay().refused(RelayRefusal.NO_NODE) > 0);
        front.client(ProtocolVersion.MQTT_5, "clean").ping();
    }

    @Test
    void theEndOfANodeEndsTheConnectionsThatItServes() {
        RawClient client = front.open(ProtocolVersion.MQTT_5);
        client.connect(ConnectBytes.of("served").persistent(1_000));
        await().atMost(PATIENCE).until(() -> cluster.status(1).relay().connections() == 1);

        keeper.broker().close(Duration.ofSeconds(5)).block();

        client.expectDisconnect(ReasonCode.SERVER_SHUTTING_DOWN);
        await().atMost(PATIENCE).until(() -> cluster.status(1).relay().connections() == 0);
    }
}
