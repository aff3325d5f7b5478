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

/** {@code ctl sources}: the places from which messages come into the broker. */
final class SourceCommands {

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
            out.list(api, new Listing("/sources", Paging.NONE, 0), COLUMNS, "sources");
        }
    }

    /** A command about one source. */
    private abstract static class One extends CtlRequest {

        @Parameters(paramLabel = "NAME", description = "Is the name of the source in the configuration.")
        String name = "";

        One(ProgramContext program) {
            super(program);
        }
    }

    /** Shows a source. */
    @Command(name = "show", description = "Shows one source with its state and counts on each node.")
    static final class Show extends One {

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(BrokerApi.path("/sources/{id}", name)));
        }
    }

    /** Changes a source on all nodes, or on one. */
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
                    ? BrokerApi.path("/sources/{id}/" + operation, name)
                    : BrokerApi.path("/nodes/{node}/sources/{id}/" + operation, node, name);
            api.send("POST", path, null);
            out.done(done + " " + name + (node == null ? "" : " on " + node));
        }
    }

    /** Starts a source. */
    @Command(name = "start", description = "Reads a source that was stopped.")
    static final class Start extends Change {

        Start(ProgramContext program) {
            super(program, "start", "started");
        }
    }

    /** Stops a source. */
    @Command(
            name = "stop",
            description =
                    "Ends reading of a source, until it is started or the broker restarts. What has not been taken waits "
                            + "where it is.")
    static final class Stop extends Change {

        Stop(ProgramContext program) {
            super(program, "stop", "stopped");
        }
    }

    /** Restarts a source. */
    @Command(name = "restart", description = "Ends reading of a source, and begins again.")
    static final class Restart extends Change {

        Restart(ProgramContext program) {
            super(program, "restart", "restarted");
        }
    }

    /** Checks a source. */
    @Command(
            name = "probe",
            description = "Checks whether the node that is asked reaches a source, without taking anything from it.")
    static final class Probe extends One {

        Probe(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.send("POST", BrokerApi.path("/sources/{id}/probe", name), null));
        }
    }
}
