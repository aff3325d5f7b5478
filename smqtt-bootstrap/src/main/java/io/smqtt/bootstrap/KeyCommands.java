// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl keys}: API keys for programs. */
final class KeyCommands {

    private KeyCommands() {}

    /** What a key may do. */
    enum Role {
        administrator,
        operator,
        viewer,
        publisher
    }

    /** Lists keys. */
    @Command(name = "list", description = "Lists the API keys without their secrets.")
    static final class Keys extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("name"),
                Column.of("KEY", "api_key"),
                Column.of("role"),
                new Column("STATE", Keys::state),
                Column.of("EXPIRES", "expired_at"),
                Column.of("CREATED", "created_at"),
                Column.of("DESCRIPTION", "desc"));

        Keys(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/api_key", Paging.NONE, 0), COLUMNS, "keys");
        }

        private static String state(JsonNode key) {
            return !key.path("enable").asBoolean()
                    ? "disabled"
                    : key.path("expired").asBoolean() ? "expired" : "enabled";
        }
    }

    /** A command about one key. */
    private abstract static class One extends CtlRequest {

        @Parameters(paramLabel = "NAME", description = "Is the name of the key.")
        String name = "";

        One(ProgramContext program) {
            super(program);
        }

        final String path() {
            return BrokerApi.path("/api_key/{name}", name);
        }
    }

    /** Shows a key. */
    @Command(name = "show", description = "Shows one API key without its secret.")
    static final class Show extends One {

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(path()));
        }
    }

    /** Adds or changes a key. */
    private abstract static class Written extends One {

        @Nullable
        @Option(names = "--role", paramLabel = "ROLE", description = "Is one of ${COMPLETION-CANDIDATES}.")
        Role role;

        @Nullable
        @Option(
                names = "--expires",
                paramLabel = "TIME",
                description = "Is a time such as 2030-01-01T00:00:00Z, or infinity.")
        String expires;

        @Nullable
        @Option(names = "--description", paramLabel = "TEXT", description = "Is shown in lists.")
        String description;

        @Nullable
        @Option(names = "--enabled", paramLabel = "BOOLEAN", arity = "1", description = "Is true or false.")
        Boolean enabled;

        Written(ProgramContext program) {
            super(program);
        }

        final ObjectNode fields() {
            ObjectNode fields = BrokerApi.object();
            if (role != null) {
                fields.put("role", role.name());
            }
            if (expires != null) {
                fields.put("expired_at", expires);
            }
            if (description != null) {
                fields.put("desc", description);
            }
            if (enabled != null) {
                fields.put("enable", enabled);
            }
            return fields;
        }
    }

    /** Adds a key. */
    @Command(
            name = "add",
            description =
                    "Adds an API key, by default of the role viewer, and prints its secret. The secret is not shown "
                            + "again.")
    static final class Add extends Written {

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode fields = fields().put("name", name);
            if (role == null) {
                fields.put("role", Role.viewer.name());
            }
            out.object(api.send("POST", "/api_key", fields));
        }
    }

    /** Changes a key. */
    @Command(name = "change", description = "Changes role, expiry or description of an API key, or disables it.")
    static final class Change extends Written {

        Change(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode fields = fields();
            if (fields.isEmpty()) {
                throw usage("--role, --expires, --description or --enabled says what to change");
            }
            out.done(api.send("PUT", path(), fields), "changed " + name);
        }
    }

    /** Deletes a key. */
    @Command(name = "delete", description = "Deletes an API key.")
    static final class Delete extends One {

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("DELETE", path(), null);
            out.done("deleted " + name);
        }
    }
}
