// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

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

/** {@code ctl users}: who may log in to the API and the dashboard. Users of MQTT are in the password file. */
final class UserCommands {

    private static final String PASSWORD = "password";

    private UserCommands() {}

    /** What a user may do. */
    enum Role {
        administrator,
        operator,
        viewer
    }

    /** Shows who asks. */
    @Command(name = "whoami", description = "Shows as whom the broker knows this command, and with which role.")
    static final class WhoAmI extends CtlRequest {

        WhoAmI(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get("/login"));
        }
    }

    /** Lists users. */
    @Command(name = "list", description = "Lists the users of the API and the dashboard.")
    static final class Users extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("NAME", "username"),
                Column.of("role"),
                Column.of("FROM", "backend"),
                Column.of("description"));

        Users(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/users", Paging.NONE, 0), COLUMNS, "users");
        }
    }

    /** A command about one user. */
    private abstract static class One extends CtlRequest {

        @Parameters(paramLabel = "NAME", description = "Is the user name.")
        String name = "";

        One(ProgramContext program) {
            super(program);
        }
    }

    /** Adds a user. */
    @Command(
            name = "add",
            description = "Adds a user. The password is read from --password-file, the terminal or a line of standard "
                    + "input.")
    static final class Add extends One {

        @Option(
                names = "--role",
                paramLabel = "ROLE",
                description = "Is one of ${COMPLETION-CANDIDATES}. The default is viewer.")
        Role role = Role.viewer;

        @Option(names = "--description", paramLabel = "TEXT", description = "Is shown in lists.")
        String description = "";

        @Nullable
        @Option(
                names = "--password-file",
                paramLabel = "FILE",
                description = "Names the file whose first line is the password.")
        String passwordFile;

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode user = BrokerApi.object();
            user.put("username", name).put(PASSWORD, input().chosen(passwordFile));
            user.put("role", role.name()).put("description", description);
            out.done(api.send("POST", "/users", user), "added " + name + " as " + role);
        }
    }

    /** Changes a user. */
    @Command(name = "change", description = "Changes role or description of a user.")
    static final class Change extends One {

        @Nullable
        @Option(names = "--role", paramLabel = "ROLE", description = "Is one of ${COMPLETION-CANDIDATES}.")
        Role role;

        @Nullable
        @Option(names = "--description", paramLabel = "TEXT", description = "Is shown in lists.")
        String description;

        Change(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode change = BrokerApi.object();
            if (role != null) {
                change.put("role", role.name());
            }
            if (description != null) {
                change.put("description", description);
            }
            if (change.isEmpty()) {
                throw usage("--role or --description says what to change");
            }
            out.done(api.send("PUT", BrokerApi.path("/users/{username}", name), change), "changed " + name);
        }
    }

    /** Deletes a user. */
    @Command(name = "delete", description = "Deletes a user and ends his logins.")
    static final class Delete extends One {

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("DELETE", BrokerApi.path("/users/{username}", name), null);
            out.done("deleted " + name);
        }
    }

    /** Changes a password. */
    @Command(
            name = "password",
            description =
                    "Changes the password of a user; with --user of the same name the own one. The new password is read "
                            + "from --password-file, the terminal or a line of standard input.")
    static final class Password extends One {

        @Nullable
        @Option(
                names = "--password-file",
                paramLabel = "FILE",
                description = "Names the file whose first line is the new password.")
        String passwordFile;

        Password(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String password = input().chosen(passwordFile);
            if (name.equals(who.user)) {
                ObjectNode change =
                        BrokerApi.object().put("old_pwd", ownPassword()).put("new_pwd", password);
                api.send("POST", BrokerApi.path("/users/{username}/change_pwd", name), change);
            } else {
                api.send(
                        "PUT",
                        BrokerApi.path("/users/{username}", name),
                        BrokerApi.object().put(PASSWORD, password));
            }
            out.done("changed the password of " + name);
        }
    }
}
