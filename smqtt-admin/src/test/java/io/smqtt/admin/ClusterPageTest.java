// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.SampleCluster;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;

/** What the management port shows of a cluster. */
class ClusterPageTest {

    @Test
    void programsGetJson() throws Exception {
        try (ManagedBroker broker = ManagedBroker.in(SampleCluster.three())) {
            HttpResponse<String> answer = broker.get("/cluster");

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body())
                    .startsWith("{\"state\":\"joined\",\"ready\":true,\"min-members\":0,\"self\":{\"node-id\":\"n1\",")
                    .contains(
                            "\"node-id\":\"n2\",\"epoch\":2,\"address\":\"10.0.0.2:7800\",\"version\":\"0.1.0\","
                                    + "\"weight\":2,\"routes\":100,\"role\":\"full\",\"relay\":\"\",\"reachable\":true,\"route-lag\":3,\"heard-ms\":400,"
                                    + "\"queued-messages\":5,\"queued-bytes\":640,\"parked-messages\":0,\"dropped-messages\":{}}")
                    .contains("n\\\"3")
                    .contains("\"waiting-bytes\":777,\"refused-frames\":3,")
                    .endsWith(
                            "\"pulls\":2,\"repairs\":0,\"refused-connections\":{\"authentication\":12,\"tls\":0,\"protocol\":0,"
                                    + "\"timeout\":0,\"overload\":0,\"aborted\":0,\"frame\":1}},\"wills\":{\"own\":20000,\"held\":11,"
                                    + "\"held-bytes\":4711,\"refused\":7},\"retained\":{\"refused\":3,\"comparing\":2,"
                                    + "\"compared\":40,\"cleared\":8,\"cleared-bytes\":2100,\"forgotten\":4},\"dropped-for-forgotten\":{\"peer_gone\":30},"
                                    + "\"relay\":{\"connections\":40,\"waiting\":2,\"opened\":90,\"refused\":{\"no_node\":3,"
                                    + "\"busy\":1,\"timeout\":0,\"handshake\":0}},"
                                    + "\"replicas\":[],\"places\":{}}\n");
        }
    }

    @Test
    void aBrokerOfItsOwnHasNoCluster() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            assertThat(broker.get("/cluster").statusCode()).isEqualTo(404);
        }
    }
}
