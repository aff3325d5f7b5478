// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Parameters;

/** Commands for rules of which the API has a list: a change reads the list and sends a new one. */
final class RuleListCommands {

    private static final String NUMBER = "number";
    private static final String READ_ONLY = "read_only";

    private RuleListCommands() {}

    /** The name of a rule of the configuration file; a hyphen for those of operators. */
    private static String file(JsonNode rule) {
        return rule.path(READ_ONLY).asBoolean() ? TextTable.shown(rule.path("name")) : "-";
    }

    /** Lists rules with their numbers. */
    abstract static class Listed extends CtlRequest {

        private final String path;
        private final List<Column> columns;

        Listed(ProgramContext program, String path, List<Column> columns) {
            super(program);
            this.path = path;
            this.columns = new ArrayList<>(columns);
            this.columns.add(0, Column.of(NUMBER));
            this.columns.add(new Column("FILE", RuleListCommands::file));
        }

        @Override
        final void run(BrokerApi api, CtlOutput out) throws IOException {
            ArrayNode numbered = BrokerApi.array();
            for (JsonNode rule : api.get(path)) {
                ObjectNode row = BrokerApi.object();
                row.put(NUMBER, numbered.size() + 1);
                rule.fields().forEachRemaining(field -> row.set(field.getKey(), field.getValue()));
                numbered.add(row);
            }
            out.table(columns, numbered);
        }
    }

    /** Adds a rule behind the others. */
    abstract static class Added extends CtlRequest {

        private final String path;

        Added(ProgramContext program, String path) {
            super(program);
            this.path = path;
        }

        abstract ObjectNode rule();

        @Override
        final void run(BrokerApi api, CtlOutput out) throws IOException {
            ArrayNode rules = BrokerApi.array();
            api.get(path).forEach(rules::add);
            JsonNode answer = api.send("PUT", path, rules.add(rule()));
            out.done(answer, "added as number " + answer.size());
        }
    }

    /** Deletes a rule by its number. */
    abstract static class Deleted extends CtlRequest {

        private final String path;

        @Parameters(paramLabel = "NUMBER", description = "Is the number that the list shows.")
        int number;

        Deleted(ProgramContext program, String path) {
            super(program);
            this.path = path;
        }

        @Override
        final void run(BrokerApi api, CtlOutput out) throws IOException {
            ArrayNode rules = BrokerApi.array();
            api.get(path).forEach(rules::add);
            if (number < 1 || number > rules.size()) {
                throw new RefusedException(404, "there is no number " + number);
            }
            if (rules.path(number - 1).path(READ_ONLY).asBoolean()) {
                throw new RefusedException(
                        403, "number " + number + " is in the configuration file, and cannot be changed here");
            }
            rules.remove(number - 1);
            out.done(api.send("PUT", path, rules), "deleted number " + number);
        }
    }
}
