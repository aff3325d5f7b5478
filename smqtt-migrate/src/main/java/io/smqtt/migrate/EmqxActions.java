// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rules of EMQX as {@code rules.<name>}: the statement is the same, and each action with its connector becomes one action here. A rule of which no action can be
 * written is left out, and so is an action that cannot be written.
 */
final class EmqxActions {

    private static final String LEFT = "no rule that is written uses it";

    private final Draft draft;
    private final EmqxKeys keys;
    private final EmqxBridges bridges;
    private final EmqxSinks sinks;
    private final Set<String> used = new HashSet<>();

    EmqxActions(Draft draft, EmqxKeys keys, EmqxPaths paths, EmqxBridges bridges) {
        this.draft = draft;
        this.keys = keys;
        this.bridges = bridges;
        this.sinks = new EmqxSinks(draft, keys, paths);
    }

    /** Writes all rules that are no topics of bridges. */
    void complete() {
        Set<String> names = new HashSet<>();
        for (String block : keys.blocks("rule_engine.rules")) {
            if (!bridges.uses(block)) {
                String reason = rule(block, unique(names, Draft.plain(EmqxKeys.name(block))));
                if (reason != null) {
                    left(block, reason);
                }
            }
        }
        for (String type : EmqxKeys.SINKS) {
            for (String kind : List.of("connectors.", "actions.")) {
                keys.blocks(kind + type).stream()
                        .filter(block -> !used.contains(block))
                        .forEach(block -> left(block, LEFT));
            }
        }
    }

    private static String unique(Set<String> names, String plain) {
        String name = plain;
        for (int i = 2; !names.add(name); i++) {
            name = plain + "-" + i;
        }
        return name;
    }

    /** Writes a rule. Returns why it is left out, or null. */
    private @Nullable String rule(String block, String name) {
        OldSetting sql = keys.get(block + ".sql");
        EmqxSelect select = sql == null ? null : EmqxSelect.of(sql.value());
        if (sql == null || select == null) {
            return "it has no statement SELECT or FOREACH … FROM …";
        }
        if (select.readsSources()) {
            return "it reads a source of EMQX; write sources.<name>, and let the rule read its topic";
        }
        String prefix = "rules." + name + ".";
        Set<String> names = new HashSet<>();
        boolean any = false;
        for (Action action : actions(block)) {
            String ours = prefix + "actions." + unique(names, Draft.plain(action.name())) + ".";
            String reason = write(ours, action, select);
            if (reason == null) {
                any = true;
            } else {
                draft.dropBelow(ours);
                draft.note(action.from(), Outcome.NONE, reason);
            }
        }
        if (!any) {
            return "it has no action that can be written: the types are " + String.join(", ", EmqxKeys.SINKS)
                    + ", republish and console";
        }
        draft.set(prefix + "sql", sql.value().strip(), sql);
        OldSetting description = keys.get(block + ".description");
        if (description != null) {
            draft.set(
                    prefix + "description",
                    description.value().replaceAll("\\s+", " ").strip(),
                    description);
        }
        if (!keys.isOn(block)) {
            OldSetting off = keys.get(block + ".enable");
            draft.set(prefix + "enabled", "false", off == null ? sql : off);
        }
        return null;
    }

    /**
     * An action of a rule.
     *
     * @param type the type of the sink, or the function
     * @param path the keys of the action, or of the function's arguments
     */
    private record Action(OldSetting from, String type, String name, String path, boolean function) {}

    private List<Action> actions(String block) {
        List<Action> all = new ArrayList<>();
        String list = block + ".actions";
        OldSetting plain = keys.get(list);
        if (plain != null) {
            for (String named : plain.value().split(",", -1)) {
                add(all, plain, named.strip());
            }
        }
        for (int i = 0; keys.has(list + "[" + i + "]") || keys.hasBelow(list + "[" + i + "]."); i++) {
            String key = list + "[" + i + "]";
            OldSetting named = keys.get(key);
            OldSetting function = keys.get(key + ".function");
            if (named != null) {
                add(all, named, named.value().strip());
            } else if (function != null) {
                String type = function.value().strip();
                all.add(new Action(function, type, type, key + ".args", true));
            }
        }
        return all;
    }

    private static void add(List<Action> all, OldSetting from, String named) {
        int colon = named.indexOf(':');
        if (colon > 0) {
            String type = named.substring(0, colon);
            String name = named.substring(colon + 1);
            all.add(new Action(from, type, type + "-" + name, "actions." + type + "." + name, false));
        }
    }

    private @Nullable String write(String ours, Action action, EmqxSelect select) {
        if (action.function()) {
            return sinks.function(ours, action.from(), action.type(), action.path(), select);
        }
        if (!EmqxKeys.SINKS.contains(action.type())) {
            return action.type().equals("mqtt")
                    ? "a bridge forwards messages unchanged: SELECT * without WHERE, in a rule that has only actions mqtt"
                    : "there is no sink for the type " + action.type();
        }
        String connector = "connectors." + action.type() + "." + keys.text(action.path() + ".connector", "");
        if (!keys.hasBelow(action.path() + ".") || !keys.hasBelow(connector + ".")) {
            return "its action or connector is not in the file";
        }
        if (!keys.isOn(action.path()) || !keys.isOn(connector)) {
            return "its action or connector is off in the file";
        }
        String reason = sinks.write(ours, action.from(), action.type(), action.path(), connector, select);
        if (reason == null) {
            used.add(action.path());
            used.add(connector);
        }
        return reason;
    }

    private void left(String block, String why) {
        EmqxBlockNote note = new EmqxBlockNote(block, Outcome.NONE, why);
        keys.below(block + ".").forEach(note::add);
        note.report(draft);
    }
}
