// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.Node;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.spi.ClusterStatus.State;
import io.smqtt.spi.ClusterTransport.Refusal;
import java.net.http.HttpResponse;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the management port shows of a cluster. */
class ClusterStatusTest {

    /** Two nodes together, and one that is gone. */
    static ClusterStatus three() {
        return three(State.JOINED);
    }

    static ClusterStatus three(State state) {
        return status(state, 0);
    }

    private static ClusterStatus status(State state, int minMembers) {
        return new ClusterStatus(
                state,
                new Node("n1", 1, "10.0.0.1:7800", "0.1.0", 1, 7),
                minMembers,
                List.of(
                        new PeerStatus(new Node("n2", 2, "10.0.0.2:7800", "0.1.0", 2, 100), true, 3, 400, 5, 640, 0),
                        new PeerStatus(new Node("n\"3", 3, "", "", 0, 20), false, 0, 90_000, 9, 900, 9)),
                new ClusterStatus.Traffic(1_000, 10, 99_000, 12_345, 777, 3, 1, 2, 0, refusals()),
                new ClusterStatus.Wills(20_000, 11, 4_711, 7),
                new ClusterStatus.Retained(8, 2_100, 4, 3, 2, 40));
    }

    private static Map<Refusal, Long> refusals() {
        Map<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
        for (Refusal reason : Refusal.values()) {
            refusals.put(reason, 0L);
        }
        refusals.put(Refusal.AUTHENTICATION, 12L);
        refusals.put(Refusal.FRAME, 1L);
        return refusals;
    }

    @Test
    void programsGetJson() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(three())) {
            HttpResponse<String> answer = broker.get("/cluster");

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.body())
                    .startsWith("{\"state\":\"joined\",\"ready\":true,\"min-members\":0,\"self\":{\"node-id\":\"n1\",")
                    .contains("\"node-id\":\"n2\",\"epoch\":2,\"address\":\"10.0.0.2:7800\",\"version\":\"0.1.0\","
                            + "\"weight\":2,\"routes\":100,\"reachable\":true,\"route-lag\":3,\"heard-ms\":400,"
                            + "\"queued-messages\":5,\"queued-bytes\":640,\"parked-messages\":0}")
                    .contains("n\\u00223")
                    .contains("\"waiting-bytes\":777,\"refused-frames\":3,")
                    .endsWith(
                            "\"pulls\":2,\"repairs\":0,\"refused-connections\":{\"authentication\":12,\"tls\":0,\"protocol\":0,"
                                    + "\"timeout\":0,\"overload\":0,\"aborted\":0,\"frame\":1}},\"wills\":{\"own\":20000,\"held\":11,"
                                    + "\"held-bytes\":4711,\"refused\":7},\"retained\":{\"refused\":3,\"comparing\":2,"
                                    + "\"compared\":40,\"cleared\":8,\"cleared-bytes\":2100,\"forgotten\":4}}\n");
        }
    }

    @Test
    void peopleGetATable() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(three())) {
            HttpResponse<String> answer = broker.get("/cluster", "Accept", "text/plain");

            assertThat(answer.body().lines().map(line -> line.replaceAll(" +", " ")))
                    .startsWith(
                            "NODE STATE VERSION ADDRESS WEIGHT ROUTES LAG QUEUED PARKED HEARD",
                            "n1 joined (this) 0.1.0 10.0.0.1:7800 1 7 - - - -",
                            "n2 reachable 0.1.0 10.0.0.2:7800 2 100 3 5 0 0.4 s ago")
                    .contains(
                            "ready: yes, 2 of 3 nodes together",
                            "routes: 2 pulls, 0 repairs; malformed frames: 1; refused connections: 13",
                            "wills: 20000 of this node, 7 refused; kept for other nodes: 11, 4711 bytes",
                            "retained: 3 refused, 2 parts to compare, 40 compared; removed: 8 topics, 2100 bytes, 4"
                                    + " forgotten early");
        }
    }

    @Test
    void metersAddUpTheOtherNodes() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(three())) {
            assertThat(broker.scraped("smqtt_cluster_members")).isEqualTo(2);
            assertThat(broker.scraped("smqtt_cluster_members_known")).isEqualTo(3);
            assertThat(broker.scraped("smqtt_cluster_routes_remote")).isEqualTo(120);
            assertThat(broker.scraped("smqtt_cluster_queue")).isEqualTo(14);
            assertThat(broker.scraped("smqtt_cluster_parked")).isEqualTo(9);
            assertThat(broker.scraped("smqtt_cluster_wills_own")).isEqualTo(20_000);
            assertThat(broker.scraped("smqtt_cluster_wills")).isEqualTo(11);
            assertThat(broker.scraped("smqtt_cluster_wills_memory_bytes")).isEqualTo(4_711);
            assertThat(broker.scraped("smqtt_cluster_wills_refused_total")).isEqualTo(7);
            assertThat(broker.scraped("smqtt_cluster_retained_refused")).isEqualTo(3);
            assertThat(broker.scraped("smqtt_cluster_retained_comparing")).isEqualTo(2);
            assertThat(broker.scraped("smqtt_cluster_retained_compared_total")).isEqualTo(40);
            assertThat(broker.scraped("smqtt_cluster_retained_cleared")).isEqualTo(8);
            assertThat(broker.scraped("smqtt_cluster_retained_cleared_memory_bytes"))
                    .isEqualTo(2_100);
            assertThat(broker.scraped("smqtt_cluster_retained_forgotten_total")).isEqualTo(4);
            assertThat(broker.scraped("smqtt_cluster_forwarded_total")).isEqualTo(1_000);
            assertThat(broker.scraped("smqtt_cluster_received_waiting_bytes")).isEqualTo(777);
            assertThat(broker.scraped("smqtt_cluster_frames_refused_total")).isEqualTo(3);
            assertThat(broker.scraped("smqtt_cluster_routes_repairs_total")).isZero();
        }
    }

    @Test
    void connectionsThatWereRefusedAreCountedForEveryReasonFromTheStart() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(three())) {
            String name = "smqtt_cluster_connections_refused_total";
            assertThat(broker.scraped(name)).isEqualTo(13);
            for (Map.Entry<Refusal, Long> refusals : refusals().entrySet()) {
                assertThat(broker.scraped(name, "reason=\"" + Tagged.of(refusals.getKey()) + '"'))
                        .isEqualTo(refusals.getValue().doubleValue());
            }
        }
    }

    @Test
    void aNodeWithTooFewOthersIsNotReady() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(status(State.JOINED, 3))) {
            HttpResponse<String> ready = broker.get("/health/ready");

            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).contains("\"cluster\":\"too few members\"");
        }
        try (ObservedBroker broker = ObservedBroker.in(status(State.JOINED, 2))) {
            assertThat(broker.get("/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aNodeThatJoinsOrLeavesIsNotReady() throws Exception {
        for (State state : List.of(State.JOINING, State.LEAVING)) {
            try (ObservedBroker broker = ObservedBroker.in(status(state, 0))) {
                HttpResponse<String> ready = broker.get("/health/ready");

                assertThat(ready.statusCode()).isEqualTo(503);
                assertThat(ready.body()).contains("\"cluster\":\"" + Tagged.of(state) + "\"");
            }
        }
    }

    @Test
    void aBrokerOfItsOwnHasNoCluster() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            assertThat(broker.get("/cluster").statusCode()).isEqualTo(404);
            assertThat(broker.get("/health/ready").body()).doesNotContain("cluster");
        }
    }
}
