// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.rule;

import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The states and counts of the actions of rules on all nodes that have answered: by node, rule and action. */
@AnyThread
final class ActionStates {

    private static final String STATUS = "status";
    private static final String REASON = "status_reason";
    private static final String METRICS = "metrics";
    private static final String CONNECTED = "connected";

    private final NodeCalls.Answers answers;

    ActionStates(NodeCalls.Answers answers) {
        this.answers = answers;
    }

    /**
     * The answer of one node: rule, then action, then its counts, and {@code status_reason} while it fails.
     *
     * @param rules those of this node
     * @return for JSON
     */
    static Map<String, Object> told(List<RuleStatus> rules) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (RuleStatus rule : rules) {
            Map<String, Object> actions = new LinkedHashMap<>();
            rule.actions().forEach(action -> actions.put(action.name(), told(action)));
            all.put(rule.name(), actions);
        }
        return all;
    }

    private static Map<String, Object> told(RuleStatus.Action action) {
        RuleStatus.Counts counts = action.counts();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("received", counts.received());
        all.put("pending", counts.pending());
        all.put("matched", counts.matched());
        all.put("no_result", counts.noResult());
        all.put("exception", counts.failed());
        all.put("loops", counts.loops());
        all.put("success", counts.success());
        all.put("dead", counts.dead());
        all.put("dropped", counts.dropped());
        all.put("queued", counts.queued());
        all.put("retried", counts.retried());
        all.put("waiting", counts.waiting());
        all.put("queue_dropped", counts.queueDropped());
        if (action.lastError() != null) {
            all.put(REASON, action.lastError());
        }
        return all;
    }

    /** An action on one node: its counts, and why it fails. */
    private record OnNode(
            String node, Map<String, Long> counts, @Nullable String reason) {

        String status() {
            return reason == null ? CONNECTED : "disconnected";
        }

        Map<String, Object> fields() {
            Map<String, Object> all = new LinkedHashMap<>();
            all.put("node", node);
            all.put(STATUS, status());
            if (reason != null) {
                all.put(REASON, reason);
            }
            all.put(METRICS, counts);
            return all;
        }
    }

    private List<OnNode> nodes(String rule, String action) {
        List<OnNode> nodes = new ArrayList<>();
        answers.byNode().forEach((node, rules) -> {
            if (rules.get(rule) instanceof Map<?, ?> actions && actions.get(action) instanceof Map<?, ?> found) {
                Map<String, Long> counts = new LinkedHashMap<>();
                found.forEach((name, value) -> {
                    if (value instanceof Number number) {
                        counts.put(String.valueOf(name), number.longValue());
                    }
                });
                Object reason = found.get(REASON);
                nodes.add(new OnNode(node, counts, reason == null ? null : String.valueOf(reason)));
            }
        });
        return nodes;
    }

    /**
     * The counts of an action, added over all nodes.
     *
     * @param rule the name of the rule
     * @param action the name of the action
     * @return by name; empty if no node has it
     */
    Map<String, Long> sums(String rule, String action) {
        return sums(nodes(rule, action));
    }

    private static Map<String, Long> sums(List<OnNode> nodes) {
        Map<String, Long> sums = new LinkedHashMap<>();
        nodes.forEach(node -> node.counts().forEach((name, count) -> sums.merge(name, count, Long::sum)));
        return sums;
    }

    /**
     * An action over all nodes: the state of all, {@code inconsistent} if they differ, or {@code stopped} if no node has it; the reason of the first
     * node that has one; the sums; and each node.
     *
     * @param rule the name of the rule
     * @param action the name of the action
     * @return the fields, for JSON
     */
    Map<String, Object> of(String rule, String action) {
        List<OnNode> nodes = nodes(rule, action);
        TreeSet<String> states = new TreeSet<>();
        nodes.forEach(node -> states.add(node.status()));
        Map<String, Object> all = new LinkedHashMap<>();
        all.put(STATUS, states.isEmpty() ? "stopped" : states.size() == 1 ? states.first() : "inconsistent");
        nodes.stream()
                .filter(node -> node.reason() != null)
                .findFirst()
                .ifPresent(node -> all.put(REASON, String.valueOf(node.reason())));
        all.put(METRICS, sums(nodes));
        all.put("node_status", nodes.stream().map(OnNode::fields).toList());
        return all;
    }
}
