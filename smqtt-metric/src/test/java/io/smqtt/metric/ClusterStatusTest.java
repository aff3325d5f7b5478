// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.State;
import io.smqtt.spi.ClusterTransport.Refusal;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.SampleCluster;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Meters and health of a node of a cluster. */
class ClusterStatusTest {

    @Test
    void metersAddUpTheOtherNodes() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.three())) {
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
            assertThat(broker.scraped("smqtt_cluster_retained_unawaited_total")).isEqualTo(6);
            assertThat(broker.scraped("smqtt_cluster_forwarded_total")).isEqualTo(1_000);
            assertThat(broker.scraped("smqtt_cluster_received_waiting_bytes")).isEqualTo(777);
            assertThat(broker.scraped("smqtt_cluster_frames_refused_total")).isEqualTo(3);
            assertThat(broker.scraped("smqtt_cluster_routes_repairs_total")).isZero();
        }
    }

    @Test
    void metersOfEachNodeHaveItsNameAndAddUp() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.three())) {
            assertThat(broker.scraped("smqtt_cluster_queue", "node=\"n2\"")).isEqualTo(5);
            assertThat(broker.scraped("smqtt_cluster_queue", "node=\"n\\\"3\"")).isEqualTo(9);
            assertThat(broker.scraped("smqtt_cluster_queue_memory_bytes", "node=\"n2\""))
                    .isEqualTo(640);
            assertThat(broker.scraped("smqtt_cluster_parked", "node=\"n2\"")).isZero();
            String dropped = "smqtt_cluster_dropped_total";
            assertThat(broker.scraped(dropped, "node=\"n\\\"3\"", "reason=\"peer_queue\""))
                    .isEqualTo(6);
            assertThat(broker.scraped(dropped, "node=\"(forgotten)\"", "reason=\"peer_gone\""))
                    .isEqualTo(30);
            assertThat(broker.scraped(dropped)).isEqualTo(37);
        }
    }

    @Test
    void metersOfForgottenNodesAreRemovedFromAllRegistries() {
        ClusterStatus three = SampleCluster.three();
        AtomicReference<ClusterStatus> status = new AtomicReference<>(three);
        SimpleMeterRegistry child = new SimpleMeterRegistry();
        CompositeMeterRegistry registry = new CompositeMeterRegistry(Clock.SYSTEM, List.of(child));
        NodeMeters meters = new NodeMeters(registry, status::get);
        meters.refresh();
        assertThat(child.find("smqtt.cluster.parked").gauges()).hasSize(2);

        status.set(new ClusterStatus(
                three.state(),
                three.self(),
                0,
                List.of(three.peers().get(0)),
                three.traffic(),
                three.wills(),
                three.retained(),
                Map.of(DropReason.PEER_QUEUE, 6L)));
        meters.refresh();

        assertThat(child.find("smqtt.cluster.parked").gauges())
                .allSatisfy(gauge -> assertThat(gauge.getId().getTag("node")).isEqualTo("n2"))
                .hasSize(1);
        assertThat(child.find("smqtt.cluster.dropped").functionCounters().stream()
                        .map(counter -> counter.getId().getTag("node")))
                .containsOnly("n2", "(forgotten)");
        assertThat(child.find("smqtt.cluster.dropped")
                        .tags("node", "(forgotten)", "reason", "peer_queue")
                        .functionCounter())
                .isNotNull()
                .extracting(FunctionCounter::count)
                .isEqualTo(6.0);
    }

    @Test
    void connectionsThatWereRefusedAreCountedForEveryReasonFromTheStart() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.three())) {
            String name = "smqtt_cluster_connections_refused_total";
            assertThat(broker.scraped(name)).isEqualTo(13);
            for (Map.Entry<Refusal, Long> refusals : SampleCluster.refusals().entrySet()) {
                assertThat(broker.scraped(name, "reason=\"" + Tagged.of(refusals.getKey()) + '"'))
                        .isEqualTo(refusals.getValue().doubleValue());
            }
        }
    }

    @Test
    void aNodeWithTooFewOthersIsNotReady() throws Exception {
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.status(State.JOINED, 3))) {
            HealthReport ready = broker.module.ready();

            assertThat(ready.up()).isFalse();
            assertThat(ready.checks()).containsEntry("cluster", "too few members");
        }
        try (ObservedBroker broker = ObservedBroker.in(SampleCluster.status(State.JOINED, 2))) {
            assertThat(broker.module.ready().up()).isTrue();
        }
    }

    @Test
    void aNodeThatJoinsOrLeavesIsNotReady() throws Exception {
        for (State state : List.of(State.JOINING, State.LEAVING)) {
            try (ObservedBroker broker = ObservedBroker.in(SampleCluster.status(state, 0))) {
                HealthReport ready = broker.module.ready();

                assertThat(ready.up()).isFalse();
                assertThat(ready.checks()).containsEntry("cluster", Tagged.of(state));
            }
        }
    }

    @Test
    void aBrokerOfItsOwnHasNoCluster() throws Exception {
        try (ObservedBroker broker = new ObservedBroker()) {
            assertThat(broker.module.ready().checks()).doesNotContainKey("cluster");
        }
    }
}
