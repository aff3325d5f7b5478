// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.config.ConfigurationException;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ctl schemas}: the JSON Schemas of checks of payloads. */
final class SchemaCommands {

    private static final String PATH = "/schema_registry";
    private static final String ONE = PATH + "/{name}";

    private SchemaCommands() {}

    /** Lists the schemas. */
    @Command(name = "list", description = "Lists the JSON Schemas.")
    static final class Schemas extends CtlRequest {

        private static final List<Column> COLUMNS =
                List.of(Column.of("name"), Column.of("type"), Column.of("description"));

        Schemas(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.table(COLUMNS, api.get(PATH));
        }
    }

    /** Shows a schema. */
    @Command(name = "show", description = "Shows a JSON Schema.")
    static final class Show extends CtlRequest {

        @Parameters(paramLabel = "NAME", description = "Is the name of the schema.")
        String name = "";

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(BrokerApi.path(ONE, name)));
        }
    }

    /** Reads the schema that a command sends. */
    private abstract static class Upload extends CtlRequest {

        @Parameters(index = "0", paramLabel = "NAME", description = "Is the name of the schema.")
        String name = "";

        @Parameters(index = "1", paramLabel = "FILE", description = "Names the file; a hyphen is standard input.")
        String file = "";

        Upload(ProgramContext program) {
            super(program);
        }

        /** The body of the request. */
        final ObjectNode body() throws IOException {
            return BrokerApi.object().put("source", text());
        }

        private String text() throws IOException {
            if (file.equals("-")) {
                return new String(program().in().readAllBytes(), StandardCharsets.UTF_8);
            }
            try {
                return Files.readString(program().directory().resolve(file));
            } catch (IOException e) {
                throw new ConfigurationException(
                        file + ": cannot be read (" + e.getClass().getSimpleName() + ")");
            }
        }
    }

    /** Adds a schema. */
    @Command(name = "add", description = "Adds a JSON Schema, on all nodes.")
    static final class Add extends Upload {

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.done(api.send("POST", PATH, body().put("name", name)), "added " + LogText.escape(name));
        }
    }

    /** Replaces a schema. */
    @Command(name = "replace", description = "Replaces a JSON Schema, on all nodes.")
    static final class Replace extends Upload {

        Replace(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.done(api.send("PUT", BrokerApi.path(ONE, name), body()), "replaced " + LogText.escape(name));
        }
    }

    /** Deletes a schema. */
    @Command(name = "delete", description = "Deletes a JSON Schema, on all nodes.")
    static final class Delete extends CtlRequest {

        @Parameters(paramLabel = "NAME", description = "Is the name of the schema.")
        String name = "";

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("DELETE", BrokerApi.path(ONE, name), null);
            out.done("deleted " + LogText.escape(name));
        }
    }
}
