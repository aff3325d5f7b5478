// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.RelayRefusal;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Meters of the cluster, as one node sees it. Read when the registry is read; {@link NodeMeters} has those of each
 * node. */
final class ClusterMeters {

    private final MeterRegistry registry;
    private final Supplier<ClusterStatus> status;

    private ClusterMeters(MeterRegistry registry, Supplier<ClusterStatus> status) {
        this.registry = registry;
        this.status = status;
    }

    static void bindTo(MeterRegistry registry, Supplier<ClusterStatus> status) {
        ClusterMeters meters = new ClusterMeters(registry, status);
        meters.members();
        meters.traffic();
        meters.wills();
        meters.retained();
        meters.relay();
    }

    private void members() {
        gauge("smqtt.cluster.members", "live nodes of the cluster, this one included", ClusterStatus::reachableNodes);
        gauge(
                "smqtt.cluster.members.known",
                "known nodes, this one included",
                now -> 1 + now.peers().size());
        gauge(
                "smqtt.cluster.routes.own",
                "filters subscribed to by clients of this node, shared groups included",
                now -> now.self().routes());
        gauge(
                "smqtt.cluster.routes.remote",
                "routes of other nodes known to this node",
                sum(peer -> peer.node().routes()));
        gauge(
                "smqtt.cluster.routes.lag",
                "route changes announced by other nodes and not yet received",
                sum(PeerStatus::routeLag));
    }

    private void traffic() {
        counter(
                "smqtt.cluster.forwarded",
                "messages forwarded to other nodes, counted once per node, repetitions included",
                ClusterStatus.Traffic::forwardedMessages);
        counter(
                "smqtt.cluster.forwarded.frames",
                "frames with forwarded messages",
                ClusterStatus.Traffic::forwardedFrames);
        bytes("smqtt.cluster.forwarded.volume", "bytes of these frames", ClusterStatus.Traffic::forwardedBytes);
        bytes("smqtt.cluster.received.volume", "bytes received from other nodes", ClusterStatus.Traffic::receivedBytes);
        Gauge.builder(
                        "smqtt.cluster.received.waiting",
                        () -> status.get().traffic().waitingBytes())
                .description("bytes received from other nodes and not yet processed; bounded")
                .baseUnit("bytes")
                .register(registry);
        counter(
                "smqtt.cluster.frames.refused",
                "frames dropped because too many were waiting; the other node sends them again",
                ClusterStatus.Traffic::refusedFrames);
        counter(
                "smqtt.cluster.frames.malformed",
                "frames dropped because they are malformed",
                ClusterStatus.Traffic::malformedFrames);
        for (ClusterTransport.Refusal reason : ClusterTransport.Refusal.values()) {
            FunctionCounter.builder(
                            "smqtt.cluster.connections.refused",
                            status,
                            now -> now.get().traffic().refusedConnections(reason))
                    .description("refused connections between nodes, by reason")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
        }
        counter("smqtt.cluster.routes.pulls", "requests for missing routes", ClusterStatus.Traffic::pulls);
        counter(
                "smqtt.cluster.routes.repairs",
                "route tables that differed from their owner's; 0 in a healthy cluster",
                ClusterStatus.Traffic::repairs);
    }

    private void wills() {
        gauge(
                "smqtt.cluster.wills.own",
                "wills of this node's clients that are replicated to other nodes",
                now -> now.wills().own());
        gauge(
                "smqtt.cluster.wills",
                "wills of other nodes' clients that this node keeps in case their node fails",
                now -> now.wills().held());
        Gauge.builder("smqtt.cluster.wills.memory", () -> status.get().wills().heldBytes())
                .description("bytes of the wills kept for other nodes")
                .baseUnit("bytes")
                .register(registry);
        FunctionCounter.builder(
                        "smqtt.cluster.wills.refused",
                        status,
                        now -> now.get().wills().refused())
                .description("wills of this node's clients that no other node keeps, because there were too many")
                .register(registry);
    }

    private void relay() {
        gauge(
                "smqtt.cluster.relay.connections",
                "relayed connections: of a front node those of its clients, of another node those that it has taken",
                now -> now.relay().connections());
        gauge(
                "smqtt.cluster.relay.waiting",
                "clients of a front node for which a node is being found",
                now -> now.relay().waiting());
        FunctionCounter.builder(
                        "smqtt.cluster.relay.opened",
                        status,
                        now -> now.get().relay().opened())
                .description("connections that were relayed, or taken from a front node")
                .register(registry);
        for (RelayRefusal reason : RelayRefusal.values()) {
            FunctionCounter.builder(
                            "smqtt.cluster.relay.refused",
                            status,
                            now -> now.get().relay().refused(reason))
                    .description("connections that were not relayed, or not taken from a front node, by reason")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
        }
    }

    private void retained() {
        gauge(
                "smqtt.cluster.retained.refused",
                "retained messages of other nodes that this node's limits refuse",
                now -> now.retained().refused());
        gauge(
                "smqtt.cluster.retained.comparing",
                "topic partitions, of 256, whose retained messages are not yet compared with other nodes",
                now -> now.retained().comparing());
        FunctionCounter.builder(
                        "smqtt.cluster.retained.compared",
                        status,
                        now -> now.get().retained().compared())
                .description("topic partitions whose retained messages differed from another node's and were compared")
                .register(registry);
        gauge(
                "smqtt.cluster.retained.cleared",
                "topics whose retained message was removed or expired, remembered for 24 hours",
                now -> now.retained().cleared());
        Gauge.builder(
                        "smqtt.cluster.retained.cleared.memory",
                        () -> status.get().retained().clearedBytes())
                .description("estimated bytes of these topics")
                .baseUnit("bytes")
                .register(registry);
        FunctionCounter.builder(
                        "smqtt.cluster.retained.forgotten",
                        status,
                        now -> now.get().retained().forgotten())
                .description("removed topics forgotten in less than 24 hours, because there were too many")
                .register(registry);
        FunctionCounter.builder(
                        "smqtt.cluster.retained.unawaited",
                        status,
                        now -> now.get().retained().unawaited())
                .description(
                        "changes of retained messages acknowledged before all reachable nodes had them, because too many waited for one")
                .register(registry);
    }

    private static ToDoubleFunction<ClusterStatus> sum(ToLongFunction<PeerStatus> value) {
        return now -> now.peers().stream().mapToLong(value).sum();
    }

    private void gauge(String name, String description, ToDoubleFunction<ClusterStatus> value) {
        Gauge.builder(name, () -> value.applyAsDouble(status.get()))
                .description(description)
                .register(registry);
    }

    private void counter(String name, String description, ToLongFunction<ClusterStatus.Traffic> value) {
        FunctionCounter.builder(name, status, now -> value.applyAsLong(now.get().traffic()))
                .description(description)
                .register(registry);
    }

    private void bytes(String name, String description, ToLongFunction<ClusterStatus.Traffic> value) {
        FunctionCounter.builder(name, status, now -> value.applyAsLong(now.get().traffic()))
                .description(description)
                .baseUnit("bytes")
                .register(registry);
    }
}
