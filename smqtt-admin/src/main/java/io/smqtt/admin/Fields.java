// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.Explanation;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.spi.ClusterTransport;
import io.smqtt.spi.DropReason;
import io.smqtt.spi.HealthReport;
import io.smqtt.spi.RelayRefusal;
import io.smqtt.spi.ReplicaStatus;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Field names and values of explanations, health checks and the state of the cluster, in their order.
 * Values are texts, numbers, booleans, lists, maps, and null where there is no value, so that any JSON library can write them.
 */
public final class Fields {

    private Fields() {}

    /**
     * Returns the fields of an answer that may be truncated.
     *
     * @param bounded the answer
     * @param fields returns the fields of the answer itself
     * @param <T> type of the answer
     * @return these fields, whether the answer is truncated, and the number of missing entries if so
     */
    public static <T> Map<String, @Nullable Object> of(
            Bounded<T> bounded, Function<? super T, Map<String, @Nullable Object>> fields) {
        Map<String, @Nullable Object> all = fields.apply(bounded.answer());
        all.put("truncated", !bounded.leftOut().isEmpty());
        if (!bounded.leftOut().isEmpty()) {
            all.put("leftOut", bounded.leftOut());
        }
        return all;
    }

    /**
     * Returns the fields of an explanation.
     *
     * @param explanation the explanation
     * @return its fields
     */
    public static Map<String, @Nullable Object> of(Explanation explanation) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("topic", explanation.topic());
        all.put("clientId", explanation.clientId());
        all.put("publish", explanation.publish().name());
        all.put("retained", explanation.retained());
        all.put("filters", explanation.filters().stream().map(Fields::of).toList());
        all.put("receivers", explanation.receivers().stream().map(Fields::of).toList());
        all.put("groups", explanation.groups().stream().map(Fields::of).toList());
        all.put("nodes", explanation.nodes());
        all.put("moreReceivers", explanation.moreReceivers());
        return all;
    }

    private static Map<String, @Nullable Object> of(Explanation.FilterMatch match) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("filter", match.filter());
        all.put("path", match.path());
        all.put("subscribers", match.subscribers());
        return all;
    }

    private static Map<String, @Nullable Object> of(Explanation.Receiver receiver) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("id", receiver.id());
        all.put("filters", receiver.filters());
        all.put("qos", receiver.maximumQos().level());
        all.put("online", receiver.online());
        all.put("receive", receiver.receive().name());
        all.put("inFlight", receiver.inFlight());
        all.put("queued", receiver.queued());
        all.put("outcome", receiver.outcome().name());
        all.put("reason", receiver.reason() == null ? null : receiver.reason().name());
        return all;
    }

    private static Map<String, @Nullable Object> of(Explanation.Group group) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("name", group.name());
        all.put("filter", group.filter());
        all.put("members", group.members());
        all.put("online", group.online());
        return all;
    }

    /**
     * Returns the fields of a health check.
     *
     * @param report the result
     * @return {@code status}, which is {@code up} or {@code down}, and one field per check
     */
    public static Map<String, @Nullable Object> of(HealthReport report) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("status", report.up() ? "up" : "down");
        all.putAll(report.checks());
        return all;
    }

    /**
     * Returns the fields of a cluster, named with hyphens.
     *
     * @param status the state that this node sees
     * @return its fields
     */
    public static Map<String, @Nullable Object> of(ClusterStatus status) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("state", lowerCase(status.state()));
        all.put("ready", status.isReady());
        all.put("min-members", status.minMembers());
        all.put("self", of(status.self()));
        all.put("peers", status.peers().stream().map(Fields::of).toList());
        all.put("traffic", of(status.traffic()));
        Map<String, @Nullable Object> wills = new LinkedHashMap<>();
        wills.put("own", status.wills().own());
        wills.put("held", status.wills().held());
        wills.put("held-bytes", status.wills().heldBytes());
        wills.put("refused", status.wills().refused());
        all.put("wills", wills);
        Map<String, @Nullable Object> retained = new LinkedHashMap<>();
        retained.put("refused", status.retained().refused());
        retained.put("comparing", status.retained().comparing());
        retained.put("compared", status.retained().compared());
        retained.put("cleared", status.retained().cleared());
        retained.put("cleared-bytes", status.retained().clearedBytes());
        retained.put("forgotten", status.retained().forgotten());
        all.put("retained", retained);
        all.put("dropped-for-forgotten", dropped(status.droppedForForgotten()));
        Map<String, @Nullable Object> relay = new LinkedHashMap<>();
        relay.put("connections", status.relay().connections());
        relay.put("waiting", status.relay().waiting());
        relay.put("opened", status.relay().opened());
        Map<String, Long> refused = new LinkedHashMap<>();
        for (RelayRefusal reason : RelayRefusal.values()) {
            refused.put(lowerCase(reason), status.relay().refused(reason));
        }
        relay.put("refused", refused);
        all.put("relay", relay);
        return all;
    }

    /**
     * Returns the fields of the replicas of one node's store, named with hyphens.
     *
     * @param replica the state that this node sees
     * @return its fields
     */
    public static Map<String, @Nullable Object> of(ReplicaStatus replica) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("home", replica.home());
        all.put("members", replica.members());
        all.put("connected", replica.connected());
        all.put("leader", replica.leader());
        all.put("serves", replica.serves());
        all.put("server", replica.server());
        all.put("voter", replica.voter());
        all.put("term", replica.term());
        all.put("last-entry", replica.lastEntry());
        all.put("committed-entry", replica.committedEntry());
        all.put("log-bytes", replica.logBytes());
        all.put("waiting-entries", replica.waitingEntries());
        all.put("since-commit-millis", replica.sinceCommitMillis());
        all.put("sent-bytes", replica.sentBytes());
        all.put("received-bytes", replica.receivedBytes());
        all.put("refused-messages", replica.refusedMessages());
        Map<String, @Nullable Object> behind = new TreeMap<>();
        replica.behind().forEach((member, lag) -> behind.put(member, of(lag)));
        all.put("behind", behind);
        all.put("failure", replica.failure());
        return all;
    }

    private static Map<String, @Nullable Object> of(ReplicaStatus.Lag lag) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("entries", lag.entries());
        all.put("bytes", lag.bytes());
        return all;
    }

    private static Map<String, @Nullable Object> of(ClusterStatus.Node node) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("node-id", node.nodeId());
        all.put("epoch", node.epoch());
        all.put("address", node.address());
        all.put("version", node.version());
        all.put("weight", node.weight());
        all.put("routes", node.routes());
        all.put("role", node.front() ? "front" : "full");
        all.put("relay", node.relay());
        return all;
    }

    private static Map<String, @Nullable Object> of(ClusterStatus.PeerStatus peer) {
        Map<String, @Nullable Object> all = of(peer.node());
        all.put("reachable", peer.reachable());
        all.put("route-lag", peer.routeLag());
        all.put("heard-ms", peer.heardMillis());
        all.put("queued-messages", peer.queuedMessages());
        all.put("queued-bytes", peer.queuedBytes());
        all.put("parked-messages", peer.parkedMessages());
        all.put("dropped-messages", dropped(peer.droppedMessages()));
        return all;
    }

    private static Map<String, Long> dropped(Map<DropReason, Long> counts) {
        Map<String, Long> all = new TreeMap<>();
        counts.forEach((reason, count) -> all.put(lowerCase(reason), count));
        return all;
    }

    private static Map<String, @Nullable Object> of(ClusterStatus.Traffic traffic) {
        Map<String, @Nullable Object> all = new LinkedHashMap<>();
        all.put("forwarded-messages", traffic.forwardedMessages());
        all.put("forwarded-frames", traffic.forwardedFrames());
        all.put("forwarded-bytes", traffic.forwardedBytes());
        all.put("received-bytes", traffic.receivedBytes());
        all.put("waiting-bytes", traffic.waitingBytes());
        all.put("refused-frames", traffic.refusedFrames());
        all.put("malformed-frames", traffic.malformedFrames());
        all.put("pulls", traffic.pulls());
        all.put("repairs", traffic.repairs());
        Map<String, Long> refused = new LinkedHashMap<>();
        for (ClusterTransport.Refusal reason : ClusterTransport.Refusal.values()) {
            refused.put(lowerCase(reason), traffic.refusedConnections(reason));
        }
        all.put("refused-connections", refused);
        return all;
    }

    static String lowerCase(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
