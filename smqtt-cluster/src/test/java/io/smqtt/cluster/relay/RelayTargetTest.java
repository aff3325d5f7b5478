// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.spi.ClusterStatus;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which node a client of a front node gets. */
class RelayTargetTest {

    private static final int CLIENTS = 10_000;

    private static RelayTarget node(String nodeId) {
        return new RelayTarget(nodeId, 1, new InetSocketAddress("10.0.0.1", 7_802));
    }

    @Test
    void allFrontsChooseTheSameNodeAndNodesGetEqualShares() {
        List<RelayTarget> nodes = new ArrayList<>(List.of(node("a"), node("b"), node("c")));
        Map<String, Integer> shares = new HashMap<>();
        for (int i = 0; i < CLIENTS; i++) {
            List<RelayTarget> order = RelayTarget.order(nodes, "client-" + i);
            Collections.rotate(nodes, 1);
            assertThat(RelayTarget.order(nodes, "client-" + i)).isEqualTo(order).hasSize(3);
            shares.merge(order.get(0).nodeId(), 1, Integer::sum);
        }
        assertThat(shares.values()).allSatisfy(share -> assertThat(share).isBetween(3_000, 3_700));
    }

    @Test
    void withoutANodeOnlyItsClientsMoveAndToTheirSecondChoice() {
        List<RelayTarget> all = List.of(node("a"), node("b"), node("c"));
        List<RelayTarget> rest = List.of(node("a"), node("c"));
        for (int i = 0; i < CLIENTS; i++) {
            List<RelayTarget> before = RelayTarget.order(all, "client-" + i);
            RelayTarget after = RelayTarget.order(rest, "client-" + i).get(0);
            assertThat(after).isEqualTo(before.get(0).nodeId().equals("b") ? before.get(1) : before.get(0));
        }
    }

    @Test
    void onlyReachableNodesThatTakeClientsCount() {
        List<ClusterStatus.PeerStatus> peers = List.of(
                peer("a", "10.0.0.1:7802", true),
                peer("b", "", true),
                peer("c", "10.0.0.3:7802", false),
                peer("d", "[2001:db8::4]:7802", true),
                peer("e", "host-name:7802", true),
                peer("f", "10.0.0.6:99999", true));

        assertThat(RelayTarget.of(peers))
                .containsExactly(
                        new RelayTarget("a", 7, new InetSocketAddress("10.0.0.1", 7_802)),
                        new RelayTarget("d", 7, new InetSocketAddress("2001:db8::4", 7_802)));
    }

    private static ClusterStatus.PeerStatus peer(String nodeId, String relay, boolean reachable) {
        ClusterStatus.Node node = new ClusterStatus.Node(nodeId, 7, "", "", 1, 0, false, relay);
        return new ClusterStatus.PeerStatus(node, reachable, 0, 0, 0, 0, 0, Map.of());
    }
}
