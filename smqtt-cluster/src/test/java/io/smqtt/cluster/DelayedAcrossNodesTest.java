// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.test.BrokerExtension;
import io.smqtt.test.RawClient;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The node that has accepted a delayed message publishes it, once, to the subscribers of all nodes. */
@Timeout(120)
class DelayedAcrossNodesTest {

    private static final BrokerCluster CLUSTER = new BrokerCluster();

    @RegisterExtension
    static final BrokerExtension A = CLUSTER.broker(false);

    @RegisterExtension
    static final BrokerExtension B = CLUSTER.broker(false);

    private static RawClient subscriber(int node, String clientId, int qos) {
        RawClient client = CLUSTER.persistent(node, clientId, false).deadline(BrokerCluster.PATIENCE);
        assertThat(client.subscribe("t/#", qos).reasonCodes()).containsExactly(qos);
        return client;
    }

    @Test
    void subscribersOfAllNodesGetMessagesInTheOrderOfTheirTime() {
        RawClient here = subscriber(0, "here", 1);
        RawClient there = subscriber(1, "there", 2);
        RawClient publisher = CLUSTER.persistent(0, "publisher", false);
        publisher.publish("$delayed/20/t/1", "second", 2);
        publisher.publish("$delayed/10/t/1", "first", 1);

        BrokerCluster.receivesNothing(there);
        A.ticker().advance(Duration.ofMillis(10_200));

        BrokerCluster.receive(here, "first");
        BrokerCluster.receive(there, "first");
        BrokerCluster.receivesNothing(there);
        A.ticker().advance(Duration.ofMillis(10_200));

        BrokerCluster.receive(here, "second");
        BrokerCluster.receive(there, "second");
        BrokerCluster.receivesNothing(here);
        BrokerCluster.receivesNothing(there);
    }
}
