// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import io.smqtt.spi.ClusterStatus.Node;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.spi.ClusterStatus.State;
import io.smqtt.spi.ClusterTransport.Refusal;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** A cluster as one of its nodes sees it, for tests of what shows it. */
public final class SampleCluster {

    private SampleCluster() {}

    /** Two nodes together, and one that is gone. */
    public static ClusterStatus three() {
        return three(State.JOINED);
    }

    /** The same in a state. */
    public static ClusterStatus three(State state) {
        return status(state, 0);
    }

    /** The same with a wanted number of nodes. */
    public static ClusterStatus status(State state, int minMembers) {
        return new ClusterStatus(
                state,
                new Node("n1", 1, "10.0.0.1:7800", "0.1.0", 1, 7),
                minMembers,
                List.of(
                        new PeerStatus(
                                new Node("n2", 2, "10.0.0.2:7800", "0.1.0", 2, 100), true, 3, 400, 5, 640, 0, Map.of()),
                        new PeerStatus(
                                new Node("n\"3", 3, "", "", 0, 20),
                                false,
                                0,
                                90_000,
                                9,
                                900,
                                9,
                                Map.of(DropReason.PEER_QUEUE, 6L, DropReason.EXPIRED, 1L))),
                new ClusterStatus.Traffic(1_000, 10, 99_000, 12_345, 777, 3, 1, 2, 0, refusals()),
                new ClusterStatus.Wills(20_000, 11, 4_711, 7),
                new ClusterStatus.Retained(8, 2_100, 4, 3, 2, 40, 6),
                Map.of(DropReason.PEER_GONE, 30L),
                new ClusterStatus.Relay(40, 2, 90, Map.of(RelayRefusal.NO_NODE, 3L, RelayRefusal.BUSY, 1L)));
    }

    /** Connections that were refused, by reason. */
    public static Map<Refusal, Long> refusals() {
        Map<Refusal, Long> refusals = new EnumMap<>(Refusal.class);
        for (Refusal reason : Refusal.values()) {
            refusals.put(reason, 0L);
        }
        refusals.put(Refusal.AUTHENTICATION, 12L);
        refusals.put(Refusal.FRAME, 1L);
        return refusals;
    }
}
