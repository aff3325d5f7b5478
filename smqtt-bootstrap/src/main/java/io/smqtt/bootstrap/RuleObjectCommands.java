// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import java.util.TreeSet;
import picocli.CommandLine.Command;

/** {@code ctl rules}: what happens to messages besides their delivery. */
final class RuleObjectCommands {

    private static final String OBJECTS = "/rules";
    private static final String ACTIONS = "actions";
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
}
