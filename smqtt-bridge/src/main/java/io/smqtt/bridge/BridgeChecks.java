// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.smqtt.config.BridgeAddress;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.config.BrokerConfig;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** What can be said about bridges without connecting them: rules between several bridges, and between bridges and the cluster. */
final class BridgeChecks {

    private BridgeChecks() {}

    /** The problems, one sentence each, which begins with a key. */
    static List<String> problems(BrokerConfig config) {
        List<String> problems = new ArrayList<>();
        Map<String, BridgeConfig> bridges = new TreeMap<>(config.bridges());
        List<String> seen = new ArrayList<>();
        bridges.forEach((name, bridge) -> {
            if (config.cluster().enabled()
                    && !bridge.isEach()
                    && bridge.clientId().isEmpty()) {
                problems.add(
                        key(name, "client-id")
                                + " must be set in a cluster, so that the session at the other broker does not depend on the node");
            }
            checkConnections(name, bridge, problems);
            for (String other : seen) {
                BridgeConfig before = bridges.get(other);
                if (before != null) {
                    compare(name, bridge, other, before, problems);
                }
            }
            seen.add(name);
        });
        return problems;
    }

    private static void checkConnections(String name, BridgeConfig bridge, List<String> problems) {
        if (bridge.connections() == 1) {
            return;
        }
        List<BridgeTopic> topics = bridge.parsedTopics();
        for (BridgeTopic out : topics) {
            for (BridgeTopic in : topics) {
                if (out.out() && in.in() && circles(out, in)) {
                    problems.add(key(name, "connections") + " must be 1 for " + out.local()
                            + ", which goes out and comes in as " + in.local()
                            + ": what one connection sends would come back by another one");
                    return;
                }
            }
        }
    }

    /** Whether what goes out may come in again, or the other way round, as far as filters tell it. */
    private static boolean circles(BridgeTopic out, BridgeTopic in) {
        boolean here = in.template() == null && overlap(out.local(), in.local());
        return here || out.template() == null && overlap(out.remote(), in.remote());
    }

    private static String key(String name, String setting) {
        return "bridges." + name + "." + setting;
    }

    private static void compare(
            String name, BridgeConfig bridge, String other, BridgeConfig before, List<String> problems) {
        List<String> addresses =
                before.parsedAddresses().stream().map(BridgeAddress::text).toList();
        String common = bridge.parsedAddresses().stream()
                .map(BridgeAddress::text)
                .filter(addresses::contains)
                .findFirst()
                .orElse(null);
        if (common == null) {
            return;
        }
        if (sameClientId(bridge, before)) {
            problems.add(key(name, "client-id") + " is also that of " + key(other, "client-id") + ": " + common
                    + " would end one connection for the other");
        }
        for (BridgeTopic topic : bridge.parsedTopics()) {
            for (BridgeTopic earlier : before.parsedTopics()) {
                boolean both = topic.out() && topic.in() && earlier.out() && earlier.in();
                if (both && overlap(topic.local(), earlier.local())) {
                    problems.add(key(name, "topics") + " has " + topic.local() + " in both directions, and so has "
                            + key(other, "topics") + ": messages would go twice to " + common + ", and in circles");
                    return;
                }
            }
        }
    }

    private static boolean sameClientId(BridgeConfig one, BridgeConfig other) {
        if (one.clientId().isEmpty() || other.clientId().isEmpty()) {
            return false;
        }
        Set<String> ids = clientIds(one);
        ids.retainAll(clientIds(other));
        return !ids.isEmpty();
    }

    private static Set<String> clientIds(BridgeConfig bridge) {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < bridge.connections(); i++) {
            ids.add(Bridge.clientId(bridge.clientId(), i));
        }
        return ids;
    }

    /** Whether there is a topic that both filters match. */
    static boolean overlap(TopicFilter one, TopicFilter other) {
        String[] first = one.value().split("/", -1);
        String[] second = other.value().split("/", -1);
        for (int i = 0; i < first.length && i < second.length; i++) {
            if (first[i].equals("#") || second[i].equals("#")) {
                return true;
            }
            if (!first[i].equals("+") && !second[i].equals("+") && !first[i].equals(second[i])) {
                return false;
            }
        }
        String[] longer = first.length > second.length ? first : second;
        int shorter = Math.min(first.length, second.length);
        return first.length == second.length || longer.length == shorter + 1 && longer[shorter].equals("#");
    }
}
