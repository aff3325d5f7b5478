// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import io.smqtt.test.store.ManualStore;
import io.smqtt.topic.SharedFilter;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Node "b" returns. It counts as a member of a group until "a" has its new routes, while what "a" has parked for it is being read. */
class MemberThatReturnsTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final String GROUP = "$share/g/t";

    private final Simulation simulation = new Simulation(11);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private final ManualStore store = new ManualStore(simulation);
    private final SimulatedNode a = new SimulatedNode(
            simulation,
            network,
            "a",
            1,
            ClusterSettings.defaults(),
            new ParkLimits(Duration.ofHours(1), 1 << 30, false),
            store);
    private SimulatedNode b = new SimulatedNode(simulation, network, "b", 1, ClusterSettings.defaults());

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
        b.subscribe("t");
        simulation.run(WHILE);
    }

    @Test
    void whatAGroupThereRefusesStillComesToTheOtherSubscribers() {
        b.crash();
        simulation.run(WHILE);
        for (int number = 0; number < 10; number++) {
            a.publish("t", number, QoS.EXACTLY_ONCE, RouteTicket.NONE);
        }
        simulation.run(WHILE);
        store.holdReads();
        b = new SimulatedNode(simulation, network, "b", 2, ClusterSettings.defaults());
        b.subscribe("t");
        b.refusesGroups();
        simulation.run(WHILE);
        assertThat(a.reaches("b")).isTrue();
        assertThat(a.outboxTo("b").park().hasUnread()).isTrue();

        a.publishToAllAndGroup(GROUP, "b", 10, QoS.EXACTLY_ONCE, RouteTicket.NONE);
        simulation.run(WHILE);
        assertThat(a.requeued()).containsExactly(SharedFilter.of(GROUP));
        store.releaseReads();
        simulation.run(WHILE);

        List<Long> expected = LongStream.rangeClosed(0, 10).boxed().toList();
        assertThat(b.arrivals())
                .filteredOn(SimulatedNode.Arrival::toAll)
                .extracting(SimulatedNode.Arrival::number)
                .containsExactlyElementsOf(expected);
        assertThat(a.outboxTo("b").park().size()).isZero();
    }
}
