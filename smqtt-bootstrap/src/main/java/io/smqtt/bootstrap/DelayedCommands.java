// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.BrokerApi.Listing;
import io.smqtt.bootstrap.BrokerApi.Paging;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl delayed}: messages that are published later, and their limits. */
final class DelayedCommands {

    private static final String PATH = "/mqtt/delayed/messages/{node}/{msgid}";
    private static final String SETTINGS = "/mqtt/delayed";

    private DelayedCommands() {}

    /** Lists waiting messages. */
    @Command(name = "list", description = "Lists messages that are published later, without their payloads.")
    static final class Waiting extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("NODE", "node"),
                Column.of("ID", "msgid"),
                Column.of("topic"),
                Column.of("qos"),
                Column.of("BYTES", "payload_size"),
                Column.of("SECONDS LEFT", "delayed_remaining"),
                Column.of("EXPECTED", "expected_at"),
                Column.of("FROM", "from_clientid"));

        @Mixin
        LimitOption shown = new LimitOption();

        Waiting(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.list(api, new Listing("/mqtt/delayed/messages", Paging.PAGE, shown.limit), COLUMNS, "delayed messages");
        }
    }

    /** A command about one message. */
    private abstract static class One extends CtlRequest {

        @Parameters(index = "0", paramLabel = "NODE", description = "Is the node on which it waits.")
        String node = "";

        @Parameters(index = "1", paramLabel = "ID", description = "Is the identifier of the message.")
        String id = "";

        One(ProgramContext program) {
            super(program);
        }

        /** The path of the message. */
        final String path() {
            return BrokerApi.path(PATH, node, id);
        }
    }

    /** Shows a message. */
    @Command(name = "show", description = "Shows a message that is published later.")
    static final class Show extends One {

        @Option(names = "--raw", description = "Prints the bytes of the payload and nothing else.")
        boolean raw;

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.get(path());
            byte[] payload = answer.path("payload").binaryValue();
            if (raw) {
                program().out().write(payload == null ? new byte[0] : payload);
            } else if (out.isJson() || payload == null) {
                out.object(answer);
            } else {
                ObjectNode text = answer.deepCopy();
                out.object(text.put("payload", new String(payload, StandardCharsets.UTF_8)));
            }
        }
    }

    /** Cancels a message. */
    @Command(name = "delete", description = "Cancels a message that is published later.")
    static final class Delete extends One {

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("DELETE", path(), null);
            out.done("cancelled " + id);
        }
    }

    /** Shows the settings. */
    @Command(name = "settings", description = "Shows whether messages can be delayed, and the limits.")
    static final class Settings extends CtlRequest {

        Settings(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(SETTINGS));
        }
    }

    /** Changes settings. */
    @Command(name = "set", description = "Changes whether messages can be delayed, and how many, on all nodes.")
    static final class Change extends CtlRequest {

        @Nullable
        @Option(names = "--enabled", paramLabel = "BOOLEAN", description = "Says whether clients may delay messages.")
        Boolean enabled;

        @Nullable
        @Option(names = "--max-messages", paramLabel = "COUNT", description = "Limits the messages that wait.")
        Integer maxMessages;

        Change(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode body = BrokerApi.object();
            if (enabled != null) {
                body.put("enable", enabled);
            }
            if (maxMessages != null) {
                body.put("max_delayed_messages", maxMessages);
            }
            if (body.isEmpty()) {
                throw usage("--enabled or --max-messages says what to change");
            }
            out.done(api.send("PUT", SETTINGS, body), "changed");
        }
    }
}
