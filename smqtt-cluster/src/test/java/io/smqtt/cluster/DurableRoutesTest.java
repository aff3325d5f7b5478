// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.QoS;
import io.smqtt.routing.RouteTicket;
import io.smqtt.spi.DropReason;
import io.smqtt.test.cluster.SimulatedNetwork;
import io.smqtt.test.cluster.Simulation;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Routes of clean sessions end with their node; those of durable sessions stay for its return. */
class DurableRoutesTest {

    private static final Duration WHILE = Duration.ofSeconds(3);
    private static final String CLEAN_GROUP = "$share/clean/t";
    private static final String MIXED_GROUP = "$share/mixed/t";

    private final Simulation simulation = new Simulation(11);
    private final SimulatedNetwork network = new SimulatedNetwork(simulation);
    private SimulatedNode a = node("a", 1);
    private SimulatedNode b = node("b", 1);

    private SimulatedNode node(String nodeId, long epoch) {
        return new SimulatedNode(simulation, network, nodeId, epoch, ClusterSettings.defaults());
    }

    @BeforeEach
    void meet() {
        simulation.run(WHILE);
    }

    @Test
    void theRouteOfACleanSessionEndsWithItsNodeAndThatOfADurableOneStays() {
        b.subscribe("clean", false);
        b.subscribe("durable", true);
        b.subscribe("both", true);
        b.subscribe("both", false);
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).isEqualTo(b.expectedRows()).containsEntry("both", RouteRow.DURABLE);

        b.crash();
        simulation.run(WHILE);

