// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.spi.DropReason;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Meters of each other node of the cluster, with its name as a tag: only of the nodes that are known now, of which there are at most 1,000. What was
 * dropped for nodes that are forgotten is counted with {@value #FORGOTTEN} instead of a name.
 */
@AnyThread
final class NodeMeters {

    private static final String FORGOTTEN = "(forgotten)";

    /** The reasons of drops for other nodes. */
    private static final List<DropReason> REASONS =
            List.of(DropReason.PEER_QUEUE, DropReason.PEER_GONE, DropReason.EXPIRED, DropReason.FAILED);

    private final MeterRegistry registry;
    private final Supplier<ClusterStatus> status;

    /** The meters of each node; guarded by this. */
    private final Map<String, List<Meter>> nodes = new HashMap<>();

    private volatile Map<String, PeerStatus> peers = Map.of();
    private volatile Map<DropReason, Long> forgotten = Map.of();

    NodeMeters(MeterRegistry registry, Supplier<ClusterStatus> status) {
        this.registry = registry;
        this.status = status;
        for (DropReason reason : REASONS) {
            dropped(FORGOTTEN, reason, () -> forgotten);
        }
    }

    /** Reads all values. Adds the meters of nodes that are known now, and removes those of nodes that are forgotten. */
    synchronized void refresh() {
        ClusterStatus now = status.get();
        Map<String, PeerStatus> known = new HashMap<>();
        now.peers().forEach(peer -> known.put(peer.node().nodeId(), peer));
        peers = known;
        forgotten = now.droppedForForgotten();
        known.keySet().forEach(node -> nodes.computeIfAbsent(node, this::register));
        nodes.entrySet().removeIf(entry -> {
            boolean forgotten = !known.containsKey(entry.getKey());
            if (forgotten) {
                entry.getValue().forEach(registry::remove);
            }
            return forgotten;
        });
    }

    private List<Meter> register(String node) {
        List<Meter> all = new ArrayList<>();
        all.add(gauge(
                        "smqtt.cluster.queue",
                        "messages that wait for another node or are in flight to it",
                        node,
                        PeerStatus::queuedMessages)
                .register(registry));
        all.add(gauge(
                        "smqtt.cluster.queue.memory",
                        "bytes of the messages that wait for another node",
                        node,
                        PeerStatus::queuedBytes)
                .baseUnit("bytes")
                .register(registry));
        all.add(gauge(
                        "smqtt.cluster.parked",
                        "messages that wait for an unreachable node to return",
                        node,
                        PeerStatus::parkedMessages)
                .register(registry));
        for (DropReason reason : REASONS) {
            all.add(dropped(node, reason, () -> {
                PeerStatus peer = peers.get(node);
                return peer == null ? Map.of() : peer.droppedMessages();
            }));
        }
        return all;
    }

    private Gauge.Builder<?> gauge(String name, String description, String node, ToDoubleFunction<PeerStatus> value) {
        return Gauge.builder(name, () -> {
                    PeerStatus peer = peers.get(node);
                    return peer == null ? 0 : value.applyAsDouble(peer);
                })
                .description(description)
                .tag("node", node);
    }

    private Meter dropped(String node, DropReason reason, Supplier<Map<DropReason, Long>> counts) {
        return FunctionCounter.builder( // refers to its object weakly
                        "smqtt.cluster.dropped", this, meters -> counts.get().getOrDefault(reason, 0L))
                .description("messages for another node that were dropped, also counted in smqtt.messages.dropped")
                .tag("node", node)
                .tag("reason", Tagged.of(reason))
                .register(registry);
    }
}
