// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl validations}: checks of payloads. */
final class ValidationCommands {

    private static final String PATH = "/schema_validations";
    private static final String NAME = "name";
    private static final String TOPICS = "topics";
    private static final String CHECKS = "checks";
    private static final String STRATEGY = "strategy";
    private static final String FAILURE_ACTION = "failure_action";
    private static final String REDIRECT = "redirect_topic";

    private ValidationCommands() {}

    /** The action on a message that is not valid. */
    enum FailureAction {
        drop,
        disconnect,
        ignore
    }

    /** Lists the checks. */
    @Command(
            name = "list",
            description = "Lists the checks of payloads in their order; a message must pass all that fit.")
    static final class Validations extends RuleListCommands.Listed {

        Validations(ProgramContext program) {
            super(
                    program,
                    PATH,
                    List.of(
                            Column.of(NAME),
                            new Column("TOPICS", check -> joined(check.path(TOPICS))),
                            new Column("CHECKS", check -> joined(check.path(CHECKS))),
                            Column.of(STRATEGY),
                            Column.of("ON FAILURE", FAILURE_ACTION),
                            Column.of("REDIRECT", REDIRECT)));
        }

        /** Texts, or the names of schemas and {@code sql}. */
        private static String joined(JsonNode array) {
            List<String> all = new ArrayList<>();
            for (JsonNode element : array) {
                all.add(TextTable.shown(
                        element.isTextual() ? element : element.path(element.has("schema") ? "schema" : "type")));
            }
            return String.join(" ", all);
        }
    }

    /** Adds a check. */
    @Command(name = "add", description = "Adds a check of payloads behind the others, on all nodes.")
    static final class Add extends RuleListCommands.Added {

        @Parameters(index = "0", paramLabel = "NAME", description = "Is the name of the check.")
        String name = "";

        @Parameters(
                index = "1..*",
                arity = "1..*",
                paramLabel = "TOPIC",
                description = "Is a topic filter; messages to topics that one of them matches are checked.")
        List<String> topics = List.of();

        @Option(names = "--schema", paramLabel = "NAME", description = "Is the name of a JSON Schema; may be repeated.")
        List<String> schemas = List.of();

        @Option(
                names = "--sql",
                paramLabel = "STATEMENT",
                description = "Is a statement of the rule language, which must select the message.")
        String sql = "";

        @Option(names = "--any", description = "Lets one schema, or the statement, be enough.")
        boolean any;

        @Option(
                names = "--on-failure",
                paramLabel = "ACTION",
                description = "Is one of ${COMPLETION-CANDIDATES}. The default is drop.")
        FailureAction action = FailureAction.drop;

        @Option(
                names = "--redirect",
                paramLabel = "TOPIC",
                description = "Publishes messages that are not valid to this topic.")
        String redirect = "";

        Add(ProgramContext program) {
            super(program, PATH);
        }

        @Override
        ObjectNode rule() {
            ObjectNode rule = BrokerApi.object().put(NAME, name);
            ArrayNode filters = rule.putArray(TOPICS);
            topics.forEach(filters::add);
            ArrayNode checks = rule.putArray(CHECKS);
            schemas.forEach(schema -> checks.addObject().put("type", "json").put("schema", schema));
            if (!sql.isEmpty()) {
                checks.addObject().put("type", "sql").put("sql", sql);
            }
            return rule.put(STRATEGY, any ? "any_pass" : "all_pass")
                    .put(FAILURE_ACTION, action.name())
                    .put(REDIRECT, redirect);
        }
    }

    /** Deletes a check. */
    @Command(name = "delete", description = "Deletes a check of payloads, on all nodes.")
    static final class Delete extends RuleListCommands.Deleted {

        Delete(ProgramContext program) {
            super(program, PATH);
        }
    }
}
