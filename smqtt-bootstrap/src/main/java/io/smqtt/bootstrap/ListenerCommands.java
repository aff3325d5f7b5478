// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ctl listeners}: the ports for clients. */
final class ListenerCommands {

    private ListenerCommands() {}

    /** Lists listeners. */
    @Command(name = "list", description = "Lists the listeners of all nodes.")
    static final class Listeners extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("id"),
                Column.of("type"),
                Column.of("bind"),
                new Column("NODES", Listeners::running),
                new Column("CONNECTIONS", one -> Long.toString(sum(one, "current_connections"))),
                new Column("MAXIMUM", one -> TextTable.shown(one.path("status").path("max_connections"))));

        Listeners(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/listeners", Paging.NONE, 0), COLUMNS, "listeners");
        }

        /** Where it runs, and where it is stopped. */
        private static String running(JsonNode listener) {
            List<String> states = new ArrayList<>();
            for (JsonNode node : listener.path("node_status")) {
                boolean running = node.path("status").path("running").asBoolean();
                states.add(TextTable.shown(node.path("node")) + (running ? "" : " (stopped)"));
            }
            return String.join(", ", states);
        }

        private static long sum(JsonNode listener, String field) {
            long sum = 0;
            for (JsonNode node : listener.path("node_status")) {
                sum += node.path("status").path(field).asLong();
            }
            return sum;
        }
    }

    /** A command about one listener. */
    private abstract static class One extends CtlRequest {

        @Parameters(paramLabel = "ID", description = "Is type and name of the listener, such as tcp:default.")
        String id = "";

        One(ProgramContext program) {
            super(program);
        }
    }

    /** Shows a listener. */
    @Command(name = "show", description = "Shows one listener with its state on each node.")
    static final class Show extends One {

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(BrokerApi.path("/listeners/{id}", id)));
        }
    }

    /** Changes a listener on all nodes. */
    private abstract static class Change extends One {

        private final String action;
        private final String done;

        Change(ProgramContext program, String action, String done) {
            super(program);
            this.action = action;
            this.done = done;
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.send("POST", BrokerApi.path("/listeners/{id}/" + action, id), null);
            out.doneOnNodes(answer, done + " " + id);
        }
    }

    /** Starts a listener. */
    @Command(name = "start", description = "Binds a stopped listener on all nodes.")
    static final class Start extends Change {

        Start(ProgramContext program) {
            super(program, "start", "started");
        }
    }

    /** Stops a listener. */
    @Command(
            name = "stop",
            description = "Closes the port of a listener and its connections on all nodes, until it is started or the "
                    + "broker restarts.")
    static final class Stop extends Change {

        Stop(ProgramContext program) {
            super(program, "stop", "stopped");
        }
    }

    /** Restarts a listener. */
    @Command(name = "restart", description = "Stops and starts a listener on all nodes.")
    static final class Restart extends Change {

        Restart(ProgramContext program) {
            super(program, "restart", "restarted");
        }
    }
}
