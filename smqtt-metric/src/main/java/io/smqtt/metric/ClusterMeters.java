// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterStatus.PeerStatus;
import io.smqtt.spi.ClusterTransport;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** Meters of the cluster, as one node sees it. Read when the registry is asked; the names of nodes are no tags. */
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
        meters.queues();
        meters.traffic();
        meters.wills();
        meters.retained();
    }

    private void members() {
        gauge("smqtt.cluster.members", "nodes that work together, this one included", ClusterStatus::reachableNodes);
        gauge(
                "smqtt.cluster.members.known",
                "nodes that are known, this one included",
                now -> 1 + now.peers().size());
        gauge(
                "smqtt.cluster.routes.own",
                "filters, shared groups included, that clients of this node have subscribed to",
                now -> now.self().routes());
        gauge(
                "smqtt.cluster.routes.remote",
                "routes of other nodes that are known here",
                sum(peer -> peer.node().routes()));
        gauge(
                "smqtt.cluster.routes.lag",
                "changes of routes that other nodes have told of and that are not known here",
                sum(PeerStatus::routeLag));
    }

    private void queues() {
        gauge(
                "smqtt.cluster.queue",
                "messages that wait for other nodes or are on their way to them",
                sum(PeerStatus::queuedMessages));
        Gauge.builder(
                        "smqtt.cluster.queue.memory",
                        () -> sum(PeerStatus::queuedBytes).applyAsDouble(status.get()))
                .description("what these hold")
                .baseUnit("bytes")
                .register(registry);
        gauge(
                "smqtt.cluster.parked",
                "messages that wait for the return of a node that cannot be reached",
                sum(PeerStatus::parkedMessages));
    }

    private void traffic() {
        counter(
                "smqtt.cluster.forwarded",
                "messages sent to other nodes, once for each, repetitions included",
                ClusterStatus.Traffic::forwardedMessages);
        counter(
                "smqtt.cluster.forwarded.frames",
                "frames that they were sent in",
                ClusterStatus.Traffic::forwardedFrames);
        bytes("smqtt.cluster.forwarded.volume", "what these frames held", ClusterStatus.Traffic::forwardedBytes);
        bytes("smqtt.cluster.received.volume", "all that other nodes have sent", ClusterStatus.Traffic::receivedBytes);
        Gauge.builder(
                        "smqtt.cluster.received.waiting",
                        () -> status.get().traffic().waitingBytes())
                .description("what has come of other nodes and was not looked at yet; bounded")
                .baseUnit("bytes")
                .register(registry);
        counter(
                "smqtt.cluster.frames.refused",
                "frames that were thrown away because too much waited; they are said again",
                ClusterStatus.Traffic::refusedFrames);
        counter(
                "smqtt.cluster.frames.malformed",
                "frames that were thrown away because they cannot be understood",
                ClusterStatus.Traffic::malformedFrames);
        for (ClusterTransport.Refusal reason : ClusterTransport.Refusal.values()) {
            FunctionCounter.builder(
                            "smqtt.cluster.connections.refused",
                            status,
                            now -> now.get().traffic().refusedConnections(reason))
                    .description("connections between nodes that were refused, by what was wrong")
                    .tag("reason", Tagged.of(reason))
                    .register(registry);
        }
        counter("smqtt.cluster.routes.pulls", "questions for missing routes", ClusterStatus.Traffic::pulls);
        counter(
                "smqtt.cluster.routes.repairs",
                "tables of routes that were not what their owner said; 0 in a healthy cluster",
                ClusterStatus.Traffic::repairs);
    }

    private void wills() {
        gauge(
                "smqtt.cluster.wills.own",
                "wills of this node's clients that other nodes are to keep, should this one die",
                now -> now.wills().own());
        gauge(
                "smqtt.cluster.wills",
                "wills of other nodes' clients that are kept here, should their node die",
                now -> now.wills().held());
        Gauge.builder("smqtt.cluster.wills.memory", () -> status.get().wills().heldBytes())
                .description("what these hold")
                .baseUnit("bytes")
                .register(registry);
        FunctionCounter.builder(
                        "smqtt.cluster.wills.refused",
                        status,
                        now -> now.get().wills().refused())
                .description("wills of this node's clients that no other node keeps, since there were too many")
                .register(registry);
    }

    private void retained() {
        gauge(
                "smqtt.cluster.retained.refused",
                "retained messages that other nodes have and the limits of this one do not allow",
                now -> now.retained().refused());
        gauge(
                "smqtt.cluster.retained.comparing",
                "parts of the topics, of 256, whose retained messages are still to be compared with other nodes",
                now -> now.retained().comparing());
        FunctionCounter.builder(
                        "smqtt.cluster.retained.compared",
                        status,
                        now -> now.get().retained().compared())
                .description(
                        "parts of the topics whose retained messages were compared with another node, because they differed")
                .register(registry);
        gauge(
                "smqtt.cluster.retained.cleared",
                "topics whose retained message was removed or has expired, remembered for 24 hours",
                now -> now.retained().cleared());
        Gauge.builder(
                        "smqtt.cluster.retained.cleared.memory",
                        () -> status.get().retained().clearedBytes())
                .description("about what these take")
                .baseUnit("bytes")
                .register(registry);
        FunctionCounter.builder(
                        "smqtt.cluster.retained.forgotten",
                        status,
                        now -> now.get().retained().forgotten())
                .description("topics of that kind that were forgotten before their time, because there were too many")
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
