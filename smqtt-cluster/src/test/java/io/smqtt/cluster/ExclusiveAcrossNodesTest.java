// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.smqtt.config.MqttConfig;
import io.smqtt.config.ParkConfig;
import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One client of the cluster has an exclusive subscription, on whichever node it is. */
@Timeout(120)
class ExclusiveAcrossNodesTest {

    private static final int QUOTA_EXCEEDED = 0x97;
    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = node();

    @RegisterExtension
    static final BrokerExtension B = node();

    private static BrokerExtension node() {
        return CLUSTER.broker(
                null,
                ParkConfig.defaults(),
                config -> config.mqtt(MqttConfig.defaults().toBuilder()
                        .exclusiveSubscriptions(true)
                        .build()));
    }

    private static RawClient client(int node, String clientId) {
        return CLUSTER.persistent(node, clientId, false).deadline(BrokerCluster.PATIENCE);
    }

    private static int subscribe(RawClient client, String filter) {
        return client.subscribe(filter, 1).reasonCodes().get(0);
    }

    @Test
    void aClientOfAnotherNodeIsRefusedUntilTheFirstUnsubscribes() {
        RawClient first = client(0, "first");
        RawClient second = client(1, "second");
        assertThat(subscribe(first, "$exclusive/t")).isEqualTo(1);
        assertThat(subscribe(second, "$exclusive/t")).isEqualTo(QUOTA_EXCEEDED);
        assertThat(subscribe(second, "t")).isEqualTo(1);
        assertThat(subscribe(first, "$exclusive/t")).isEqualTo(1);
        first.unsubscribe("$exclusive/t");
        assertThat(subscribe(second, "$exclusive/t")).isEqualTo(1);
        assertThat(subscribe(first, "$exclusive/t")).isEqualTo(QUOTA_EXCEEDED);
    }

    @Test
    void aSessionThatMovesKeepsItsSubscription() {
        assertThat(subscribe(client(0, "mover"), "$exclusive/m")).isEqualTo(1);
        RawClient other = client(0, "other");
        CLUSTER.persistent(1, "mover", true);
        await().atMost(BrokerCluster.PATIENCE)
                .untilAsserted(() -> assertThat(CLUSTER.owners("mover")).isOne());
        assertThat(subscribe(other, "$exclusive/m")).isEqualTo(QUOTA_EXCEEDED);
        assertThat(subscribe(client(1, "third"), "$exclusive/m")).isEqualTo(QUOTA_EXCEEDED);
    }

    @Test
    void ofManyClientsAtTheSameTimeOneGetsIt() {
        List<RawClient> clients =
                IntStream.range(0, 12).mapToObj(i -> client(i % 2, "many" + i)).toList();
        List<Integer> reasons = clients.parallelStream()
                .map(client -> subscribe(client, "$exclusive/many"))
                .toList();
        assertThat(reasons).filteredOn(reason -> reason == 1).hasSize(1);
        assertThat(reasons).filteredOn(reason -> reason == QUOTA_EXCEEDED).hasSize(11);
    }
}
