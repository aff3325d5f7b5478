// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl sources}: the places from which messages come into the broker. */
final class SourceCommands {

    private static final String OBJECTS = "/sources";
    private static final String ONE = OBJECTS + "/{id}";
    private static final String SETTINGS = "settings";

    private SourceCommands() {}

    /** Lists sources. */
    @Command(name = "list", description = "Lists the sources of all nodes.")
    static final class All extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("name"),
                Column.of("type"),
                Column.of("FROM", "source"),
                new Column("STATUS", All::status),
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

        private static String status(JsonNode source) {
            return source.path("enable").asBoolean(true) ? TextTable.shown(source.path("status")) : "disabled";
        }
    }

    /** A command with the keys of a source. */
    private abstract static class Written extends NodeObject.One {

        @Parameters(
                index = "1..*",
                arity = "1..*",
                paramLabel = "KEY=VALUE",
                description = "Is a key of sources.<name> of the configuration, such as type=http or topic=orders/x.")
        Map<String, String> keys = Map.of();

        Written(ProgramContext program) {
            super(program, OBJECTS);
        }
    }

    /** Adds a source. */
    @Command(
            name = "add",
            description =
                    "Adds a source, on all nodes. It stays over restarts. ctl sources types lists types and keys.")
    static final class Add extends Written {

        @Option(
                names = "--probe",
                description = "Only checks whether the node that is asked could read it, and adds nothing.")
        boolean probe;

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode body = BrokerApi.object();
            keys.forEach(body::put);
            if (probe) {
                api.send("POST", "/sources_probe", body);
                out.done("reached " + LogText.escape(name));
            } else {
                out.done(api.send("POST", OBJECTS, body.put("id", name)), "added " + LogText.escape(name));
            }
        }
    }

    /** Changes a source. */
    @Command(
            name = "change",
            description =
                    "Changes keys of a source that was added here or by the API, on all nodes. KEY= alone removes the "
                            + "key; others stay as they are. The next run begins when the former one has ended.")
    static final class Change extends Written {

        Change(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String path = BrokerApi.path(ONE, name);
            JsonNode source = api.get(path);
            ObjectNode body = BrokerApi.object();
            body.put("type", source.path("type").asText());
            body.put("enable", source.path("enable").asBoolean(true));
            source.path(SETTINGS).properties().forEach(key -> body.set(key.getKey(), key.getValue()));
            keys.forEach((key, text) -> {
                if (text.isEmpty()) {
                    body.remove(key);
                } else {
                    body.put(key, text);
                }
            });
            out.done(api.send("PUT", path, body), "changed " + LogText.escape(name));
        }
    }

    /** Deletes a source. */
    @Command(name = "delete", description = "Ends a source that was added here or by the API, on all nodes.")
    static final class Delete extends NodeObject.Delete {

        Delete(ProgramContext program) {
            super(program, OBJECTS);
        }
    }

    /** Enables a source. */
    @Command(name = "enable", description = "Switches a source on that was added here or by the API, on all nodes.")
    static final class Enable extends NodeObject.Everywhere {

        Enable(ProgramContext program) {
            super(program, OBJECTS, "enable", "enabled");
        }
    }

    /** Disables a source. */
    @Command(
            name = "disable",
            description =
                    "Switches a source off that was added here or by the API, on all nodes. It stays off over restarts.")
    static final class Disable extends NodeObject.Everywhere {

        Disable(ProgramContext program) {
            super(program, OBJECTS, "disable", "disabled");
        }
    }

    /** Lists types. */
    @Command(name = "types", description = "Lists the types of sources that the node has, or the keys of one.")
    static final class Types extends TypeKeys {

        Types(ProgramContext program) {
            super(program, "/source_types");
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
