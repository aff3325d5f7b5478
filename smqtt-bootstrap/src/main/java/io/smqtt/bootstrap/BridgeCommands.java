// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code ctl bridges}: the connections to other brokers. */
final class BridgeCommands {

    private static final String OBJECTS = "/bridges";

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
                NodeStatus.count("refused"),
                new Column("REASON", one -> NodeStatus.reason(one, "disconnected")));

        All(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing(OBJECTS, Paging.NONE, 0), COLUMNS, "bridges");
        }
    }

    /** Shows a bridge. */
    @Command(name = "show", description = "Shows one bridge with its state and counts on each node.")
    static final class Show extends NodeObject.Show {

        Show(ProgramContext program) {
            super(program, OBJECTS);
        }
    }

    /** Starts a bridge. */
    @Command(name = "start", description = "Connects a bridge that was stopped.")
    static final class Start extends NodeObject.Change {

        Start(ProgramContext program) {
            super(program, OBJECTS, "start", "started");
        }
    }

    /** Stops a bridge. */
    @Command(
            name = "stop",
            description =
                    "Ends the connection of a bridge, until it is started or the broker restarts. Messages for the other "
                            + "broker wait in the queue.")
    static final class Stop extends NodeObject.Change {

        Stop(ProgramContext program) {
            super(program, OBJECTS, "stop", "stopped");
        }
    }

    /** Restarts a bridge. */
    @Command(name = "restart", description = "Ends the connection of a bridge, and begins a new one.")
    static final class Restart extends NodeObject.Change {

        Restart(ProgramContext program) {
            super(program, OBJECTS, "restart", "restarted");
        }
    }
}
