// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import io.smqtt.message.LogText;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code ctl topic-metrics}: counts of the messages of single topics and filters. */
final class TopicMetricCommands {

    private static final String PATH = "/mqtt/topic_metrics";
    private static final String ONE = PATH + "/{topic}";

    private TopicMetricCommands() {}

    /** Lists the counts. */
    @Command(name = "list", description = "Lists the messages of the chosen topics, added over all nodes.")
    static final class Counts extends CtlRequest {

        private static final List<Column> COLUMNS = List.of(
                Column.of("topic"),
                count("IN", "in"),
                rate("IN/S", "in"),
                count("OUT", "out"),
                rate("OUT/S", "out"),
                count("DROPPED", "dropped"));

        Counts(ProgramContext program) {
            super(program);
        }

        private static Column count(String head, String name) {
            return metric(head, "messages." + name + ".count");
        }

        private static Column rate(String head, String name) {
            return metric(head, "messages." + name + ".rate");
        }

        private static Column metric(String head, String name) {
            return new Column(
                    head, topic -> TextTable.shown(topic.path("metrics").path(name)));
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.table(COLUMNS, api.get(PATH));
        }
    }

    /** Shows the counts of a topic. */
    @Command(name = "show", description = "Shows all counts and rates of a topic or filter.")
    static final class Show extends CtlRequest {

        @Parameters(paramLabel = "TOPIC", description = "Is a topic name or a topic filter.")
        String topic = "";

        Show(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            JsonNode answer = api.get(BrokerApi.path(ONE, topic));
            if (out.isJson() || !(answer.path("metrics") instanceof ObjectNode metrics)) {
                out.object(answer);
            } else {
                out.object(metrics);
            }
        }
    }

    /** Begins to count. */
    @Command(name = "add", description = "Counts the messages of a topic or filter, on all nodes.")
    static final class Add extends CtlRequest {

        @Parameters(paramLabel = "TOPIC", description = "Is a topic name or a topic filter.")
        String topic = "";

        Add(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.done(
                    api.send("POST", PATH, BrokerApi.object().put("topic", topic)),
                    "counting " + LogText.escape(topic));
        }
    }

    /** Sets counts to 0. */
    @Command(name = "reset", description = "Sets the counts of a topic, or of all, to 0.")
    static final class Reset extends CtlRequest {

        @Nullable
        @Parameters(arity = "0..1", paramLabel = "TOPIC", description = "Is a topic or filter. The default is all.")
        String topic;

        Reset(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            ObjectNode body = BrokerApi.object().put("action", "reset");
            if (topic != null) {
                body.put("topic", topic);
            }
            api.send("PUT", PATH, body);
            out.done("reset");
        }
    }

    /** Ends the counting. */
    @Command(name = "delete", description = "Ends the counting of a topic or filter.")
    static final class Delete extends CtlRequest {

        @Parameters(paramLabel = "TOPIC", description = "Is a topic name or a topic filter.")
        String topic = "";

        Delete(ProgramContext program) {
            super(program);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("DELETE", BrokerApi.path(ONE, topic), null);
            out.done("ended " + LogText.escape(topic));
        }
    }
}
