// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl alarms}, {@code audit}, {@code config}, {@code reload}, {@code export} and {@code import}: what an operator looks after. */
final class ServiceCommands {

    private ServiceCommands() {}

    /** Lists alarms. */
    @Command(name = "alarms", description = "Lists the alarms that last, of all nodes, the newest first.")
    static final class Alarms extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("SINCE", "activate_at"),
                Column.of("UNTIL", "deactivate_at"),
                Column.of("severity"),
                Column.of("name"),
                Column.of("node"),
                Column.of("message"));

        @Option(names = "--ended", description = "Lists the alarms that have ended.")
        boolean ended;

        Alarms(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/alarms?activated=" + !ended, Paging.PAGE, 0), COLUMNS, "alarms");
        }
    }

    /** Lists changes. */
    @Command(name = "audit", description = "Lists what was changed through the API, the newest first.")
    static final class Audit extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("TIME", "created_at"),
                Column.of("FROM", "from"),
                Column.of("WHO", "source"),
                Column.of("ADDRESS", "source_ip"),
                Column.of("OPERATION", "operation_id"),
                Column.of("RESULT", "operation_result"),
                Column.of("STATUS", "http_status_code"),
                new Column(
                        "ON", line -> TextTable.shown(line.path("http_request").path("bindings"))));

        @Nullable
        @Option(
                names = "--since",
                paramLabel = "TIME",
                description = "Shows only what was done from this time on, such as 2030-01-01T00:00:00Z.")
        String since;

        @Option(names = "--failed", description = "Shows only what was refused or failed.")
        boolean failed;

        @Mixin
        LimitOption shown = new LimitOption();

        Audit(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Map<String, @Nullable Object> query = new LinkedHashMap<>();
            query.put("gte_created_at", since);
            query.put("operation_result", failed ? "failure" : null);
            String path = BrokerApi.query("/audit", query);
            out.list(api, new Listing(path, Paging.PAGE, shown.limit), COLUMNS, "changes");
        }
    }

    /** Shows the configuration. */
    @Command(
            name = "config",
            description = "Shows the configuration in force and where each value comes from. Secrets are masked.")
    static final class Config extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(Column.of("key"), Column.of("value"), Column.of("origin"));

        @Parameters(
                arity = "0..1",
                paramLabel = "PREFIX",
                description = "Is how the keys to show begin, such as limits. The default is all.")
        String prefix = "";

        Config(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(
                    api,
                    new Listing("/configs", Paging.NONE, 0),
                    value -> value.path("key").asText().startsWith(prefix),
                    COLUMNS,
                    "keys");
        }
    }

    /** Reads files again. */
    @Command(
            name = "reload",
            description =
                    "Makes the broker read its access files, certificates and management token again, as SIGHUP does. A "
                            + "file that cannot be used changes nothing.")
    static final class Reload extends CtlRequest {

        Reload(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.send("POST", "/reload", null);
            StringJoiner lines = new StringJoiner("\n");
            answer.path("reloaded").forEach(read -> lines.add("read " + read.asText()));
            answer.path("failed")
                    .forEach(problem -> lines.add("not read, the former content stays: " + problem.asText()));
            out.done(answer, lines.length() == 0 ? "there is no file to read again" : lines.toString());
            if (!answer.path("failed").isEmpty()) {
                throw new ConfigurationException("some files cannot be used; mend them and reload again");
            }
        }
    }

    /** Writes a file. */
    @Command(
            name = "export",
            description =
                    "Writes what was changed while the broker runs, such as users and keys, into a file or to standard "
                            + "output.")
    static final class Export extends CtlRequest {

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "FILE", description = "Names the file, which must not exist.")
        String file;

        Export(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            Path path = file == null ? null : program().directory().resolve(file);
            if (path != null && Files.exists(path)) {
                throw new ConfigurationException(file + ": exists already; name another file");
            }
            JsonNode objects = api.send("POST", "/data/export", null);
            if (path == null) {
                out.text(objects + "\n");
                return;
            }
            try (OutputStream created = OwnerFile.create(path)) {
                created.write((objects + "\n").getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new ConfigurationException(
                        file + ": cannot be written (" + e.getClass().getSimpleName() + ")");
            }
            out.done("exported to " + file);
        }
    }

    /** Reads a file. */
    @Command(
            name = "import",
            description =
                    "Reads a file of export. It is checked before anything is changed. What it has replaces what there "
                            + "is.")
    static final class Import extends CtlRequest {

        @Parameters(paramLabel = "FILE", description = "Names the file; a hyphen is standard input.")
        String file = "";

        Import(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode objects = BrokerApi.parsedObject(text());
            if (objects == null) {
                throw new ConfigurationException(file + ": is not JSON of smqtt ctl export");
            }
            JsonNode answer = api.send("POST", "/data/import", objects);
            out.done(answer, "imported " + answer.path("imported").asText() + " objects");
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
}
