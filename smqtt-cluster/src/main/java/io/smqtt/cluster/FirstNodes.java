// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ReplicaStatus;
import io.smqtt.spi.Replicas;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The other nodes at the start of this one, which accepts no clients before it knows where their messages go. With replicas it knows more nodes than the
 * channel of the cluster has found so far: those that are connected with replicas are awaited, and for those that are away, and have sessions, all messages
 * are parked, because their routes are not known, or may have changed while this node was away.
 */
@OnClusterLoop
final class FirstNodes {

    private static final Duration LONGEST = Duration.ofSeconds(5);

    /** A channel that a node has opened alone, because the others have not answered in time, merges with theirs within this time. */
    private static final Duration LONGEST_WITH_REPLICAS = Duration.ofSeconds(30);

    private final String self;
    private final @Nullable Replicas replicas;
    private final ClusterNode node;

    /**
     * Creates it for a start.
     *
     * @param self the name of this node
     * @param replicas of this node; null if it has none
     */
    FirstNodes(String self, @Nullable Replicas replicas, ClusterNode node) {
        this.self = self;
        this.replicas = replicas;
        this.node = node;
    }

    /** The start continues after this time, whatever is known. */
    Duration longest() {
        return replicas == null ? LONGEST : LONGEST_WITH_REPLICAS;
    }

    /** Whether the routes of all nodes that are connected are known. */
    boolean areKnown() {
        return node.membership().knowsAllRoutes() && node.membership().reachesAll(connected());
    }

    private Set<String> connected() {
        Set<String> names = new HashSet<>();
        Replicas present = replicas;
        if (present != null) {
            present.status().forEach(status -> names.addAll(status.connected()));
        }
        names.remove(self);
        return names;
    }

    /** From now on messages are parked for nodes that are away, and whose stores have been served. What they have kept for this one is expected. */
    void keepForOthers() {
        Replicas present = replicas;
        if (present == null) {
            return;
        }
        Set<String> away = new HashSet<>();
        for (ReplicaStatus status : present.status()) {
            if (status.server() != null && isAway(status.home())) {
                away.add(status.home());
                node.membership().mayWantAll(status.home(), node.nanoTime());
            }
        }
        node.clients().servers().kept().started(away);
    }

    private boolean isAway(String nodeId) {
        Member member = node.membership().find(nodeId);
        return !nodeId.equals(node.self().nodeId()) && (member == null || !member.isReachable());
    }
}
