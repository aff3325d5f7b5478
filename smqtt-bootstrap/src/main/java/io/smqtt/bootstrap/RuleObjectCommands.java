// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ctl rules}: what happens to messages besides their delivery. */
final class RuleObjectCommands {

    private static final String OBJECTS = "/rules";
    private static final String ACTIONS = "actions";
    private static final String ONE = OBJECTS + "/{id}";
    private static final String OF_ACTION = ACTIONS + '.';
    private static final String STATUS = "status";

    private RuleObjectCommands() {}

    /** Lists rules. */
    @Command(name = "list", description = "Lists the rules, with states and counts of all nodes.")
    static final class All extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("name"),
                Column.of("FROM", "source"),
                new Column("STATUS", All::status),
                NodeStatus.count("matched"),
                NodeStatus.count("passed"),
                NodeStatus.count("failed"),
                new Column("SUCCESS", rule -> Long.toString(sum(rule, "success"))),
                new Column("DEAD", rule -> Long.toString(sum(rule, "dead"))),
                new Column("QUEUED", rule -> Long.toString(sum(rule, "queued") + sum(rule, "waiting"))),
                new Column("REASON", All::reason));

        All(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing(OBJECTS, Paging.NONE, 0), COLUMNS, "rules");
        }

        private static String status(JsonNode rule) {
            if (!rule.path("enable").asBoolean(true)) {
                return "disabled";
            }
            TreeSet<String> states = new TreeSet<>();
            rule.path(ACTIONS).forEach(action -> states.add(TextTable.shown(action.path(STATUS))));
            return states.isEmpty() ? "connected" : states.size() == 1 ? states.first() : "inconsistent";
        }

        private static long sum(JsonNode rule, String count) {
            long sum = 0;
            for (JsonNode action : rule.path(ACTIONS)) {
                sum += action.path("metrics").path(count).asLong();
            }
            return sum;
        }

        /** Why the first action fails that does, with its node. */
        private static String reason(JsonNode rule) {
            for (JsonNode action : rule.path(ACTIONS)) {
                for (JsonNode node : action.path("node_status")) {
                    if (node.has("status_reason")) {
                        return TextTable.shown(action.path("name")) + " on " + TextTable.shown(node.path("node")) + ": "
                                + TextTable.shown(node.path("status_reason"));
                    }
                }
            }
            return "";
        }
    }

    /** Shows a rule. */
    @Command(name = "show", description = "Shows one rule with its actions, and their states and counts on each node.")
    static final class Show extends NodeObject.Show {

        Show(ProgramContext program) {
            super(program, OBJECTS);
        }
    }

    /** A rule as its keys say. */
    private static final class Body {

        private final ObjectNode rule = BrokerApi.object();
        private final Map<String, ObjectNode> actions = new LinkedHashMap<>();

        /** One that is there, as the API shows it. */
        static Body of(JsonNode shown) {
            Body body = new Body();
            body.rule.set("sql", shown.path("sql"));
            body.rule.set("description", shown.path("description"));
            body.rule.set("enable", shown.path("enable"));
            for (JsonNode action : shown.path(ACTIONS)) {
                ObjectNode keys = BrokerApi.object();
                keys.set("type", action.path("type"));
                action.path("settings").properties().forEach(key -> keys.set(key.getKey(), key.getValue()));
                body.actions.put(action.path("name").asText(), keys);
            }
            return body;
        }

        /** Sets a key, or removes it with an empty text. Returns false if there is no such key. */
        boolean set(String key, String text) {
            if (!key.startsWith(OF_ACTION)) {
                put(rule, key, text);
                return true;
            }
            String action = key.substring(OF_ACTION.length());
            int dot = action.indexOf('.');
            if (dot < 0) {
                return text.isEmpty() && actions.remove(action) != null;
            }
            put(
                    actions.computeIfAbsent(action.substring(0, dot), name -> BrokerApi.object()),
                    action.substring(dot + 1),
                    text);
            return true;
        }

        private static void put(ObjectNode object, String key, String text) {
            if (text.isEmpty()) {
                object.remove(key);
            } else {
                object.put(key, text);
            }
        }

        ObjectNode json() {
            ArrayNode all = rule.putArray(ACTIONS);
            actions.forEach(
                    (name, keys) -> all.add(BrokerApi.object().put("name", name).setAll(keys)));
            return rule;
        }
    }

    /** A command with the keys of a rule. */
    private abstract static class Written extends NodeObject.One {

        @Parameters(
                index = "1..*",
                arity = "1..*",
                paramLabel = "KEY=VALUE",
                description = "Is a key of rules.<name> of the configuration, such as sql=\"SELECT * FROM 't/#'\" or "
                        + "actions.out.type=republish.")
        Map<String, String> keys = Map.of();

        Written(ProgramContext program) {
            super(program, OBJECTS);
        }

        final ObjectNode written(Body body) {
            keys.forEach((key, text) -> {
                if (!body.set(key, text)) {
                    throw usage(LogText.escape(key)
                            + " is not a key of a rule: one of an action is actions.<name>.<key>, and actions.<name>= removes an "
                            + "action that is there");
                }
            });
            return body.json();
        }
    }

    /** Adds a rule. */
    @Command(
            name = "add",
            description =
                    "Adds a rule, on all nodes. It stays over restarts. ctl rules types lists types of actions and their keys.")
    static final class Add extends Written {

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.done(api.send("POST", OBJECTS, written(new Body()).put("id", name)), "added " + LogText.escape(name));
        }
    }

    /** Changes a rule. */
    @Command(
            name = "change",
            description =
                    "Changes keys of a rule that was added here or by the API, on all nodes. KEY= alone removes the key, "
                            + "and actions.NAME= an action with its queue; others stay as they are.")
    static final class Change extends Written {

        Change(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String path = BrokerApi.path(ONE, name);
            out.done(api.send("PUT", path, written(Body.of(api.get(path)))), "changed " + LogText.escape(name));
        }
    }

    /** Deletes a rule. */
    @Command(
            name = "delete",
            description =
                    "Ends a rule that was added here or by the API, with the queues of its actions, on all nodes.")
    static final class Delete extends NodeObject.Delete {

        Delete(ProgramContext program) {
            super(program, OBJECTS);
        }
    }

    /** Starts a rule. */
    @Command(name = "start", description = "Switches a rule on that was added here or by the API, on all nodes.")
    static final class Start extends NodeObject.Everywhere {

        Start(ProgramContext program) {
            super(program, OBJECTS, "start", "started");
        }
    }

    /** Stops a rule. */
    @Command(
            name = "stop",
            description =
                    "Switches a rule off that was added here or by the API, on all nodes. The queues of its actions end, and it "
                            + "stays off over restarts.")
    static final class Stop extends NodeObject.Everywhere {

        Stop(ProgramContext program) {
            super(program, OBJECTS, "stop", "stopped");
        }
    }

    /** Checks an action. */
    @Command(
            name = "probe",
            description = "Checks whether the node that is asked reaches the sink of an action, without writing to it.")
    static final class Probe extends NodeObject.One {

        @Parameters(index = "1", paramLabel = "ACTION", description = "Is the name of the action.")
        String action = "";

        Probe(ProgramContext program) {
            super(program, OBJECTS);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.send("POST", BrokerApi.path(ONE + "/actions/{action}/probe", name, action), null));
        }
    }

    /** Lists types. */
    @Command(name = "types", description = "Lists the types of actions that the node has, or the keys of one.")
    static final class Types extends TypeKeys {

        Types(ProgramContext program) {
            super(program, "/action_types");
        }
    }
}
