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
                                    + "\"weight\":2,\"routes\":100,\"reachable\":true,\"route-lag\":3,\"heard-ms\":400,"
                                    + "\"queued-messages\":5,\"queued-bytes\":640,\"parked-messages\":0,\"dropped-messages\":{}}")
                    .contains("n\\\"3")
                    .contains("\"waiting-bytes\":777,\"refused-frames\":3,")
                    .endsWith(
                            "\"pulls\":2,\"repairs\":0,\"refused-connections\":{\"authentication\":12,\"tls\":0,\"protocol\":0,"
                                    + "\"timeout\":0,\"overload\":0,\"aborted\":0,\"frame\":1}},\"wills\":{\"own\":20000,\"held\":11,"
                                    + "\"held-bytes\":4711,\"refused\":7},\"retained\":{\"refused\":3,\"comparing\":2,"
                                    + "\"compared\":40,\"cleared\":8,\"cleared-bytes\":2100,\"forgotten\":4},\"dropped-for-forgotten\":{\"peer_gone\":30}}\n");
        }
    }

    @Test
    void peopleGetATable() throws Exception {
        try (ManagedBroker broker = ManagedBroker.in(SampleCluster.three())) {
            HttpResponse<String> answer = broker.get("/cluster", "Accept", "text/plain");

            assertThat(answer.body().lines().map(line -> line.replaceAll(" +", " ")))
                    .startsWith(
                            "NODE STATE VERSION ADDRESS WEIGHT ROUTES LAG QUEUED PARKED DROPPED HEARD",
                            "n1 joined (this) 0.1.0 10.0.0.1:7800 1 7 - - - - -",
                            "n2 reachable 0.1.0 10.0.0.2:7800 2 100 3 5 0 0 0.4 s ago")
                    .contains(
                            "ready: yes, 2 of 3 nodes together",
                            "routes: 2 pulls, 0 repairs; malformed frames: 1; refused connections: 13",
                            "wills: 20000 of this node, 7 refused; kept for other nodes: 11, 4711 bytes",
                            "retained: 3 refused, 2 parts to compare, 40 compared; removed: 8 topics, 2100 bytes, 4"
                                    + " forgotten early");
        }
    }

    @Test
    void aBrokerOfItsOwnHasNoCluster() throws Exception {
        try (ManagedBroker broker = new ManagedBroker()) {
            assertThat(broker.get("/cluster").statusCode()).isEqualTo(404);
        }
    }
}
