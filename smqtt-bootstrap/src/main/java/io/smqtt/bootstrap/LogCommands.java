// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl log}: the levels of the log. */
final class LogCommands {

    private LogCommands() {}

    private static String on(NodeOption node, String path) {
        Map<String, @Nullable Object> query = new LinkedHashMap<>();
        node.addTo(query);
        return BrokerApi.query(path, query);
    }

    /** How much is logged; inherited is the level of the logger above. */
    enum Level {
        inherited,
        OFF,
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }

    /** Lists loggers. */
    @Command(
            name = "list",
            description = "Lists the loggers of the node that is asked, or of another one, with their levels.")
    static final class Loggers extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("LOGGER", "name"),
                Column.of("LEVEL", "effectiveLevel"),
                Column.of("CONFIGURED", "configuredLevel"));

        @Mixin
        NodeOption node = new NodeOption();

        Loggers(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.get(on(node, "/loggers"));
            if (out.isJson()) {
                out.object(answer);
                return;
            }
            List<JsonNode> rows = new ArrayList<>();
            answer.path("loggers").fields().forEachRemaining(logger -> {
                ObjectNode row = BrokerApi.object().put("name", logger.getKey());
                logger.getValue().fields().forEachRemaining(field -> row.set(field.getKey(), field.getValue()));
                rows.add(row);
            });
            out.table(COLUMNS, rows);
        }
    }

    /** Shows or sets a level. */
    @Command(
            name = "level",
            description =
                    "Sets the level of a logger on all nodes, or on one, until the process ends or for a time. Without "
                            + "a level shows that of the node that is asked, or of another one.")
    static final class SetLevel extends CtlRequest {

        @Nullable
        @Option(
                names = "--for",
                paramLabel = "TIME",
                converter = TimeSpan.class,
                description = "Sets the level back after this time, at most 24h.")
        Duration time;

        @Parameters(index = "0", paramLabel = "LOGGER", description = "Is the logger, such as io.smqtt.connection.")
        String logger = "";

        @Nullable
        @Parameters(
                index = "1",
                arity = "0..1",
                paramLabel = "LEVEL",
                description = "Is one of ${COMPLETION-CANDIDATES}. Without it the level is shown.")
        Level level;

        @Mixin
        NodeOption node = new NodeOption();

        SetLevel(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            String path = on(node, BrokerApi.path("/loggers/{name}", logger));
            if (level == null) {
                out.object(api.get(path));
                return;
            }
            ObjectNode change = BrokerApi.object();
            change.put("configuredLevel", level == Level.inherited ? null : level.name());
            if (time != null) {
                change.put(
                        "until",
                        Instant.now().plus(time).truncatedTo(ChronoUnit.SECONDS).toString());
            }
            out.doneOnNodes(api.send("POST", path, change), "set " + logger + " to " + level);
        }
    }
}
