// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl trace}: records what happens to a client, to the messages of a topic, or to an address. */
final class TraceCommands {

    private static final String ONE = "/trace/{name}";

    private TraceCommands() {}

    /** How payloads are recorded. */
    enum Payload {
        text,
        hex,
        hidden
    }

    /** How lines are written. */
    enum Format {
        text,
        json
    }

    /** Lists traces. */
    @Command(name = "list", description = "Lists the traces of all nodes, the newest first.")
    static final class Traces extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("name"),
                Column.of("type"),
                new Column(
                        "OF",
                        trace -> TextTable.shown(trace.path(trace.path("type").asText()))),
                Column.of("status"),
                Column.of("FROM", "start_at"),
                Column.of("UNTIL", "end_at"),
                new Column("BYTES", trace -> Long.toString(bytes(trace.path("log_size")))));

        Traces(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/trace", Paging.NONE, 0), COLUMNS, "traces");
        }

        private static long bytes(JsonNode sizes) {
            long bytes = 0;
            for (JsonNode size : sizes) {
                bytes += size.asLong();
            }
            return bytes;
        }
    }

    /** What is traced. */
    static final class Traced {

        @Nullable
        @Option(names = "--client", paramLabel = "ID", description = "Traces this client.")
        String client;

        @Nullable
        @Option(names = "--topic", paramLabel = "FILTER", description = "Traces the messages that match this filter.")
        String topic;

        @Nullable
        @Option(names = "--address", paramLabel = "IP", description = "Traces the connections from this address.")
        String address;

        void describe(ObjectNode trace) {
            if (client != null) {
                trace.put("type", "clientid").put("clientid", client);
            } else if (topic != null) {
                trace.put("type", "topic").put("topic", topic);
            } else {
                trace.put("type", "ip_address").put("ip_address", address);
            }
        }
    }

    /** A command about one trace. */
    private abstract static class One extends CtlRequest {

        @Parameters(index = "0", paramLabel = "NAME", description = "Is the name of the trace.")
        String name = "";

        One(ProgramContext program) {
            super(program);
        }

        final String path(String template) {
            return BrokerApi.path(template, name);
        }
    }

    /** Starts a trace. */
    @Command(name = "start", description = "Starts a trace of a client, of a topic or of an address on all nodes.")
    static final class Start extends One {

        @ArgGroup(multiplicity = "1")
        Traced traced = new Traced();

        @Nullable
        @Option(
                names = "--for",
                paramLabel = "TIME",
                converter = TimeSpan.class,
                description = "Ends the trace after this time, at most 24h. The default is 30m.")
        Duration time;

        @Option(
                names = "--payload",
                paramLabel = "HOW",
                description = "Is how payloads are recorded, one of ${COMPLETION-CANDIDATES}. The default is hidden.")
        Payload payload = Payload.hidden;

        @Option(
                names = "--format",
                paramLabel = "FORMAT",
                description = "Is the format of the lines, one of ${COMPLETION-CANDIDATES}. The default is text.")
        Format format = Format.text;

        @Option(names = "--pings", description = "Records PINGREQ and PINGRESP, too.")
        boolean pings;

        Start(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode trace = BrokerApi.object().put("name", name);
            traced.describe(trace);
            trace.put("payload_encode", payload.name()).put("formatter", format.name());
            trace.put("pings", pings);
            if (time != null) {
                trace.put(
                        "end_at",
                        Instant.now().plus(time).truncatedTo(ChronoUnit.SECONDS).toString());
            }
            JsonNode started = api.send("POST", "/trace", trace);
            out.done(
                    started,
                    "tracing until " + TextTable.shown(started.path("end_at")) + "; smqtt ctl trace follow " + name
                            + " shows it");
        }
    }

    /** Shows a trace. */
    @Command(name = "show", description = "Shows one trace, with the bytes that each node has recorded.")
    static final class Show extends One {

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(path(ONE)));
        }
    }

    /** Prints a trace while it is recorded. */
    @Command(
            name = "follow",
            description =
                    "Prints what one node records, until the trace ends or Ctrl-C. The trace itself is not ended.")
    static final class Follow extends One {

        private static final int PART_BYTES = 524_288;
        private static final Set<String> LASTING = Set.of("waiting", "running");

        private final CountDownLatch stop = new CountDownLatch(1);

        @Nullable
        @Option(
                names = "--node",
                paramLabel = "NODE",
                description = "Is the node. The default is the one that is asked.")
        String node;

        Follow(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            program().signals().onStop(stop::countDown);
            long position = 0;
            boolean lasts = true;
            boolean more = true;
            while (more || lasts && !isStopped()) {
                // Asked first: what is recorded until then is still read.
                lasts = LASTING.contains(api.get(path(ONE)).path("status").asText());
                Map<String, @Nullable Object> query = new LinkedHashMap<>();
                query.put("position", position);
                query.put("bytes", PART_BYTES);
                query.put("node", node);
                JsonNode part = api.get(BrokerApi.query(path(ONE + "/log"), query));
                String lines = part.path("items").asText();
                out.text(lines);
                position = part.path("meta").path("position").asLong(position);
                more = !lines.isEmpty();
            }
        }

        /** Waits for a second. */
        private boolean isStopped() {
            try {
                return stop.await(1, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return true;
            }
        }
    }

    /** Ends a trace. */
    @Command(name = "stop", description = "Ends a trace. What it has recorded stays until it is deleted.")
    static final class Stop extends One {

        Stop(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.done(api.send("PUT", path(ONE + "/stop"), null), "stopped " + name);
        }
    }

    /** Deletes traces. */
    @Command(name = "delete", description = "Ends and deletes a trace, or all traces.")
    static final class Delete extends CtlRequest {

        @Option(names = "--all", description = "Deletes all traces.")
        boolean all;

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "NAME", description = "Is the name of the trace.")
        String name;

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            if (all == (name != null)) {
                throw usage("trace delete takes NAME or --all");
            }
            api.send("DELETE", name == null ? "/trace" : BrokerApi.path(ONE, name), null);
            out.done("deleted " + (name == null ? "all traces" : name));
        }
    }

    /** Writes what was recorded. */
    @Command(
            name = "download",
            description = "Writes what all nodes have recorded, sorted by time, into a file or to standard output.")
    static final class Download extends One {

        @Mixin
        NodeOption only = new NodeOption();

        @Nullable
        @Parameters(
                index = "1",
                arity = "0..1",
                paramLabel = "FILE",
                description = "Names the file, which must not exist.")
        String file;

        Download(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            query.put("format", "text");
            only.addTo(query);
            String lines = api.text(BrokerApi.query(path(ONE + "/download"), query));
            if (file == null) {
                out.text(lines);
                return;
            }
            Path path = program().directory().resolve(file);
            try (OutputStream created = OwnerFile.create(path)) {
                created.write(lines.getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new ConfigurationException(
                        file + ": cannot be written (" + e.getClass().getSimpleName() + "); it must not exist yet");
            }
            out.done("downloaded to " + file);
        }
    }
}