        assertThat(a.rowsOf("b")).containsOnlyKeys("durable", "both");
    }

    @Test
    void theKindOfARouteFollowsTheSessionsThatHaveIt() {
        b.subscribe("t", false);
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).containsEntry("t", RouteRow.CLEAN);
        b.subscribe("t", true);
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).containsEntry("t", RouteRow.DURABLE);
        b.unsubscribe("t", true);
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).containsEntry("t", RouteRow.CLEAN);
        assertThat(a.node().counters().repairs()).isZero();
    }

    @Test
    void nothingIsParkedForCleanSessionsOfADeadNodeHoweverMuchIsPublished() {
        b.subscribe("t", false);
        simulation.run(WHILE);
        b.crash();
        simulation.run(Duration.ofMillis(20)); // before its end is noticed by the router of a
        int[] refused = {0};
        RouteTicket ticket = new RouteTicket() {
            @Override
            public void hold() {
                // not of interest
            }

            @Override
            public void release(boolean success) {
                refused[0] += success ? 0 : 1;
            }
        };
        for (int i = 0; i < 50_000; i++) {
            a.publish("t", i, QoS.AT_LEAST_ONCE, ticket);
        }
        simulation.run(WHILE);
        for (int i = 0; i < 50_000; i++) {
            a.publish("t", i, QoS.AT_LEAST_ONCE, ticket);
        }
        simulation.run(WHILE);

        assertThat(refused[0]).isZero();
        assertThat(a.dropped(DropReason.PEER_QUEUE)).isZero();
        assertThat(a.budget().isExceeded()).isFalse();
    }

    @Test
    void routesOfCleanSessionsAreBackWhenTheSameRunIs() {
        b.subscribe("t", false);
        b.subscribe("u", true);
        simulation.run(WHILE);
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(Duration.ofSeconds(30));
        assertThat(a.rowsOf("b")).containsOnlyKeys("u");
        a.publish("t", 1, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        a.publish("u", 2, QoS.AT_LEAST_ONCE, RouteTicket.NONE);

        network.healAll();
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).isEqualTo(b.expectedRows());
        a.publish("t", 3, QoS.AT_LEAST_ONCE, RouteTicket.NONE);
        simulation.run(WHILE);

        assertThat(b.arrivals())
                .extracting(SimulatedNode.Arrival::number)
                .containsExactlyElementsOf(LongStream.of(2, 3).boxed().toList());
        assertThat(a.node().counters().repairs()).isZero();
    }

    @Test
    void routesOfCleanSessionsOfAnEarlierRunDoNotReturn() {
        b.subscribe("t", false);
        b.subscribe("again", false);
        b.subscribe("u", true);
        simulation.run(WHILE);
        b.crash();
        simulation.run(WHILE);
        b = node("b", 2);
        b.subscribe("u", true);
        b.subscribe("again", false);
        simulation.run(WHILE);

        assertThat(a.rowsOf("b")).isEqualTo(b.expectedRows()).containsOnlyKeys("u", "again");
        assertThat(a.node().counters().repairs()).isZero();
    }

    @Test
    void onlyTheStoredMembersOfAGroupStayWhenTheirNodeFails() {
        b.subscribe(CLEAN_GROUP, false);
        b.subscribe(MIXED_GROUP, false);
        b.subscribe(MIXED_GROUP, false);
        b.subscribe(MIXED_GROUP, true);
        b.subscribe(MIXED_GROUP, true);
        b.subscribe(MIXED_GROUP, true);
        simulation.run(WHILE);
        assertThat(a.membersOf("b", CLEAN_GROUP)).isOne();
        assertThat(a.membersOf("b", MIXED_GROUP)).isEqualTo(5);

        b.crash();
        simulation.run(WHILE);

        assertThat(a.rowsOf("b")).containsOnlyKeys(MIXED_GROUP);
        assertThat(a.membersOf("b", MIXED_GROUP)).isEqualTo(3);
    }

    @Test
    void aNodeWithCleanMembersOfGroupsAloneIsForgottenSoon() {
        b.subscribe(CLEAN_GROUP, false);
        simulation.run(WHILE);
        b.crash();
        simulation.run(ClusterSettings.defaults().routeTtl().plus(WHILE));
        assertThat(a.node().membership().all())
                .filteredOn(member -> member.nodeId().equals("b"))
                .allSatisfy(member -> assertThat(member.routes().size()).isZero());
    }

    @Test
    void cleanMembersOfAGroupAreBackWithTheSameRunAndNotWithTheNext() {
        b.subscribe(CLEAN_GROUP, false);
        b.subscribe(MIXED_GROUP, false);
        b.subscribe(MIXED_GROUP, true);
        simulation.run(WHILE);
        network.cut("a", "b");
        network.cut("b", "a");
        simulation.run(Duration.ofSeconds(30));
        assertThat(a.membersOf("b", MIXED_GROUP)).isOne();
        network.healAll();
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).isEqualTo(b.expectedRows()).containsOnlyKeys(CLEAN_GROUP, MIXED_GROUP);
        assertThat(a.membersOf("b", MIXED_GROUP)).isEqualTo(2);

        b.crash();
        simulation.run(WHILE);
        b = node("b", 2);
        b.subscribe(MIXED_GROUP, true);
        simulation.run(WHILE);
        assertThat(a.rowsOf("b")).isEqualTo(b.expectedRows()).containsOnlyKeys(MIXED_GROUP);
        assertThat(a.membersOf("b", MIXED_GROUP)).isOne();
        assertThat(a.node().counters().repairs()).isZero();
    }

    @Test
    void theNumberOfMembersIsBounded() {
        assertThat(members(0, 0)).containsExactly(0, 0);
        assertThat(members(7, 7)).containsExactly(7, 7);
        assertThat(members(7, 0)).containsExactly(7, 0);
        assertThat(members(100_000, 100_000)).containsExactly(1 << 15, 1 << 15);
        assertThat(members(100_000, 0)).containsExactly(0x7FFF, 0);
        assertThat(members(200_000, 100_000)).containsExactly(0xFFFF, 1 << 15);
        assertThat(new RouteRow(CLEAN_GROUP, Integer.MAX_VALUE - 0xFFFF)
                        .durable()
                        .members())
                .as("more clean members than members")
                .isZero();
    }

    private static List<Integer> members(int members, int durable) {
        RouteRow row = new RouteRow(CLEAN_GROUP, RouteRow.ofGroup(members, durable));
        return List.of(row.members(), row.durable().members());
    }
}
