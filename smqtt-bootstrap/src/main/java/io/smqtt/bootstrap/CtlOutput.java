// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.bootstrap.BrokerApi.Found;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;

/** Prints the answers of a broker as tables, or as JSON: one document, or one line for each entry of a list. */
final class CtlOutput {

    private final PrintStream out;
    private final PrintStream err;
    private final boolean json;
    private final int screen;
    private boolean complete = true;

    /**
     * Creates it.
     *
     * @param program where to print
     * @param json whether JSON is wanted
     * @param screen characters of a line of text; 0 for no limit
     */
    CtlOutput(ProgramContext program, boolean json, int screen) {
        out = program.out();
        err = program.err();
        this.json = json;
        this.screen = screen;
    }

    /** {@return whether JSON is wanted} */
    boolean isJson() {
        return json;
    }

    /** {@return whether all nodes have answered} */
    boolean isComplete() {
        return complete;
    }

    /** Prints the answer as JSON, or else a line of text. */
    void done(JsonNode answer, String line) {
        out.println(json ? answer.toString() : line);
    }

    /** Prints that something without an answer was done. */
    void done(String line) {
        done(BrokerApi.object().put("done", true), line);
    }

    /**
     * Prints that something was done on several nodes.
     *
     * @param answer has the names of these nodes, and of those that did not answer
     * @param line what was done
     */
    void doneOnNodes(JsonNode answer, String line) {
        done(answer, line + " on " + String.join(", ", texts(answer.path("nodes"))));
        checkComplete(texts(answer.path("incomplete")), "nothing is known of them");
    }

    /**
     * Ends the command with an error if nodes did not answer.
     *
     * @param incomplete their names
     * @param consequence what follows
     */
    void checkComplete(Collection<String> incomplete, String consequence) {
        if (!incomplete.isEmpty()) {
            complete = false;
            err.println("smqtt: these nodes did not answer, " + consequence + ": " + String.join(", ", incomplete));
        }
    }

    /** {@return the texts of an array} */
    static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(TextTable.shown(text)));
        return texts;
    }

    /** Prints a line for people; nothing among JSON. */
    void line(String line) {
        if (!json) {
            out.println(line);
        }
    }

    /** Prints a text as it is. */
    void text(String text) {
        out.print(text);
    }

    /** Prints one object: its fields one below the other. */
    void object(JsonNode object) {
        if (json) {
            out.println(object);
            return;
        }
        List<JsonNode> rows = new ArrayList<>();
        object.fields()
                .forEachRemaining(field -> rows.add(BrokerApi.object()
                        .put("field", field.getKey())
                        .put("value", TextTable.shown(field.getValue()))));
        int widest = rows.stream()
                .mapToInt(row -> row.path("field").asText().length())
                .max()
                .orElse(0);
        rows.forEach(row -> out.println(row.path("field").asText()
                + " ".repeat(widest + 2 - row.path("field").asText().length())
                + row.path("value").asText()));
    }

    /** Prints objects that are part of an answer as a table; nothing if there are none. */
    void table(List<Column> columns, Iterable<JsonNode> objects) {
        if (objects.iterator().hasNext()) {
            new TextTable(columns, screen, out).print(objects);
        }
    }

    /**
     * Prints a list, and how many entries it has.
     *
     * @param api where to ask
     * @param listing the list
     * @param columns of the table
     * @param noun of several entries
     * @throws IOException if there is no answer of success
     */
    void list(BrokerApi api, Listing listing, List<Column> columns, String noun) throws IOException {
        list(api, listing, entry -> true, columns, noun);
    }

    /** The same for some of the entries. */
    void list(BrokerApi api, Listing listing, Predicate<JsonNode> wanted, List<Column> columns, String noun)
            throws IOException {
        TextTable table = new TextTable(columns, screen, out);
        int[] count = {0};
        Found found = api.list(listing, wanted, entries -> {
            if (json) {
                entries.forEach(out::println);
            } else {
                table.print(entries);
            }
            entries.forEach(entry -> count[0]++);
        });
        line(noun + ": " + count[0] + (found.more() ? ", more exist" : ""));
        checkComplete(found.incomplete(), "what they have is missing");
    }
}
