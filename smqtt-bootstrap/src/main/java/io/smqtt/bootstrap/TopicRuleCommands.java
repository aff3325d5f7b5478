// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl topic-rewrites} and {@code ctl auto-subscriptions}. The API has lists: a change reads the list and sends a new one. */
final class TopicRuleCommands {

    private static final String REWRITES = "/mqtt/topic_rewrite";
    private static final String SUBSCRIPTIONS = "/mqtt/auto_subscribe";
    private static final String NUMBER = "number";

    private TopicRuleCommands() {}

    private abstract static class Listed extends CtlRequest {

        private final String path;
        private final List<Column> columns;

        Listed(ProgramContext program, String path, List<Column> columns) {
            super(program);
            this.path = path;
            this.columns = columns;
        }

        @Override
        final void run(BrokerApi api, CtlOutput out) throws IOException {
            ArrayNode numbered = BrokerApi.array();
            for (JsonNode rule : api.get(path)) {
                ObjectNode row = BrokerApi.object();
                row.put(NUMBER, numbered.size() + 1);
                rule.fields().forEachRemaining(field -> row.set(field.getKey(), field.getValue()));
                numbered.add(row);
            }
            out.table(columns, numbered);
        }
    }

    private abstract static class Added extends CtlRequest {

        private final String path;

        Added(ProgramContext program, String path) {
            super(program);
            this.path = path;
        }

        abstract ObjectNode rule();

        @Override
        final void run(BrokerApi api, CtlOutput out) throws IOException {
            ArrayNode rules = BrokerApi.array();
            api.get(path).forEach(rules::add);
            JsonNode answer = api.send("PUT", path, rules.add(rule()));
            out.done(answer, "added as number " + answer.size());
        }
    }

    private abstract static class Deleted extends CtlRequest {

        private final String path;

        @Parameters(paramLabel = "NUMBER", description = "Is the number that the list shows.")
        int number;

        Deleted(ProgramContext program, String path) {
            super(program);
            this.path = path;
        }

        @Override
        final void run(BrokerApi api, CtlOutput out) throws IOException {
            ArrayNode rules = BrokerApi.array();
            api.get(path).forEach(rules::add);
            if (number < 1 || number > rules.size()) {
                throw new RefusedException(404, "there is no number " + number);
            }
            if (rules.path(number - 1).path("read_only").asBoolean()) {
                throw new RefusedException(
                        403, "number " + number + " is in the configuration file, and cannot be changed here");
            }
            rules.remove(number - 1);
            out.done(api.send("PUT", path, rules), "deleted number " + number);
        }
    }

    /** Lists the topic rewrites. */
    @Command(name = "list", description = "Lists the topic rewrites in their order; the last one that fits decides.")
    static final class Rewrites extends Listed {

        Rewrites(ProgramContext program) {
            super(
                    program,
                    REWRITES,
                    List.of(
                            Column.of(NUMBER),
                            Column.of("action"),
                            Column.of("source_topic"),
                            Column.of("re"),
                            Column.of("dest_topic"),
                            Column.of("FILE", "name")));
        }
    }

    /** Adds a topic rewrite. */
    @Command(name = "add", description = "Adds a topic rewrite behind the others, on all nodes.")
    static final class AddRewrite extends Added {

        @Option(
                names = "--action",
                paramLabel = "ACTION",
                description = "Is publish, subscribe or all. The default is all.")
        String action = "all";

        @Parameters(index = "0", paramLabel = "SOURCE", description = "Is a topic filter.")
        String source = "";

        @Parameters(index = "1", paramLabel = "RE", description = "Is a regular expression in the syntax of RE2.")
        String expression = "";

        @Parameters(index = "2", paramLabel = "DEST", description = "Is the new name, such as new/$1.")
        String destination = "";

        AddRewrite(ProgramContext program) {
            super(program, REWRITES);
        }

        @Override
        ObjectNode rule() {
            return BrokerApi.object()
                    .put("action", action)
                    .put("source_topic", source)
                    .put("re", expression)
                    .put("dest_topic", destination);
        }
    }

    /** Deletes a topic rewrite. */
    @Command(name = "delete", description = "Deletes a topic rewrite, on all nodes.")
    static final class DeleteRewrite extends Deleted {

        DeleteRewrite(ProgramContext program) {
            super(program, REWRITES);
        }
    }

    /** Lists the automatic subscriptions. */
    @Command(name = "list", description = "Lists the subscriptions that clients get when they connect.")
    static final class Subscriptions extends Listed {

        Subscriptions(ProgramContext program) {
            super(
                    program,
                    SUBSCRIPTIONS,
                    List.of(
                            Column.of(NUMBER),
                            Column.of("topic"),
                            Column.of("qos"),
                            Column.of("nl"),
                            Column.of("rap"),
                            Column.of("rh"),
                            Column.of("FILE", "name")));
        }
    }

    /** Adds an automatic subscription. */
    @Command(name = "add", description = "Adds a subscription that clients get when they connect, on all nodes.")
    static final class AddSubscription extends Added {

        @Parameters(
                paramLabel = "TOPIC",
                description = "Is a topic filter; placeholders are those of the configuration.")
        String topic = "";

        @Option(
                names = "--qos",
                paramLabel = "QOS",
                description = "Is the maximum quality of service. The default is 0.")
        int qos;

        @Option(names = "--no-local", description = "Leaves out the client's own messages.")
        boolean noLocal;

        @Option(names = "--retain-as-published", description = "Keeps the retain flag.")
        boolean retainAsPublished;

        @Option(
                names = "--retain-handling",
                paramLabel = "0|1|2",
                description = "Says when retained messages are sent. The default is 0, at each connect.")
        int retainHandling;

        AddSubscription(ProgramContext program) {
            super(program, SUBSCRIPTIONS);
        }

        @Override
        ObjectNode rule() {
            return BrokerApi.object()
                    .put("topic", topic)
                    .put("qos", qos)
                    .put("nl", noLocal ? 1 : 0)
                    .put("rap", retainAsPublished ? 1 : 0)
                    .put("rh", retainHandling);
        }
    }

    /** Deletes an automatic subscription. */
    @Command(name = "delete", description = "Deletes an automatic subscription, on all nodes; present ones stay.")
    static final class DeleteSubscription extends Deleted {

        DeleteSubscription(ProgramContext program) {
            super(program, SUBSCRIPTIONS);
        }
    }
}
