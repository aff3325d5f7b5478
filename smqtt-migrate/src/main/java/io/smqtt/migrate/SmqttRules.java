// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Maps the rule chains of the former smqtt. A chain is plain if its filters come first and compare single fields ({@link SmqttPredicate}), and
 * what follows publishes to a topic or writes to the log. A part that is not plain is named; without a filter that is not plain nothing of the
 * chain is migrated, because too many messages would be forwarded.
 */
final class SmqttRules {

    private static final int MOST = 1_000;
    private static final String NO_SINK =
            "the chain ends here; add an action to the rule by hand: the types http, influxdb, jdbc, kafka, rabbitmq and redis are there, others "
                    + "need a sink of your own";

    private final SmqttKeys keys;
    private final Draft draft;
    private final Set<String> names = new HashSet<>();

    /**
     * Creates it for one file.
     *
     * @param keys its keys
     * @param draft what is written
     */
    SmqttRules(SmqttKeys keys, Draft draft) {
        this.keys = keys;
        this.draft = draft;
    }

    /** One step of a chain. */
    private record Node(
            String type,
            @Nullable OldSetting typed,
            @Nullable OldSetting argument) {}

    void write() {
        for (int i = 0; i < MOST && keys.hasSeen("rules[" + i + "]."); i++) {
            chain("rules[" + i + "]");
        }
    }

    private void chain(String key) {
        OldSetting named = keys.kept(key + ".ruleName");
        List<Node> nodes = nodes(key);
        List<String> terms = new ArrayList<>();
        int filters = 0;
        while (filters < nodes.size() && nodes.get(filters).type().equals("PREDICATE")) {
            Node filter = nodes.get(filters++);
            OldSetting script = filter.argument();
            String term = script == null ? null : SmqttPredicate.sql(script.value());
            if (term == null) {
                leave(named, nodes, "its filter is not plain; write the rule by hand (docs/rules.md)");
                return;
            }
            if (!term.isEmpty()) {
                terms.add(term.contains(" OR ") ? "(" + term + ")" : term);
            }
        }
        List<Node> actions = plain(nodes.subList(filters, nodes.size()));
        List<Node> rest = nodes.subList(filters + actions.size(), nodes.size());
        if (actions.isEmpty()) {
            leave(named, nodes, NO_SINK);
            return;
        }
        String block = "rules." + name(named);
        OldSetting from =
                filters > 0 ? nodes.get(filters - 1).argument() : actions.get(0).typed();
        if (from != null) {
            draft.set(block + ".sql", sql(terms), from);
        }
        for (int i = 0; i < actions.size(); i++) {
            action(block + ".actions.action-" + (i + 1), actions.get(i));
        }
        if (named != null) {
            draft.note(
                    named,
                    Outcome.DIFFERENT,
                    block + ": messages are published by the broker itself; a rule leaves out what it has published");
        }
        leave(null, rest, NO_SINK);
    }

    private List<Node> nodes(String key) {
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < MOST && keys.hasSeen(key + ".chain[" + i + "]."); i++) {
            String node = key + ".chain[" + i + "]";
            OldSetting type = keys.kept(node + ".ruleType");
            OldSetting script = keys.kept(node + ".script");
            nodes.add(new Node(
                    type == null ? "" : type.value().strip().toUpperCase(Locale.ROOT),
                    type,
                    script == null ? keys.kept(node + ".param") : script));
        }
        return nodes;
    }

    /** The first steps that are plain actions. */
    private static List<Node> plain(List<Node> nodes) {
        int count = 0;
        while (count < nodes.size() && isPlain(nodes.get(count))) {
            count++;
        }
        return nodes.subList(0, count);
    }

    private static boolean isPlain(Node node) {
        OldSetting argument = node.argument();
        return node.type().equals("LOG")
                || (node.type().equals("TOPIC")
                        && argument != null
                        && argument.value().matches("[^+#$\\p{Cntrl}][^+#\\p{Cntrl}]*")
                        && !argument.value().contains("${"));
    }

    private static String sql(List<String> terms) {
        String all = "SELECT topic, clientid, qos, payload FROM \"#\"";
        return terms.isEmpty() ? all : all + " WHERE " + String.join(" AND ", terms);
    }

    private void action(String block, Node node) {
        OldSetting type = node.typed();
        OldSetting argument = node.argument();
        if (type == null) {
            return;
        }
        if (node.type().equals("LOG")) {
            draft.set(block + ".type", "console", type);
            if (argument != null) {
                draft.note(argument, Outcome.NONE, "the row is logged as JSON; " + block + ".text makes another line");
            }
        } else if (argument != null) {
            draft.set(block + ".type", "republish", type);
            draft.set(block + ".topic", argument.value(), argument);
            draft.set(block + ".payload", "${payload}", argument);
            draft.set(block + ".qos", "${qos}", argument);
        }
    }

    private String name(@Nullable OldSetting named) {
        String plain = Draft.plain(named == null ? "rule" : named.value());
        String name = plain;
        for (int i = 2; !names.add(name); i++) {
            name = plain + "-" + i;
        }
        return name;
    }

    private void leave(@Nullable OldSetting named, List<Node> nodes, String why) {
        List<@Nullable OldSetting> all = new ArrayList<>();
        all.add(named);
        nodes.forEach(node -> {
            all.add(node.typed());
            all.add(node.argument());
        });
        for (OldSetting setting : all) {
            if (setting != null) {
                draft.note(setting, Outcome.NONE, why);
            }
        }
    }
}
