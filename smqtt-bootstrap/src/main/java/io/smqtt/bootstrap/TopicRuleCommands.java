// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.smqtt.bootstrap.TextTable.Column;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code ctl topic-rewrites} and {@code ctl auto-subscriptions}. */
final class TopicRuleCommands {

    private static final String REWRITES = "/mqtt/topic_rewrite";
    private static final String SUBSCRIPTIONS = "/mqtt/auto_subscribe";

    private TopicRuleCommands() {}

    /** Lists the topic rewrites. */
    @Command(name = "list", description = "Lists the topic rewrites in their order; the last one that fits decides.")
    static final class Rewrites extends RuleListCommands.Listed {

        Rewrites(ProgramContext program) {
            super(
                    program,
                    REWRITES,
                    List.of(Column.of("action"), Column.of("source_topic"), Column.of("re"), Column.of("dest_topic")));
        }
    }

    /** Adds a topic rewrite. */
    @Command(name = "add", description = "Adds a topic rewrite behind the others, on all nodes.")
    static final class AddRewrite extends RuleListCommands.Added {

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
    static final class DeleteRewrite extends RuleListCommands.Deleted {

        DeleteRewrite(ProgramContext program) {
            super(program, REWRITES);
        }
    }

    /** Lists the automatic subscriptions. */
    @Command(name = "list", description = "Lists the subscriptions that clients get when they connect.")
    static final class Subscriptions extends RuleListCommands.Listed {

        Subscriptions(ProgramContext program) {
            super(
                    program,
                    SUBSCRIPTIONS,
                    List.of(Column.of("topic"), Column.of("qos"), Column.of("nl"), Column.of("rap"), Column.of("rh")));
        }
    }

    /** Adds an automatic subscription. */
    @Command(name = "add", description = "Adds a subscription that clients get when they connect, on all nodes.")
    static final class AddSubscription extends RuleListCommands.Added {

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
    static final class DeleteSubscription extends RuleListCommands.Deleted {

        DeleteSubscription(ProgramContext program) {
            super(program, SUBSCRIPTIONS);
        }
    }
}
