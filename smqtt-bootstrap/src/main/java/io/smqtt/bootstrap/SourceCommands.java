// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code ctl sources}: the places from which messages come into the broker. */
final class SourceCommands {

    private static final String OBJECTS = "/sources";

    private SourceCommands() {}

    /** Lists sources. */
    @Command(name = "list", description = "Lists the sources of all nodes.")
    static final class All extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("name"),
                Column.of("type"),
                Column.of("status"),
                new Column("NODES", one -> NodeStatus.nodes(one, "running")),
                NodeStatus.count("received"),
                NodeStatus.count("published"),
                NodeStatus.count("refused"),
                NodeStatus.count("failed"),
                NodeStatus.count("inflight"),
                NodeStatus.count("rejected"),
                new Column("REASON", one -> NodeStatus.reason(one, "failing")));

        All(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing(OBJECTS, Paging.NONE, 0), COLUMNS, "sources");
        }
    }

    /** Shows a source. */
    @Command(name = "show", description = "Shows one source with its state and counts on each node.")
    static final class Show extends NodeObject.Show {

        Show(ProgramContext program) {
            super(program, OBJECTS);
        }
    }

    /** Starts a source. */
    @Command(name = "start", description = "Reads a source that was stopped.")
    static final class Start extends NodeObject.Change {

        Start(ProgramContext program) {
            super(program, OBJECTS, "start", "started");
        }
    }

    /** Stops a source. */
    @Command(
            name = "stop",
            description =
                    "Ends reading of a source, until it is started or the broker restarts. What has not been taken waits "
                            + "where it is.")
    static final class Stop extends NodeObject.Change {

        Stop(ProgramContext program) {
            super(program, OBJECTS, "stop", "stopped");
        }
    }

    /** Restarts a source. */
    @Command(name = "restart", description = "Ends reading of a source, and begins again.")
    static final class Restart extends NodeObject.Change {

        Restart(ProgramContext program) {
            super(program, OBJECTS, "restart", "restarted");
        }
    }

    /** Checks a source. */
    @Command(
            name = "probe",
            description = "Checks whether the node that is asked reaches a source, without taking anything from it.")
    static final class Probe extends NodeObject.One {

        Probe(ProgramContext program) {
            super(program, OBJECTS);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.send("POST", BrokerApi.path(OBJECTS + "/{id}/probe", name), null));
        }
    }
}
