// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl bridges}: the connections to other brokers. */
final class BridgeCommands {

    private BridgeCommands() {}

    /** Lists bridges. */
    @Command(name = "list", description = "Lists the bridges of all nodes.")
    static final class All extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("name"),
                Column.of("status"),
                new Column("NODES", one -> NodeStatus.nodes(one, "connected")),
                NodeStatus.count("sent"),
                NodeStatus.count("received"),
                NodeStatus.count("queuing"),
                NodeStatus.count("dropped"),
                new Column("REASON", one -> NodeStatus.reason(one, "disconnected")));

        All(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/bridges", Paging.NONE, 0), COLUMNS, "bridges");
        }
    }

    /** A command about one bridge. */
    private abstract static class One extends CtlRequest {

        @Parameters(paramLabel = "NAME", description = "Is the name of the bridge in the configuration.")
        String name = "";

        One(ProgramContext program) {
            super(program);
        }
    }

    /** Shows a bridge. */
    @Command(name = "show", description = "Shows one bridge with its state and counts on each node.")
    static final class Show extends One {

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(BrokerApi.path("/bridges/{id}", name)));
        }
    }

    /** Changes a bridge on all nodes, or on one. */
    private abstract static class Change extends One {

        private final String operation;
        private final String done;

        @Nullable
        @Option(names = "--node", paramLabel = "NODE", description = "Is the only node that does it.")
        String node;

        Change(ProgramContext program, String operation, String done) {
            super(program);
            this.operation = operation;
            this.done = done;
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String path = node == null
                    ? BrokerApi.path("/bridges/{id}/" + operation, name)
                    : BrokerApi.path("/nodes/{node}/bridges/{id}/" + operation, node, name);
            api.send("POST", path, null);
            out.done(done + " " + name + (node == null ? "" : " on " + node));
        }
    }

    /** Starts a bridge. */
    @Command(name = "start", description = "Connects a bridge that was stopped.")
    static final class Start extends Change {

        Start(ProgramContext program) {
            super(program, "start", "started");
        }
    }

    /** Stops a bridge. */
    @Command(
            name = "stop",
            description =
                    "Ends the connection of a bridge, until it is started or the broker restarts. Messages for the other "
                            + "broker wait in the queue.")
    static final class Stop extends Change {

        Stop(ProgramContext program) {
            super(program, "stop", "stopped");
        }
    }

    /** Restarts a bridge. */
    @Command(name = "restart", description = "Ends the connection of a bridge, and begins a new one.")
    static final class Restart extends Change {

        Restart(ProgramContext program) {
            super(program, "restart", "restarted");
        }
    }
}
